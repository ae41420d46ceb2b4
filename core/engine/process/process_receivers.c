#include "engine/process/process_receivers.h"
#include "base/json.h"
#include "base/text.h"

/* "instance 7 at paid, instance 9 at paid" */
static void add_receivers(struct text *text, const json_t *rows) {
    json_t *row;
    size_t i;
    json_array_foreach(rows, i, row) {
        text_add(text, "%s", i ? ", " : "");
        if (json_int(row, "instance"))
            text_add(text, "instance %lld at %s", (long long)json_int(row, "instance"),
                     json_text(row, "activity"));
        else
            text_add(text, "version %lld at %s", (long long)json_int(row, "version"),
                     json_text(row, "activity"));
    }
}

/* True if the message has a key and all that wait do so without one: it tells none from another. */
static bool are_keyless(const json_t *command, const json_t *rows) {
    const char *key = json_text(command, "key");
    json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
        if (*json_text(row, "key"))
            return false;
    return key && *key;
}

bool process_receivers_refuse(const json_t *command, const json_t *rows, struct error *error) {
    struct text text = {0};
    const char *name = json_text(command, "message");
    if (json_array_size(rows) == 0)
        return error_set(error, ERROR_NOT_FOUND, "message \"%s\": nothing waits for it", name);
    add_receivers(&text, rows);
    if (are_keyless(command, rows))
        text_add(&text,
                 "; they wait for no key, so \"%s\" means all of them (expected the business key "
                 "of an instance: --business-key, business_key in Lua)",
                 json_text(command, "key"));
    error_set(error, ERROR_CONFLICT, "message \"%s\": expected one receiver, found %zu: %s", name,
              json_array_size(rows), text.data ? text.data : "");
    text_clear(&text);
    return false;
}
