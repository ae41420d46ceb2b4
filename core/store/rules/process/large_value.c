#include "store/rules/process/large_value.h"
#include "base/json.h"
#include <stdio.h>
#include <string.h>

bool large_value_write(struct store *store, const struct unit_value *one, struct error *error) {
    if (!one->data)
        return unit_row(store, error, ROWS_VALUE_ENDS,
                        "DELETE FROM large_value WHERE instance=?1 AND n=?2", "ii", one->instance,
                        one->n);
    return unit_row(store, error, ROWS_VALUE,
                    "INSERT INTO large_value(instance, n, name, data) VALUES(?1, ?2, ?3, ?4)",
                    "iitt", one->instance, one->n, one->name, one->data);
}

bool large_values_remove(struct store *store, int64_t instance, struct error *error) {
    return unit_row(store, error, ROWS_VALUES_END, "DELETE FROM large_value WHERE instance=?1", "i",
                    instance);
}

bool large_values_remove_range(struct store *store, int64_t instance, struct token_range tokens,
                               struct error *error) {
    return db_run(&store->db, error,
                  "DELETE FROM large_value WHERE instance=?1 AND n BETWEEN ?2 AND ?3", "iii",
                  instance, tokens.first, tokens.last);
}

/* ---- reading ---- */

/* { value }; NULL: error. */
static json_t *value_read(struct row *row, struct error *error) {
    const char *text = row_text(row, 0);
    json_t *value = json_read(text, strlen(text), "variable", error);
    return value ? json_pack("{so}", "value", value) : NULL;
}

static json_t *gone(int64_t instance) {
    char words[96];
    snprintf(words, sizeof words, "instance %lld: a large variable was changed meanwhile",
             (long long)instance);
    return json_pack("{ss}", "gone", words);
}

json_t *large_value_ask(struct store *store, const json_t *question, struct error *error) {
    int64_t instance = json_integer_value(json_object_get(question, "instance"));
    int64_t number = json_integer_value(json_object_get(question, "number"));
    bool own = false;
    if (!look_begin(store, &own, error))
        return NULL;
    struct row *row =
        db_query(&store->db, error, "SELECT data FROM large_value WHERE instance=?1 AND n=?2", "ii",
                 instance, number);
    enum answer step = db_step(&store->db, row, error);
    json_t *found = step == NO ? gone(instance) : NULL;
    if (step == YES) {
        found = value_read(row, error);
        row_done(row);
    }
    look_end(store, own);
    return found;
}

/* ---- showing ---- */

/* The numbers are none, or have this row. */
static bool is_shown(const json_t *large, const char *name, int64_t number) {
    return !large || json_integer_value(json_object_get(large, name)) == number;
}

static bool show_one(json_t *variables, struct row *row, struct error *error) {
    const char *text = row_text(row, 2);
    json_t *value = json_read(text, strlen(text), "variable", error);
    return value &&
           (json_object_set_new(variables, row_text(row, 1), value) == 0 || error_no_memory(error));
}

bool large_values_show(struct store *store, json_t *variables, int64_t instance,
                       const json_t *large, struct error *error) {
    bool done = true;
    struct row *row =
        db_query(&store->db, error, "SELECT n, name, data FROM large_value WHERE instance=?1", "i",
                 instance);
    enum answer step = NO;
    while (done && (step = db_step(&store->db, row, error)) == YES)
        done =
            !is_shown(large, row_text(row, 1), row_int(row, 0)) || show_one(variables, row, error);
    if (!done)
        row_done(row);
    return done && step == NO;
}

/* ---- frame and rows against each other ---- */

enum { SCOPE_LARGE = 5, TOKEN_LARGE = 6 }; /* entries of a scope and of a token */

/* Adds { number = name } of each entry of the list. */
static void names_add(json_t *names, const json_t *list, size_t at) {
    size_t i;
    json_t *entry, *number;
    const char *name;
    char key[24];
    json_array_foreach(list, i, entry) {
        json_object_foreach(json_array_get(entry, at), name, number) {
            snprintf(key, sizeof key, "%lld", (long long)json_integer_value(number));
            json_object_set_new(names, key, json_string(name));
        }
    }
}

/* Takes those that have a row out of the names. */
static bool rows_match(struct store *store, int64_t instance, int64_t turn, json_t *names,
                       json_t *found, struct error *error) {
    char key[24];
    const struct token_range all = turn_tokens(turn);
    struct row *row =
        db_query(&store->db, error,
                 "SELECT n, name FROM large_value WHERE instance=?1 AND n BETWEEN ?2 AND ?3", "iii",
                 instance, all.first, all.last);
    enum answer step = NO;
    while ((step = db_step(&store->db, row, error)) == YES) {
        int64_t n = turn ? -(turn << TURN_BITS) - row_int(row, 0) : row_int(row, 0);
        snprintf(key, sizeof key, "%lld", (long long)n);
        if (json_object_del(names, key) != 0)
            json_array_append_new(found,
                                  json_sprintf("instance %lld: a row of the variable %s that its "
                                               "frame does not name",
                                               (long long)instance, row_text(row, 1)));
    }
    return step == NO;
}

bool large_values_verify(struct store *store, int64_t instance, int64_t turn, const json_t *frame,
                         json_t *found, struct error *error) {
    json_t *names = json_object(), *name;
    const char *key;
    names_add(names, json_object_get(frame, "scopes"), SCOPE_LARGE);
    names_add(names, json_object_get(frame, "tokens"), TOKEN_LARGE);
    bool done = rows_match(store, instance, turn, names, found, error);
    json_object_foreach(names, key, name) {
        json_array_append_new(found, json_sprintf("instance %lld: the variable %s has no row",
                                                  (long long)instance, json_string_value(name)));
    }
    json_decref(names);
    return done;
}
