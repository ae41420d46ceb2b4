#include "job/notify.h"
#include "base/json.h"
#include "job/job.h"
#include <stdio.h>
#include <string.h>

#define EXPECTED "names of handlers such as { incident = \"alerts/incident\" }"

static const char *const kinds[] = {"incident", NULL};

static bool check_kind(const char *kind, const char *label, struct error *error) {
    char what[256];
    snprintf(what, sizeof what, "%s: unknown key", label);
    return is_one_of(kind, kinds) ||
           error_unknown(error, ERROR_INVALID, what, kind, kinds, "expected");
}

static bool check_handler(const json_t *handler, const char *label, struct error *error) {
    const char *name = json_string_value(handler);
    if (!name || !*name || json_string_length(handler) > JOB_NAME_MAX)
        return json_refuse(label, handler, "the name of a handler", error);
    const char *prefix = job_reserved(name);
    return !prefix ||
           error_set(error, ERROR_INVALID,
                     "%s: names under %s are reserved (expected another handler)", label, prefix);
}

bool notify_set(json_t **field, const json_t *value, const char *label, struct error *error) {
    const char *kind;
    json_t *handler;
    bool none = json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0);
    if (!none && !json_is_object(value))
        return json_refuse(label, value, EXPECTED, error);
    json_object_foreach((json_t *)(uintptr_t)value, kind, handler) {
        if (!check_kind(kind, label, error) || !check_handler(handler, label, error))
            return false;
    }
    json_t *copy = json_object_size(value) ? json_deep_copy(value) : NULL;
    if (json_object_size(value) && !copy)
        return error_no_memory(error);
    json_decref(*field);
    *field = copy;
    return true;
}

json_t *notify_from_text(const char *text) {
    json_t *notify = json_object();
    for (const char *at = text; notify && *at;) {
        size_t size = strcspn(at, ","), name = strcspn(at, "=");
        if (name >= size) {
            json_decref(notify);
            return json_string(text);
        }
        json_object_setn_new(notify, at, name, json_stringn(at + name + 1, size - name - 1));
        at += size + (at[size] == ',');
    }
    return notify;
}

void notify_write(struct text *out, const json_t *notify) {
    const char *kind, *separator = "";
    json_t *handler;
    json_object_foreach((json_t *)(uintptr_t)notify, kind, handler) {
        text_add(out, "%s%s=%s", separator, kind, json_string_value(handler));
        separator = ",";
    }
}

const char *notify_incident(const json_t *notify) {
    return json_string_value(json_object_get(notify, "incident"));
}
