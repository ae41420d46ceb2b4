#include "base/json.h"
#include "engine/command/bulk_command.h"
#include "engine/engine_state.h"
#include "engine/process/process_due.h"
#include <stdio.h>

/* Adds the effects of one step to those of the steps before it. */
static void run_add(struct command_run *run, const struct command_run *step) {
    int stuck = run->stuck.count;
    run->target = step->target;
    run->touched += step->touched;
    run->held = step->held;
    for (int i = 0; i < step->made_count; i++)
        run->made[i] = step->made[i];
    run->made_count = step->made_count;
    if (!stuck)
        run->stuck = step->stuck;
    else
        run->stuck.count += step->stuck.count;
}

/* Does one step in a transaction of its own; *rest: the command that is left. If a batch could do
 * the rest, nothing is done and *bulk is true. */
static bool step(struct engine *engine, json_t **rest, bool *bulk, struct command_run *run,
                 struct error *error) {
    struct command_run now = {0};
    json_t *command = *rest;
    bool may = *bulk;
    *rest = NULL;
    *bulk = false;
    bool ok = store_begin(engine->store, STORE_COMMAND, error) &&
              store_command(engine->store, command, &now, engine_now(engine), error);
    *bulk = ok && may && now.rest;
    ok = engine_end(engine, ok && !*bulk, error) || *bulk;
    json_decref(command);
    if (!ok || *bulk) {
        json_decref(now.rest);
        return ok;
    }
    *rest = now.rest;
    run_add(run, &now);
    return true;
}

static bool steps(struct engine *engine, json_t *command, bool *bulk, struct command_run *run,
                  struct error *error) {
    json_t *rest = json_incref(command);
    while (rest) {
        struct error reason = {0};
        if (!step(engine, &rest, bulk, run, &reason))
            return run->touched ? error_set(error, reason.code, "%s (%zu jobs before it are done)",
                                            reason.text, run->touched)
                                : error_set(error, reason.code, "%s", reason.text);
        if (rest && run->tell)
            run->tell(run->arg, run->touched);
    }
    return true;
}

/* YES: the command changes a task whose listeners a walk calls. */
static enum answer task_listens(struct engine *engine, const json_t *command, struct error *error) {
    struct command read;
    if (!command_read(&read, command, error))
        return FAILED;
    if (read.target != TARGET_TASK)
        return NO;
    json_t *task = engine_ask_id(engine, ASK_TASK, read.task, error);
    enum answer listens = json_is_true(json_object_get(task, "listens")) ? YES : NO;
    json_decref(task);
    return task ? listens : FAILED;
}

/* The listeners of the task are called here, or by a job of its process. */
static bool task_walk(struct engine *engine, const json_t *command, struct command_run *run,
                      struct error *error) {
    struct command_run ahead = {.dry_run = true};
    struct engine_order order = {0};
    json_t *words = json_copy(json_unchanged(command));
    bool done = (words && json_put_text(words, "kind", "assign")) || error_no_memory(error);
    json_object_del(words, "verb");
    done = done && store_command(engine->store, command, &ahead, engine_now(engine), error) &&
           engine_order(engine, words, &order, error);
    outcome_lines_free(order.lines);
    json_decref(words);
    run->target = TARGET_TASK;
    run->touched = done;
    run->made_count = order.job ? 1 : 0;
    run->made[0] = order.job;
    return done;
}

/* A command whose times are instants. */
static bool give(struct engine *engine, json_t *command, struct command_run *run,
                 struct error *error) {
    if (run->dry_run)
        return store_command(engine->store, command, run, engine_now(engine), error);
    enum answer listens = task_listens(engine, command, error);
    if (listens != NO)
        return listens == YES && task_walk(engine, command, run, error);
    if (!process_due_ask(engine, command, error))
        return false;
    bool bulk = bulk_command_is(command);
    return steps(engine, command, &bulk, run, error) &&
           (!bulk || bulk_command_give(engine, command, run, error));
}

/* What is named twice is meant once. */
static bool name_once(json_t *command, struct error *error) {
    const json_t *ids = json_object_get(command, "ids");
    json_t *id, *once = json_array(), *seen = json_object();
    char key[24];
    size_t i;
    bool done = once && seen;
    json_array_foreach(ids, i, id) {
        snprintf(key, sizeof key, "%lld", (long long)json_integer_value(id));
        if (json_is_integer(id) && json_object_get(seen, key))
            continue;
        done = done && json_object_set_new(seen, key, json_true()) == 0 &&
               json_array_append(once, id) == 0;
    }
    done = done && (!json_is_array(ids) || json_object_set(command, "ids", once) == 0);
    json_decref(once);
    json_decref(seen);
    return done || error_no_memory(error);
}

bool engine_command(struct engine *engine, const json_t *command, struct command_run *run,
                    struct error *error) {
    command_run_clear(run);
    json_t *given = engine_resolve_times(engine, command, error);
    bool done = given && name_once(given, error) && give(engine, given, run, error);
    json_decref(given);
    return done;
}
