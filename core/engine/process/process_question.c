#include "engine/process/process_question.h"
#include "base/json.h"
#include "engine/engine_state.h"
#include <stdio.h>
#include <stdlib.h>

/* What was read with the lane: the same answer. */
static json_t *reached_answer(const struct store_reach *reached, enum ask_kind kind) {
    if (kind == ASK_FRAME)
        return json_incref(reached->frame);
    return kind == ASK_RECEIVERS ? json_pack("[O]", reached->found) : json_incref(reached->found);
}

/* The commands of a list often ask the same, and it is asked for once. */
static char *name_of(enum ask_kind kind, const json_t *question) {
    char *text = json_write(question, NULL), *name = NULL;
    if (text && asprintf(&name, "%d %s", (int)kind, text) < 0)
        name = NULL;
    free(text);
    return name;
}

/* It will be asked with those of other commands (process_questions_ask). */
static void ask_later(struct engine *engine, enum ask_kind kind, const char *name,
                      json_t *question) {
    char number[16];
    snprintf(number, sizeof number, "%d", (int)kind);
    json_t *of_kind = json_object_get(engine->questions, number);
    if (!of_kind && json_object_set_new(engine->questions, number, json_object()) == 0)
        of_kind = json_object_get(engine->questions, number);
    json_object_set(of_kind, name, question);
}

static json_t *answer_of(struct engine *engine, enum ask_kind kind, json_t *question,
                         struct error *error) {
    char *name = engine->answers ? name_of(kind, question) : NULL;
    json_t *answer = name ? json_incref(json_object_get(engine->answers, name)) : NULL;
    if (!answer && name && engine->questions)
        ask_later(engine, kind, name, question);
    else if (!answer)
        answer = engine_ask(engine, kind, question, error);
    if (answer && name)
        json_object_set(engine->answers, name, answer);
    free(name);
    return answer;
}

json_t *process_ask(struct engine *engine, enum ask_kind kind, json_t *question,
                    struct error *error) {
    json_t *answer = NULL;
    if (question)
        answer = engine->reached ? reached_answer(engine->reached, kind)
                                 : answer_of(engine, kind, question, error);
    if (!question || (engine->reached && !answer))
        error_no_memory(error);
    json_decref(question);
    return answer;
}

/* Asks at once what commands have asked for, of one kind. */
static bool ask_kind(struct engine *engine, enum ask_kind kind, json_t *of_kind,
                     struct error *error) {
    json_t *list = json_array(), *question;
    const char *name;
    size_t at = 0;
    json_object_foreach(of_kind, name, question) {
        json_array_append(list, question);
    }
    json_t *answers = store_ask_many(engine->store, kind, list, engine_now(engine), error);
    json_object_foreach(of_kind, name, question) {
        json_object_set(engine->answers, name, json_array_get(answers, at++));
    }
    json_decref(list);
    bool done = answers != NULL;
    json_decref(answers);
    return done;
}

bool process_questions_ask(struct engine *engine, bool *more, struct error *error) {
    json_t *questions = engine->questions, *of_kind;
    const char *number;
    bool done = true;
    engine->questions = NULL;
    *more = json_object_size(questions) > 0;
    json_object_foreach(questions, number, of_kind) {
        done = done && ask_kind(engine, (enum ask_kind)atoi(number), of_kind, error);
    }
    json_decref(questions);
    return done;
}
