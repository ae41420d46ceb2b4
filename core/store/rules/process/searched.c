#include "store/rules/process/searched.h"
#include "base/json.h"
#include "store/rules/ground/query.h"
#include <string.h>

enum { TEXT_MAX = 1024 }; /* bytes of a text that is searched; a longer one is not found */

/* ---- rows ---- */

static bool remove_one(struct store *store, const struct unit_searched *one, struct error *error) {
    return unit_row(store, error, ROWS_SEARCHED_ENDS,
                    "DELETE FROM searched WHERE instance=?1 AND name=?2", "it", one->instance,
                    one->name);
}

#define REPLACE(column)                                                                            \
    "INSERT INTO searched(instance, name, " column ") VALUES(?1, ?2, ?3)" SEARCHED_AGAIN

static bool searched_put_text(struct store *store, const struct unit_searched *one,
                              const char *text, struct error *error) {
    if (strlen(text) > TEXT_MAX)
        return remove_one(store, one, error);
    return unit_row(store, error, ROWS_SEARCHED_TEXT, REPLACE("text"), "itt", one->instance,
                    one->name, text);
}

static bool put(struct store *store, const struct unit_searched *one, const json_t *value,
                struct error *error) {
    if (json_is_string(value))
        return searched_put_text(store, one, json_string_value(value), error);
    if (json_is_boolean(value))
        return searched_put_text(store, one, json_is_true(value) ? "true" : "false", error);
    if (json_is_integer(value))
        return unit_row(store, error, ROWS_SEARCHED_WHOLE, REPLACE("whole"), "iti", one->instance,
                        one->name, (int64_t)json_integer_value(value));
    if (json_is_real(value))
        return unit_row(store, error, ROWS_SEARCHED_NUMBER, REPLACE("number"), "itd", one->instance,
                        one->name, json_real_value(value));
    return remove_one(store, one, error);
}

bool searched_write(struct store *store, const struct unit_searched *one, struct error *error) {
    if (!one->value)
        return remove_one(store, one, error);
    json_t *value = json_read(one->value, strlen(one->value), one->name, error);
    bool done = value && put(store, one, value, error);
    json_decref(value);
    return done;
}

bool searched_remove(struct store *store, int64_t instance, struct error *error) {
    return unit_row(store, error, ROWS_SEARCHED_END, "DELETE FROM searched WHERE instance=?1", "i",
                    instance);
}

bool searched_declare(struct store *store, int64_t version, const json_t *names,
                      struct error *error) {
    size_t i;
    json_t *name;
    json_array_foreach(names, i, name)
        if (!db_run(&store->db, error,
                    "INSERT INTO searched_name(name, version) VALUES(?1, ?2)"
                    " ON CONFLICT DO NOTHING",
                    "ti", json_string_value(name), version))
            return false;
    return true;
}

/* ---- showing ---- */

/* The variables of one instance; NULL: error. */
static json_t *shown(struct store *store, int64_t instance, struct error *error) {
    json_t *object = json_object();
    struct row *row = db_query(&store->db, error,
                               "SELECT name, text, number, whole FROM searched WHERE instance=?1"
                               " ORDER BY name",
                               "i", instance);
    enum answer step = NO;
    while ((step = db_step(&store->db, row, error)) == YES)
        for (int column = 1; column <= 3; column++)
            if (row_type(row, column) != ROW_NULL)
                json_object_set_new(object, row_text(row, 0), query_column(row, column));
    return json_kept(object, step == NO);
}

static bool show_all(struct store *store, json_t *rows, bool some, struct error *error) {
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        int64_t id = json_integer_value(json_object_get(row, "id"));
        json_t *variables = some ? shown(store, id, error) : json_object();
        if (!variables)
            return false;
        json_object_set_new(row, "variables", variables);
    }
    return true;
}

bool searched_show(struct store *store, json_t *rows, struct error *error) {
    int64_t one = 0;
    bool own = false;
    if (!look_begin(store, &own, error))
        return false;
    enum answer some = db_value(&store->db, error, &one, "SELECT 1 FROM searched_name LIMIT 1", "");
    bool done = some != FAILED && show_all(store, rows, some == YES, error);
    look_end(store, own);
    return done;
}
