/* process_plan.c - the plan of a batch of migrations is looked at before the batch is made (rules
 * §17). */
#include "base/json.h"
#include "engine/batch.h"
#include <string.h>

/* The command that looks at a plan; NULL: it does not name both versions of one process. */
static json_t *look_of(const json_t *plan) {
    const char *process = json_text(plan, "process"), *other = json_text(plan, "to_process");
    json_int_t from = json_int(plan, "from"), to = json_int(plan, "to");
    if (!process || from < 1 || to < 1)
        return NULL;
    return json_pack("{ss ss sI sI ss* sO sb}", "kind", "plan", "process", process, "from", from,
                     "to", to, "to_process", other, "plan", json_unchanged(plan), "dry_run", 1);
}

bool engine_batch_plan(struct engine *engine, const json_t *spec, struct error *error) {
    const char *type = json_text(spec, "type");
    const json_t *plan = json_object_get(json_object_get(spec, "config"), "plan");
    json_t *look = type && strcmp(type, "migrate") == 0 ? look_of(plan) : NULL, *told = NULL;
    struct error cause = {0};
    if (!look)
        return true;
    bool fine = engine_process(engine, look, &told, &cause);
    json_decref(told);
    json_decref(look);
    return fine || error_set(error, ERROR_INVALID, "config of \"migrate\": %s", cause.text);
}
