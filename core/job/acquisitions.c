#include "job/acquisitions.h"
#include "base/json.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const allowed[] = {
    "page",        "lane_run",        "wait",        "max_wait",
    "wait_factor", "backoff",         "max_backoff", "backoff_decrease_threshold",
    "lock_time",   "queue_full_wait", "by_priority", "prefer_timers",
    "by_due_date", "aging",           NULL};

static bool check_names(const char *label, const json_t *values, struct error *error) {
    void *given = json_unchanged(values);
    for (void *at = json_object_iter(given); at; at = json_object_iter_next(given, at)) {
        const char *name = json_object_iter_key(at);
        if (is_one_of(name, allowed))
            continue;
        const char *meant = suggest(name, allowed);
        return error_set(error, ERROR_INVALID, "%s: \"%.100s\" is no setting of acquisition%s%s%s",
                         label, name, meant ? " (did you mean \"" : "", meant ? meant : "",
                         meant ? "\"?)" : "");
    }
    return true;
}

static bool check_one(const char *name, const json_t *values, struct error *error) {
    char label[128];
    struct settings scratch;
    snprintf(label, sizeof label, "acquisitions.%.100s", name);
    bool fine = settings_init(&scratch, error) &&
                (!json_is_object(values) || check_names(label, values, error));
    fine = fine && settings_apply(&scratch, ORIGIN_OPTION, values, label, error) &&
           settings_check(&scratch, error);
    settings_clear(&scratch);
    return fine;
}

static bool check(const json_t *acquisitions, struct error *error) {
    void *given = json_unchanged(acquisitions);
    if (!json_is_object(acquisitions))
        return error_set(error, ERROR_INVALID,
                         "acquisitions: expected a table { name = { page, wait, … } }");
    for (void *at = json_object_iter(given); at; at = json_object_iter_next(given, at))
        if (!check_one(json_object_iter_key(at), json_object_iter_value(at), error))
            return false;
    return true;
}

bool acquisitions_set(json_t **field, const json_t *value, struct error *error) {
    if (!json_is_null(value) && !check(value, error))
        return false;
    return json_keep(field, value) || error_no_memory(error);
}

static bool apply_named(struct settings *settings, const struct settings *executor,
                        struct error *error) {
    const char *name = settings->acquisition;
    const json_t *values = json_object_get(executor->acquisitions, name);
    if (values)
        return settings_apply(settings, settings_origin(executor, "acquisitions"), values,
                              "acquisitions", error) &&
               settings_check(settings, error);
    if (strcmp(name, "default") == 0)
        return true;
    bool option = settings_origin(settings, "acquisition") == ORIGIN_OPTION;
    return error_set(error, option ? ERROR_INVALID : ERROR_CONFIG,
                     "acquisition \"%s\" is not declared (expected default, or a name in "
                     "acquisitions)",
                     name);
}

bool acquisitions_apply(struct settings *settings, const struct settings *executor,
                        struct error *error) {
    if (settings != executor) {
        char *name = strdup(executor->name);
        if (!name)
            return error_no_memory(error);
        free(settings->name);
        settings->name = name;
        settings->workers_min = executor->workers_min;
        settings->workers_max = executor->workers_max;
        settings->queue = executor->queue;
        settings->keep_alive = executor->keep_alive;
        settings->shutdown_wait = executor->shutdown_wait;
    }
    return apply_named(settings, executor, error);
}
