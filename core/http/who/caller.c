#include "http/who/caller.h"
#include <stdlib.h>
#include <string.h>

void caller_clear(struct caller *caller) {
    free(caller->tenant);
    json_decref(caller->handlers);
    *caller = (struct caller){0};
}

bool caller_copy(struct caller *to, const struct caller *from) {
    *to = *from;
    to->tenant = from->tenant ? strdup(from->tenant) : NULL;
    to->handlers = json_deep_copy(from->handlers);
    if ((from->tenant && !to->tenant) || (from->handlers && !to->handlers)) {
        caller_clear(to);
        return false;
    }
    return true;
}

bool caller_may(const struct caller *caller, unsigned scopes) {
    return (caller->scopes & scopes) == scopes;
}

static bool covers(const char *pattern, const char *handler) {
    size_t size = strlen(pattern);
    if (size > 0 && pattern[size - 1] == '*')
        return strncmp(pattern, handler, size - 1) == 0;
    return strcmp(pattern, handler) == 0;
}

bool caller_sees_handler(const struct caller *caller, const char *handler) {
    size_t i;
    const json_t *pattern;
    if (!caller->handlers)
        return true;
    json_array_foreach(caller->handlers, i, pattern) {
        if (handler && covers(json_string_value(pattern), handler))
            return true;
    }
    return false;
}

bool caller_sees_tenant(const struct caller *caller, const char *tenant) {
    return !caller->tenant || (tenant && strcmp(caller->tenant, tenant) == 0);
}
