#include "job/caller/scope.h"
#include "base/json.h"
#include <string.h>

static const char *const names[] = {"read", "payload", "enqueue", "work", "operate", "admin", NULL};

enum { NAME_MAX_SIZE = 64, HANDLERS_MOST = 100 };

static unsigned with_included(unsigned scopes) {
    return scopes & SCOPE_OPERATE ? scopes | SCOPE_READ | SCOPE_PAYLOAD : scopes;
}

static bool scope_add(const char *name, unsigned *scopes, struct error *error) {
    for (unsigned at = 0; names[at]; at++) {
        if (strcmp(names[at], name) == 0) {
            *scopes |= 1u << at;
            return true;
        }
    }
    return error_unknown(error, ERROR_INVALID, "unknown scope", name, names, "expected");
}

static bool text_read(const char *text, unsigned *scopes, struct error *error) {
    char name[NAME_MAX_SIZE];
    bool done = true;
    while (done && *text) {
        size_t size = strcspn(text, ",");
        size_t kept = size < sizeof name ? size : sizeof name - 1;
        memcpy(name, text, kept);
        name[kept] = 0;
        done = scope_add(name, scopes, error);
        text += size + (text[size] == ',');
    }
    return done;
}

bool scopes_read(const json_t *value, unsigned *scopes, struct error *error) {
    unsigned read = 0;
    size_t i;
    const json_t *name;
    bool done = true;
    if (json_is_string(value))
        done = text_read(json_string_value(value), &read, error);
    else if (value && !json_is_array(value))
        done = json_refuse("scopes", value, "an array of names", error);
    json_array_foreach(value, i, name) {
        if (done && !json_is_string(name))
            done = json_refuse("scopes", name, "names", error);
        done = done && scope_add(json_string_value(name), &read, error);
    }
    if (done && !read)
        return error_set(error, ERROR_INVALID,
                         "scopes: expected one at least (read, payload,"
                         " enqueue, work, operate, admin)");
    *scopes = with_included(read);
    return done;
}

bool handlers_check(const json_t *handlers, struct error *error) {
    size_t i;
    const json_t *name;
    if (!json_is_array(handlers) || json_array_size(handlers) < 1 ||
        json_array_size(handlers) > HANDLERS_MOST)
        return json_refuse("handlers", handlers, "1 to 100 names", error);
    json_array_foreach(handlers, i, name) {
        const char *text = json_string_value(name);
        const char *star = text ? strchr(text, '*') : NULL;
        if (!text || !*text || (star && star[1]))
            return json_refuse("handlers", name, "names, such as \"topic/*\"", error);
    }
    return true;
}

void scopes_write(unsigned scopes, char *text) {
    *text = 0;
    for (unsigned at = 0; names[at]; at++) {
        if (!(scopes & 1u << at))
            continue;
        if (*text)
            strcat(text, ",");
        strcat(text, names[at]);
    }
}
