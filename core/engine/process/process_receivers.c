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

bool process_receivers_no_signal(const json_t *command, struct error *error) {
    const int64_t token = json_int(command, "token");
    char at[48] = "";
    if (token)
        snprintf(at, sizeof at, " at its token %lld", (long long)token);
    return error_set(error, ERROR_NOT_FOUND, "signal \"%s\": instance %lld does not wait for it%s",
                     json_text(command, "signal"), (long long)json_int(command, "instance"), at);
}

bool process_receivers_many(const json_t *command, const char *with, struct error *error) {
    static const char *const others[] = {"transient", "types", "local_variables"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (json_object_get(command, others[i]))
            return error_set(error, ERROR_INVALID,
                             "%s: a message with \"%s\" has none (expected variables alone)",
                             others[i], with);
    return true;
}
