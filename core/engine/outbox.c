#include "engine/outbox.h"
#include "base/json.h"
#include "base/log.h"
#include "engine/engine_state.h"
#include "store/outbox.h"
#include <stdlib.h>
#include <string.h>

enum { SET = 500 };

/* Rows that are to become jobs, and what is known of them; lists of one length. */
struct set {
    json_t *rows;
    struct engine_spec specs[SET];
    struct engine_answers answers[SET];
    struct created created[SET];
    bool there[SET];
};

/* ---- a row as a creator would say it ---- */

static json_t *read_text(const json_t *row, const char *key, struct error *error) {
    const char *text = json_text(row, key);
    return text ? json_read(text, strlen(text), key, error) : json_null();
}

static bool options_fit(const json_t *options, struct error *error) {
    if (!json_is_object(options))
        return json_refuse("options", options, "an object", error);
    for (const char *const *key = (const char *const[]){"handler", "payload", NULL}; *key; key++)
        if (json_object_get(options, *key))
            return error_set(error, ERROR_INVALID, "options: unknown key \"%s\"", *key);
    return true;
}

/* NULL: it is wrong. */
static json_t *row_object(const json_t *row, struct error *error) {
    json_t *options = json_text(row, "options") ? read_text(row, "options", error) : json_object();
    bool fits = options && options_fit(options, error);
    json_t *payload = fits ? read_text(row, "payload", error) : NULL;
    if (!payload)
        return json_kept(options, false);
    bool made = json_put_text(options, "handler", json_text(row, "handler")) &&
                json_put(options, "payload", payload);
    if (!made)
        error_no_memory(error);
    return json_kept(options, made);
}

/* ---- a set ---- */

/* The row is wrong, and not the store, its server or this program. */
static bool is_of_row(const struct error *why) {
    return why->code == ERROR_INVALID || why->code == ERROR_NOT_FOUND ||
           why->code == ERROR_FAILED || error_refuses(why);
}

static bool refuse_row(struct engine *engine, const json_t *row, const struct error *why,
                       struct error *error) {
    if (!is_of_row(why))
        return error_set(error, why->code, "%s", why->text);
    log_event(LOG_ERROR, "row of the outbox refused", "row:l handler:s reason:s",
              json_int(row, "id"), json_text(row, "handler"), why->text);
    return store_outbox_refuse(engine->store, row, why->text, engine_now(engine), error);
}

static void spec_forget(struct set *set, size_t i) {
    engine_spec_clear(&set->specs[i]);
    free(set->answers[i].unique);
    set->specs[i] = (struct engine_spec){0};
    set->answers[i] = (struct engine_answers){0};
}

static void set_clear(struct set *set) {
    for (size_t i = 0; i < SET; i++)
        spec_forget(set, i);
    json_decref(set->rows);
    free(set);
}

/* Leaves a row out. */
static void set_drop(struct set *set, size_t i) {
    const size_t behind = json_array_size(set->rows) - i - 1;
    spec_forget(set, i);
    json_array_remove(set->rows, i);
    memmove(&set->specs[i], &set->specs[i + 1], behind * sizeof *set->specs);
    memmove(&set->answers[i], &set->answers[i + 1], behind * sizeof *set->answers);
    set->specs[i + behind] = (struct engine_spec){0};
    set->answers[i + behind] = (struct engine_answers){0};
}

/* Checks the row and asks the functions of its definition. */
static bool set_check(struct engine *engine, struct set *set, size_t i, struct engine_check *check,
                      struct error *why) {
    const json_t *row = json_array_get(set->rows, i);
    struct engine_spec *spec = &set->specs[i];
    *spec = (struct engine_spec){.object = row_object(row, why), .at = json_int(row, "at")};
    if (!spec->object || !engine_check_spec(engine, spec, check, why))
        return false;
    set->answers[i] = check->answers;
    return true;
}

static bool set_check_all(struct engine *engine, struct set *set, struct error *error) {
    struct engine_check check = {0};
    for (size_t i = 0; i < json_array_size(set->rows);) {
        struct error why = {0};
        if (set_check(engine, set, i, &check, &why)) {
            i++;
            continue;
        }
        if (!refuse_row(engine, json_array_get(set->rows, i), &why, error))
            return false;
        set_drop(set, i);
    }
    return true;
}

/* ---- writing ---- */

/* Those whose rows are there, as a list. */
static struct job_spec *specs_there(struct job_spec *specs, const bool *there) {
    struct job_spec *list = NULL, **last = &list, *spec = specs;
    for (size_t i = 0; spec; i++) {
        struct job_spec *next = spec->next;
        if (there[i]) {
            *last = spec;
            last = &spec->next;
        }
        spec = next;
    }
    *last = NULL;
    return list;
}

static bool write_set(struct engine *engine, struct job_spec *specs, void *arg,
                      struct error *error) {
    struct set *set = arg;
    memset(set->there, 0, sizeof set->there);
    if (!store_begin(engine->store, STORE_TURN, error))
        return false;
    bool done = store_outbox_take(engine->store, set->rows, set->there, error);
    struct job_spec *list = done ? specs_there(specs, set->there) : NULL;
    done = done && (!list || store_create(engine->store, list, 0, engine_now(engine), error));
    return engine_end(engine, done, error);
}

static size_t set_size(struct set *set) {
    const size_t count = json_array_size(set->rows);
    for (size_t i = 0; i < count; i++)
        set->specs[i].answers = set->answers[i].known ? &set->answers[i] : NULL;
    return count;
}

/* What the store refuses becomes an incident, and the rest is tried again. */
static bool set_write(struct engine *engine, struct set *set, struct error *error) {
    for (size_t count; (count = set_size(set)) > 0;) {
        struct error why = {0};
        size_t wrong = count;
        if (engine_create(engine, set->specs, count, set->created, &wrong, write_set, set, &why))
            return true;
        if (wrong >= count)
            return error_set(error, why.code, "%s", why.text);
        if (!refuse_row(engine, json_array_get(set->rows, wrong), &why, error))
            return false;
        set_drop(set, wrong);
    }
    return true;
}

bool engine_outbox(struct engine *engine, bool *more, struct error *error) {
    struct set *set = calloc(1, sizeof *set);
    if (!set)
        return error_no_memory(error);
    set->rows = store_outbox(engine->store, SET, error);
    *more = json_array_size(set->rows) > 0;
    bool done = set->rows && set_check_all(engine, set, error) && set_write(engine, set, error);
    set_clear(set);
    return done;
}
