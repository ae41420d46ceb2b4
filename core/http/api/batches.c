#include "http/api/batches.h"
#include "base/json.h"
#include "engine/batch.h"
#include "http/api/keyed.h"
#include "http/api/sight.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The list that a query is of: as the body says, else as the type has it. */
static bool read_list(const struct call *call, enum ask_kind *of, struct error *error) {
    static const struct {
        const char *name;
        enum ask_kind kind;
    } lists[] = {{"jobs", ASK_JOBS}, {"instances", ASK_PROCESS_INSTANCES}, {"past", ASK_PAST}};
    const json_t *given = json_object_get(call->body, "of");
    const char *type = json_text(call->body, "type");
    if (!type)
        return json_refuse("type", json_object_get(call->body, "type"), "a text", error);
    *of = batch_list_of(type);
    if (!given || json_is_null(given))
        return true;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (json_is_string(given) && strcmp(json_string_value(given), lists[i].name) == 0) {
            *of = lists[i].kind;
            return batch_takes(type, *of, error);
        }
    return json_refuse("of", given, "\"jobs\", \"instances\" or \"past\"", error);
}

/* Either ids or a query. */
static bool check_ids(const struct call *call, struct error *error) {
    const json_t *ids = json_object_get(call->body, "ids");
    const bool listed = json_is_array(ids),
               asked = json_is_object(json_object_get(call->body, "query"));
    return listed != asked ||
           error_set(error, ERROR_INVALID, "ids: expected either ids or a query");
}

/* What engine_batch_begin takes: the body without what says which ids. NULL: error. */
static json_t *spec_of(const struct call *call, struct error *error) {
    json_t *spec = json_copy(call->body);
    static const char *const others[] = {"ids", "query", "of"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        json_object_del(spec, others[i]);
    if (!spec)
        error_no_memory(error);
    return spec;
}

/* It makes jobs, and so does what comes when it is complete. */
static bool may_enqueue(const struct call *call, struct error *error) {
    const char *type = json_text(call->body, "type");
    const bool makes = (type && strcmp(type, "enqueue") == 0) ||
                       json_is_string(json_object_get(call->body, "on_complete"));
    return !makes || caller_may(call->caller, SCOPE_ENQUEUE) ||
           error_set(error, ERROR_FORBIDDEN,
                     "a batch that makes jobs: the caller may not (expected enqueue)");
}

static bool tell(struct call *call, const void *result, struct error *error) {
    const struct command_run *run = result;
    char location[64];
    snprintf(location, sizeof location, "/v1/batches/%" PRId64, run->batch);
    call->exchange->location = strdup(location);
    return call_answer(
        call, 201,
        json_pack("{sI sI}", "id", (json_int_t)run->batch, "ids", (json_int_t)run->touched), error);
}

bool create_batch(struct call *call, struct error *error) {
    struct command_run run = {0};
    enum ask_kind of = ASK_KINDS;
    if (!sight_whole(call, error) || !may_enqueue(call, error) || !check_ids(call, error) ||
        !read_list(call, &of, error))
        return false;
    const json_t *ids = json_object_get(call->body, "ids"),
                 *query = json_object_get(call->body, "query");
    json_t *spec = spec_of(call, error);
    keyed_tells(call, tell, &run);
    bool done = spec && engine_batch_plan(call->engine, spec, error) &&
                engine_batch_create(call->engine, spec, json_is_array(ids) ? ids : NULL, of,
                                    json_is_object(query) ? query : NULL, &run, error) &&
                keyed_tell(call, error);
    json_decref(spec);
    return done;
}
