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

/* Its lines come first: it has printed them before the walk. */
static bool keep_lines(struct process_walk *walk, const struct outcome_line *lines,
                       struct error *error) {
    char *text = outcome_lines_text(lines);
    struct outcome_line *kept = outcome_lines_read(text), **end = &kept;
    free(text);
    while (*end)
        end = &(*end)->next;
    *end = walk->outcome->lines;
    walk->outcome->lines = kept;
    return !lines || kept || error_no_memory(error);
}

/* Where the list ends to which they are added. */
static struct job_spec **created_end(struct outcome *outcome) {
    struct job_spec **end = &outcome->created;
    while (*end)
        end = &(*end)->next;
    return end;
}

/* Each walk creates them anew. */
static bool keep_created(struct process_walk *walk, const struct job_spec *specs,
                         struct error *error) {
    struct job_spec **end = created_end(walk->outcome);
    for (; specs; specs = specs->next, end = &(*end)->next) {
        *end = job_spec_copy(specs);
        if (!*end)
            return error_no_memory(error);
    }
    return true;
}

/* They are the last that the walk has created. */
static void take_replies(const struct process_walk *walk, struct outcome *outcome) {
    size_t more = 0;
    const struct job_spec *from = walk->outcome->created;
    for (const struct job_spec *one = from; one; one = one->next)
        more++;
    for (const struct job_spec *one = outcome->created; one; one = one->next)
        more--;
    for (; more; more--)
        from = from->next;
    for (struct job_spec *one = outcome->created; one; one = one->next, from = from->next)
        one->reply = from->reply;
}

static enum answer walk_once(struct process_walk *walk, struct engine *engine,
                             struct outcome *outcome, struct error *error) {
    if (!process_walk_run(walk, engine, error) || !keep_result(walk, outcome->result, error))
        return FAILED;
    if (!keep_lines(walk, outcome->lines, error) || !keep_created(walk, outcome->created, error))
        return FAILED;
    enum answer done = process_walk_end(walk, engine, &outcome->settled, error);
    if (done == YES)
        take_replies(walk, outcome);
    return done;
}

bool process_external(struct engine *engine, struct outcome *outcome, const json_t *said,
                      struct error *error) {
    json_t *command = command_of(outcome->job, said);
    struct process_walk walk = {.command = command, .job = outcome->job};
    bool read = command && process_walk_read(&walk, engine, error);
    enum answer done = read ? NO : FAILED;
    if (!command)
        error_no_memory(error);
    while (done == NO)
        done = walk_once(&walk, engine, outcome, error);
    process_lanes_drop(engine);
    process_walk_clear(&walk);
    json_decref(command);
    return done == YES;
}
