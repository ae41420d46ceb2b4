#include "engine/process/process_due.h"
#include "base/json.h"
#include "engine/engine_state.h"
#include "engine/process/process_walk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASKED_MAX = 1000 }; /* more are a batch */

/* The command that asks a timer, or NULL: the job is none of an instance. */
static json_t *question_of(struct engine *engine, int64_t id) {
    struct error ignored = {0};
    json_t *asked = json_pack("{sI sI}", "id", (json_int_t)id, "job", (json_int_t)id);
    json_t *job = asked ? engine_ask(engine, ASK_JOB, asked, &ignored) : NULL;
    const char *handler = json_string_value(json_object_get(job, "handler"));
    const char *colon = handler ? strrchr(handler, ':') : NULL;
    bool timer = colon && strcmp(colon, ":timer") == 0 &&
                 strncmp(handler, "process/", strlen("process/")) == 0;
    json_t *frame = timer ? engine_ask(engine, ASK_FRAME, asked, &ignored) : NULL;
    json_t *question =
        json_is_object(frame)
            ? json_pack("{ss sO sO sO?}", "kind", "due", "instance", json_object_get(frame, "id"),
                        "token", json_object_get(frame, "token"), "activity",
                        json_object_get(job, "activity"))
            : NULL;
    json_decref(frame);
    json_decref(asked);
    json_decref(job);
    return question;
}

/* Walks to nowhere: nothing is written. *term: a new reference, or NULL. */
static bool ask_timer(struct engine *engine, const json_t *question, json_t **term,
                      struct error *error) {
    struct process_walk walk = {.command = question};
    struct error ignored = {0};
    *term = NULL;
    bool known = process_walk_read(&walk, engine, &ignored) && process_walk_is_ours(&walk, engine);
    bool done = !known || process_walk_go(&walk, engine, error) == YES;
    const char *text = known && done ? walk.outcome->result : NULL;
    *term = text ? json_read(text, strlen(text), "result", &ignored) : NULL;
    process_walk_clear(&walk);
    return done;
}

static bool ask_one(struct engine *engine, json_t *terms, int64_t id, struct error *error) {
    char key[24];
    json_t *term = NULL, *question = question_of(engine, id);
    bool done = !question || ask_timer(engine, question, &term, error);
    json_decref(question);
    snprintf(key, sizeof key, "%lld", (long long)id);
    if (json_is_string(term))
        return json_put(terms, key, term) || error_no_memory(error);
    json_decref(term);
    return done;
}

bool process_due_ask(struct engine *engine, json_t *command, struct error *error) {
    const char *verb = json_string_value(json_object_get(command, "verb"));
    const json_t *ids = json_object_get(command, "ids");
    size_t count = json_is_integer(ids) ? 1 : json_array_size(ids);
    if (engine->running || !verb || strcmp(verb, "recalculate_due") != 0)
        return true;
    if (count == 0 || count > ASKED_MAX)
        return true;
    json_t *terms = json_object();
    bool done = terms != NULL || error_no_memory(error);
    for (size_t i = 0; done && i < count; i++) {
        const json_t *id = json_is_integer(ids) ? ids : json_array_get(ids, i);
        done = ask_one(engine, terms, json_integer_value(id), error);
    }
    if (done && json_object_size(terms))
        return json_put(command, "terms", terms) || error_no_memory(error);
    json_decref(terms);
    return done;
}
