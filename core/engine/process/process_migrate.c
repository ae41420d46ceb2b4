#include "engine/process/process_migrate.h"
#include "base/json.h"
#include "job/job.h"
#include <stdio.h>

/* Takes the question over. */
static bool take_version(struct process_cause *cause, struct engine *engine, json_t *question,
                         const char *member, struct error *error) {
    char name[JOB_NAME_MAX + 32], named[32];
    json_t *row = engine_ask_of(engine, ASK_VERSION, question, error);
    if (!row)
        return false;
    snprintf(name, sizeof name, "%s:%lld", json_text(row, "key"),
             (long long)json_int(row, "number"));
    snprintf(named, sizeof named, "%s_name", member);
    bool done = json_put(cause->object, member, json_integer(json_int(row, "id"))) &&
                json_put_text(cause->object, named, name);
    json_decref(row);
    return done || error_no_memory(error);
}

static json_t *by_number(const char *key, json_int_t number) {
    return json_pack("{ss sI sb}", "key", key, "number", number, "text", 0);
}

bool process_migrate_read(struct process_cause *cause, struct engine *engine, const json_t *plan,
                          struct error *error) {
    const char *key = json_text(plan, "process"), *other = json_text(plan, "to_process");
    json_int_t from = json_int(plan, "from"), to = json_int(plan, "to");
    json_int_t own = json_int(cause->object, "version");
    key = key ? key : cause->key;
    return take_version(cause, engine,
                        from > 0 ? by_number(key, from)
                                 : json_pack("{sI sb}", "id", own, "text", 0),
                        "source", error) &&
           (to <= 0 ||
            take_version(cause, engine, by_number(other ? other : key, to), "target", error));
}
