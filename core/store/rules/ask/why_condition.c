#include "store/rules/ask/why_condition.h"
#include "base/json.h"
#include "store/rules/record/frame.h"
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 10, VALUE_MAX = 60 }; /* values, and bytes of one */

json_t *why_conditions(struct store *store, int64_t instance, struct error *error) {
    struct row *row = db_query(&store->db, error,
                               "SELECT v.properties FROM instance i JOIN process_version v"
                               " ON v.id=i.version WHERE i.id=?1",
                               "i", instance);
    if (db_step(&store->db, row, error) != YES)
        return NULL;
    const char *text = row_text(row, 0);
    json_t *kept = json_read(text, strlen(text), "properties", error);
    json_t *found = json_incref(json_object_get(kept, "conditions"));
    json_decref(kept);
    row_done(row);
    return found;
}

/* "stock is 9"; value NULL: there is none. */
static void value_say(struct text *text, const char *between, const char *name,
                      const json_t *value) {
    size_t size = 0;
    char *shown = value ? json_write(value, &size) : NULL;
    if (!value)
        text_add(text, "%s%s is not there", between, name);
    else if (!shown || size > VALUE_MAX)
        text_add(text, "%s%s is a long value", between, name);
    else
        text_add(text, "%s%s is %s", between, name, shown);
    free(shown);
}

bool why_condition_say(struct text *text, const json_t *conditions, const char *activity,
                       const char *frame, int64_t place, struct error *error) {
    const json_t *one = json_object_get(conditions, activity), *name;
    json_t *seen = one ? frame_seen(frame, place, error) : NULL;
    size_t i;
    if (!one || !seen)
        return !one;
    text_add(text, " %s", json_text(one, "text"));
    json_array_foreach(json_object_get(one, "names"), i, name) {
        const char *of = json_string_value(name);
        if (i < VALUES_MAX)
            value_say(text, i ? ", " : " (", of, json_object_get(seen, of));
    }
    text_add(text, "%s", i ? ")" : "");
    json_decref(seen);
    return true;
}

void why_values_say(struct text *text, json_t *values) {
    const char *name;
    json_t *value;
    size_t count = 0;
    json_object_foreach(values, name, value) {
        if (count < VALUES_MAX)
            value_say(text, count ? ", " : "", name, value);
        count++;
    }
}
