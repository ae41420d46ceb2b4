#include "engine/process/process_external.h"
#include "base/json.h"
#include "engine/engine_state.h"
#include "engine/process/process_walk.h"
#include <stdlib.h>
#include <string.h>

/* As a command to its process. NULL: no memory. */
static json_t *command_of(const struct job *job, const json_t *said) {
    json_t *command =
        json_pack("{ss sI sI ss*}", "kind", "external", "instance", (json_int_t)job->instance_id,
                  "token", (json_int_t)job->execution, "activity", job->activity);
    static const char *const names[] = {"variables", "code", "message"};
    bool done = command != NULL;
    for (size_t i = 0; done && i < sizeof names / sizeof *names; i++) {
        json_t *value = json_object_get(said, names[i]);
        done = !value || json_object_set(command, names[i], value) == 0;
    }
    return json_kept(command, done);
}

/* What the worker has said is the result of the job. */
static bool keep_result(struct process_walk *walk, const char *result, struct error *error) {
    free(walk->outcome->result);
    walk->outcome->result = result ? strdup(result) : NULL;
    return !result || walk->outcome->result || error_no_memory(error);
}

static enum answer walk_once(struct process_walk *walk, struct engine *engine, const char *result,
                             enum settled *settled, struct error *error) {
    if (!process_walk_run(walk, engine, error) || !keep_result(walk, result, error))
        return FAILED;
    return process_walk_end(walk, engine, settled, error);
}

bool process_external(struct engine *engine, const struct job *job, const json_t *said,
                      const char *result, enum settled *settled, struct error *error) {
    json_t *command = command_of(job, said);
    struct process_walk walk = {.command = command, .job = job};
    bool read = command && process_walk_read(&walk, engine, error);
    enum answer done = read ? NO : FAILED;
    if (!command)
        error_no_memory(error);
    while (done == NO)
        done = walk_once(&walk, engine, result, settled, error);
    process_lanes_drop(engine);
    process_walk_clear(&walk);
    json_decref(command);
    return done == YES;
}
