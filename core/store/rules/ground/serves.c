#include "store/rules/ground/serves.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool serves_registered(struct serves *serves, struct store *store, struct error *error) {
    struct row *rows =
        db_query(&store->db, error, "SELECT deployment FROM registration WHERE executor=?1", "t",
                 serves->acquire->executor_name);
    enum answer step = NO;
    while ((step = db_step(&store->db, rows, error)) == YES) {
        int64_t *list = realloc(serves->deployments, (serves->count + 1) * sizeof *list);
        if (!list)
            return row_stop(rows) || db_no_memory(&store->db, error);
        serves->deployments = list;
        list[serves->count++] = row_int(rows, 0);
    }
    return step == NO;
}

bool serves_category(const json_t *categories, const char *category) {
    size_t index = 0;
    json_t *name = NULL;
    if (!categories)
        return true;
    json_array_foreach(categories, index, name)
        if (category && json_is_string(name) && strcmp(json_string_value(name), category) == 0)
            return true;
    return false;
}

static bool serves_deployment(const struct serves *serves, int64_t deployment) {
    if (!serves->acquire->deployment_aware || !deployment)
        return true;
    for (size_t i = 0; i < serves->count; i++)
        if (serves->deployments[i] == deployment)
            return true;
    return false;
}

/* The folder has a function for it. */
static bool serves_name(const struct definitions *handlers, const char *name) {
    const struct definition *found = definitions_find(handlers, name);
    return found && !found->outside;
}

/* Jobs of a process are served by its key, also those of activities that only older versions have.
 */
static bool serves_handler(const struct definitions *handlers,
                           const struct catalog_definition *definition) {
    return definition->process ? json_object_get(handlers->processes, definition->process) != NULL
                               : serves_name(handlers, definition->name);
}

bool serves_topic(const struct definitions *handlers, const char *topic) {
    char name[JOB_NAME_MAX + 16];
    snprintf(name, sizeof name, "topic/%s", topic);
    return serves_name(handlers, name);
}

/* A worker outside asks for topics, and may ask for one category of each. */
static bool serves_wanted(const struct acquire *acquire, const struct catalog_stream *stream) {
    const struct wanted_topic *wanted = acquire_wanted(acquire, stream->topic);
    if (!stream->topic || !serves_category(acquire->topics, stream->topic))
        return false;
    return !wanted || !wanted->category ||
           (stream->category && strcmp(stream->category, wanted->category) == 0);
}

/* An executor serves one whose handler its folder has. */
static bool serves_work(const struct acquire *acquire, const struct catalog_stream *stream) {
    const struct definitions *handlers = acquire->handlers;
    if (acquire->topics)
        return serves_wanted(acquire, stream);
    return !handlers || (serves_handler(handlers, stream->definition) &&
                         (!stream->topic || serves_topic(handlers, stream->topic)));
}

enum serves_stage serves_stage(const struct serves *serves, const struct catalog_stream *stream) {
    const struct definitions *handlers = serves->acquire->handlers;
    if (!serves_work(serves->acquire, stream))
        return SERVES_NOTHING;
    if (!stream->definition->reserved &&
        !serves_category(serves->acquire->categories, stream->category))
        return SERVES_HANDLER;
    /* Its folder has the process: versions of older deployments are served as well. */
    bool registered = stream->definition->process && handlers && serves->count;
    return registered || serves_deployment(serves, stream->deployment) ? SERVES_STREAM
                                                                       : SERVES_CATEGORY;
}

bool serves_stream(const struct serves *serves, const struct catalog_stream *stream) {
    return serves_stage(serves, stream) == SERVES_STREAM;
}
