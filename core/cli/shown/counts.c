#include "cli/shown/counts.h"
#include "base/json.h"
#include <string.h>

enum { COUNTED = 10000 }; /* of these that many are counted at most */

static bool is_bounded(const char *key) {
    static const char *const keys[] = {"suspended", "dead", "open incidents", "stuck instances"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

bool counts_show(json_t *counts) {
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(counts, next, key,
                             value) if (json_integer_value(value) >= COUNTED && is_bounded(key) &&
                                        !json_put_text(counts, key, "10000+")) return false;
    return true;
}

/* True if it has a job, or a run of it has ended. */
static bool row_says_something(const json_t *row) {
    static const char *const keys[] = {"ready",     "scheduled", "locked",     "waiting",
                                       "suspended", "dead",      "successful", "failed"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_is_string(json_object_get(row, keys[i])) ||
            json_integer_value(json_object_get(row, keys[i])) > 0)
            return true;
    return false;
}

/* Puts the members of `counts` and `metrics` beside the name, so that they are columns. */
static json_t *row_make(const json_t *definition) {
    json_t *row = json_object();
    return json_kept(row,
                     row && json_object_update(row, json_object_get(definition, "metrics")) == 0 &&
                         json_object_update(row, json_object_get(definition, "counts")) == 0 &&
                         counts_show(row) &&
                         json_put(row, "name", json_incref(json_object_get(definition, "name"))));
}

json_t *counts_flat(const json_t *definitions) {
    size_t i;
    json_t *definition, *rows = json_array();
    json_array_foreach(definitions, i, definition) {
        json_t *row = row_make(definition);
        if (row && !row_says_something(row))
            json_decref(row);
        else if (!row || json_array_append_new(rows, row) != 0) {
            json_decref(rows);
            return NULL;
        }
    }
    return rows;
}
