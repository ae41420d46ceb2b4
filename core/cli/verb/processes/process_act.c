#include "cli/verb/processes/process_act.h"
#include "base/json.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/verb/processes/process_operations.h"
#include "cli/wait/executor.h"
#include "cli/wait/job_wait.h"
#include "cli/words/pair.h"
#include "job/outcome.h"
#include <stdlib.h>
#include <string.h>

/* ---- variables ---- */

static bool variable_add(json_t *variables, const char *word, struct error *error) {
    struct pair pair;
    bool fine = pair_read(&pair, word, "variable", "name=value", error) &&
                (json_object_set(variables, pair.name, pair.value) == 0 || error_no_memory(error));
    if (fine && pair.broken)
        output_note(PAIR_BROKEN, pair.name);
    pair_clear(&pair);
    return fine;
}

static json_t *variables_begin(const struct flags *flags, struct error *error) {
    const char *text = flags_text(flags, "--variables");
    json_t *object = text ? json_read(text, strlen(text), "--variables", error) : json_object();
    if (!object || json_is_object(object))
        return object;
    json_refuse("--variables", object, "an object", error);
    json_decref(object);
    return NULL;
}

/* The words from `first` on that belong to no operation, and the flag. */
static bool variables_put(json_t *command, const struct flags *flags, int first,
                          struct error *error) {
    json_t *variables = variables_begin(flags, error);
    bool fine = variables != NULL;
    for (int i = first; fine && i < process_operations_words(flags); i++)
        fine = variable_add(variables, flags->words[i], error);
    if (fine)
        return json_put(command, "variables", variables) || error_no_memory(error);
    json_decref(variables);
    return false;
}

/* ---- the command ---- */

static bool way_read(const struct flags *flags, struct engine_order *order, time_ms *until,
                     struct error *error) {
    order->now = flags_has(flags, "--now");
    order->later = flags_has(flags, "--wait");
    order->retries = order->later ? 1 : 0; /* who waits is told of the first failure */
    if (order->now && order->later)
        return error_set(error, ERROR_USAGE, "--now and --wait: expected one of them");
    if (flags_has(flags, "--timeout") && !order->later)
        return error_set(error, ERROR_USAGE, "--timeout: expected --wait with it");
    return job_wait_until(flags, until, error);
}

struct engine *process_act_engine(struct cli *cli, const struct flags *flags, bool begins,
                                  struct error *error) {
    if (!setup_settings(cli, flags, error))
        return NULL;
    return setup_open(cli, begins && cli->folder ? STORE_CREATE : STORE_WRITE, true, error);
}

/* Waits for the job. The result of one that begins an instance is the instance's id. */
static bool order_await(const struct cli *cli, struct engine *engine, struct process_done *done,
                        time_ms until, struct error *error) {
    json_t *result = NULL;
    bool fine = job_wait_one(cli, engine, done->job, until, &result, error);
    if (fine && !done->instance)
        done->instance = json_integer_value(result);
    json_decref(result);
    return fine;
}

/* What handlers have printed is a remark: standard output says what was done. */
static void lines_show(struct engine_order *order) {
    for (const struct outcome_line *line = order->lines; line; line = line->next) {
        char *clean = output_clean(line->text, true);
        output_note("%s", clean ? clean : "");
        free(clean);
    }
    outcome_lines_free(order->lines);
    order->lines = NULL;
}

static bool give(const struct cli *cli, struct engine *engine, const json_t *command,
                 struct engine_order *order, time_ms until, struct process_done *done,
                 struct error *error) {
    bool given = engine_order(engine, command, order, error);
    lines_show(order);
    if (!given)
        return false;
    *done = (struct process_done){order->instance, order->job,     order->job && !order->later,
                                  order->kept,     order->by_jobs, order->told};
    if (done->later)
        executors_none_say(cli, engine);
    return !order->later || !order->job || order_await(cli, engine, done, until, error);
}

bool process_act_order(struct cli *cli, const struct flags *flags, json_t *command, bool begins,
                       struct process_done *done, struct error *error) {
    struct engine_order order = {0};
    time_ms until;
    struct engine *engine = command && way_read(flags, &order, &until, error)
                                ? process_act_engine(cli, flags, begins, error)
                                : NULL;
    bool fine = engine && give(cli, engine, command, &order, until, done, error);
    engine_close(engine);
    json_decref(command);
    return fine;
}

/* A member; 0: none. */
static json_t *id_or_null(int64_t id) {
    return id ? json_integer(id) : json_null();
}

/* What a dry run has told of: a migration, instances that would end, or operations. */
static const char *told_name(const json_t *told) {
    if (json_is_object(told))
        return "migration";
    return json_int(json_array_get(told, 0), "instance") ? "instances" : "operations";
}

bool process_act_say(const struct cli *cli, const struct process_done *done, const char *before,
                     const char *after, struct error *error) {
    if (cli->json && done->told)
        return output_json(json_pack("{sO sb}", told_name(done->told), done->told, "dry_run", 1),
                           error);
    if (cli->json && done->kept)
        return output_json(json_pack("{sb}", "kept", 1), error);
    if (cli->json)
        return output_json(json_pack("{so so*}", "instance", id_or_null(done->instance), "job",
                                     done->job ? json_integer(done->job) : NULL),
                           error);
    if (done->told)
        process_operations_say(done->told);
    else if (done->kept)
        output_add("nothing waits for the message yet: it is kept\n");
    else if (done->later)
        output_add("job %lld does it, on an executor with the process\n", (long long)done->job);
    else if (done->instance)
        output_add("%s%lld%s\n", before, (long long)done->instance, after);
    else
        output_add("job %lld has done it\n", (long long)done->job);
    return true;
}

bool process_act(struct cli *cli, const struct flags *flags, json_t *command, bool begins,
                 const char *before, const char *after, struct error *error) {
    struct process_done done = {0};
    bool fine = process_act_order(cli, flags, command, begins, &done, error) &&
                process_act_say(cli, &done, before, after, error);
    json_decref(done.told);
    return fine;
}

json_t *process_act_variables(json_t *command, const struct flags *flags, int first,
                              struct error *error) {
    if (!command)
        error_no_memory(error);
    else if (command_members(command, flags, error) && variables_put(command, flags, first, error))
        return command;
    json_decref(command);
    return NULL;
}

json_t *process_act_command(const char *kind, const char *member, const struct flags *flags,
                            int word, int first, struct error *error) {
    int64_t id;
    if (!flags_number("id", flags->words[word], 1, INT64_MAX, &id, error))
        return NULL;
    return process_act_variables(json_pack("{ss,sI}", "kind", kind, member, (json_int_t)id), flags,
                                 first, error);
}
