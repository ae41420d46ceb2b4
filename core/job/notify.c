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
    json_object_foreach(json_unchanged(value), kind, handler) {
        if (!check_kind(kind, label, error) || !check_handler(handler, label, error))
            return false;
    }
    return json_keep(field, value) || error_no_memory(error);
}

const char *notify_incident(const json_t *notify) {
    return json_string_value(json_object_get(notify, "incident"));
}
