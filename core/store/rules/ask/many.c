/* many.c - many questions of one kind, asked as a set. */
#include "base/json.h"
#include "store/rules/ask/processes.h"
#include "store/rules/ground/engine.h"
#include "store/rules/ground/query.h"
#include "store/rules/process/instance.h"
#include "store/rules/process/subscription.h"
#include "store/rules/process/user_task.h"
#include <stdlib.h>

static json_t *each(struct store *store, enum ask_kind kind, const json_t *questions, time_ms now,
                    struct error *error) {
    json_t *answers = json_array(), *question;
    size_t i;
    bool done = true;
    json_array_foreach(questions, i, question) {
        json_t *one = done ? store_ask(store, kind, question, now, error) : NULL;
        done = one && json_array_append_new(answers, one) == 0;
    }
    return json_kept(answers, done);
}

static json_t *receivers(struct store *store, const json_t *questions, struct error *error) {
    const size_t count = json_array_size(questions);
    struct message_to *to = calloc(count + 1, sizeof *to);
    if (!to)
        return error_null(error_no_memory(error));
    for (size_t i = 0; i < count; i++)
        to[i] = message_to_read(json_array_get(questions, i));
    json_t *answers = subscription_receivers_many(store, to, count, error);
    free(to);
    return answers;
}

/* ---- versions, with what has a business key ---- */

/* What is asked of the version alone: many ask the same. NULL: no memory. */
static json_t *alone(const json_t *question) {
    json_t *copy = json_copy(json_unchanged(question));
    json_object_del(copy, "unique");
    json_object_del(copy, "tenant");
    return copy;
}

/* A copy of the answer, which is kept by its question. */
static json_t *version_of(struct store *store, json_t *known, const json_t *question,
                          struct error *error) {
    json_t *asked = alone(question), *found = NULL;
    char *name = asked ? json_write(asked, NULL) : NULL;
    if (name && !json_object_get(known, name)) {
        json_t *version = store_version(store, asked, error);
        if (version)
            json_object_set_new(known, name, version);
    } else if (!name)
        error_no_memory(error);
    if (name)
        found = json_copy(json_object_get(known, name));
    free(name);
    json_decref(asked);
    return found;
}

static bool add_twins(struct store *store, const json_t *questions, json_t *versions,
                      struct error *error) {
    const size_t count = json_array_size(questions);
    struct instance_key *keys = calloc(count + 1, sizeof *keys);
    bool done = keys || db_no_memory(&store->db, error);
    for (size_t i = 0; done && i < count; i++) {
        const json_t *question = json_array_get(questions, i);
        keys[i] =
            (struct instance_key){json_int(json_array_get(versions, i), "id"),
                                  json_text(question, "unique"), json_text(question, "tenant"), 0};
    }
    done = done && instance_twins(store, keys, count, error);
    for (size_t i = 0; done && i < count; i++)
        done =
            !keys[i].twin ||
            json_put(json_array_get(versions, i), "twin", json_integer((json_int_t)keys[i].twin)) ||
            db_no_memory(&store->db, error);
    free(keys);
    return done;
}

static json_t *versions(struct store *store, const json_t *questions, struct error *error) {
    json_t *answers = json_array(), *known = json_object(), *question;
    bool done = answers && known ? true : db_no_memory(&store->db, error);
    size_t i;
    json_array_foreach(questions, i, question) {
        json_t *one = done ? version_of(store, known, question, error) : NULL;
        done = one && json_array_append_new(answers, one) == 0;
    }
    json_decref(known);
    return json_kept(answers, done && add_twins(store, questions, answers, error));
}

/* ---- the door ---- */

/* Of tasks only those that are named by their ids. */
static bool is_set(enum ask_kind kind, const json_t *questions) {
    bool named = true;
    for (size_t i = 0; kind == ASK_TASK && i < json_array_size(questions); i++)
        named = named && json_int(json_array_get(questions, i), "id");
    return named &&
           (kind == ASK_FRAME || kind == ASK_RECEIVERS || kind == ASK_TASK || kind == ASK_VERSION);
}

static json_t *ask_set(struct store *store, enum ask_kind kind, const json_t *questions,
                       struct error *error) {
    if (kind == ASK_FRAME)
        return store_frames(store, questions, error);
    if (kind == ASK_RECEIVERS)
        return receivers(store, questions, error);
    return kind == ASK_TASK ? user_tasks_ask(store, questions, error)
                            : versions(store, questions, error);
}

json_t *store_ask_many(struct store *store, enum ask_kind kind, const json_t *questions,
                       time_ms now, struct error *error) {
    bool own = false;
    if (!store->engine->sets || !is_set(kind, questions))
        return each(store, kind, questions, now, error);
    if (!look_begin(store, &own, error))
        return NULL;
    json_t *answers = ask_set(store, kind, questions, error);
    look_end(store, own);
    return answers;
}

bool store_asks_many(const struct store *store) {
    return store->engine->sets;
}
