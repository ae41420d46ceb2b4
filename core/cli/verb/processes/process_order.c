/* process_order.c - commands to instances of processes. Each is walked here, by the handlers of the
 * script folder, and is written when the verb ends; without the folder a job does it. */
#include "base/json.h"
#include "cli/command.h"
#include "cli/shown/output.h"
#include "cli/verb/processes/process_act.h"
#include "cli/verb/processes/process_from.h"
#include "cli/verb/processes/process_operations.h"
#include "cli/wait/executor.h"
#include <stdlib.h>
#include <string.h>

/* ---- many from a file ---- */

static bool say_many(const struct cli *cli, struct process_from *from, int64_t job,
                     const char *done, struct error *error) {
    if (cli->json)
        return output_json(
            json_pack("{sO so*}", "instances", from->ids, "job", job ? json_integer(job) : NULL),
            error);
    if (job)
        output_add("%lld jobs do it, on an executor with the process; the last is %lld\n",
                   (long long)from->count, (long long)job);
    else
        output_add("%lld %s\n", (long long)from->count, done);
    return true;
}

static bool from_check(const struct flags *flags, struct error *error) {
    if (flags->word_count > 1)
        return error_set(error, ERROR_USAGE, "unexpected \"%s\" (--from has the variables itself)",
                         flags->words[1]);
    return flags_check_from(flags, error);
}

/* Takes the command over, which each line adds to; NULL: memory is out. */
static bool act_many(struct cli *cli, const struct flags *flags, json_t *command,
                     const char *const *keys, const char *done, struct error *error) {
    struct process_from from = {.path = flags_text(flags, "--from"),
                                .command = command,
                                .keys = keys,
                                .interactive = cli->interactive};
    struct engine_order given = {.now = flags_has(flags, "--now")};
    bool fine = command ? from_check(flags, error) && command_members(command, flags, error)
                        : error_no_memory(error);
    struct engine *engine = fine ? process_act_engine(cli, flags, true, error) : NULL;
    fine = engine && process_from(&from, engine, &given, error) &&
           say_many(cli, &from, given.job, done, error);
    if (fine && given.job)
        executors_none_say(cli, engine);
    engine_close(engine);
    json_decref(from.ids);
    json_decref(command);
    return fine;
}

/* ---- verbs ---- */

static bool start_run(struct cli *cli, const struct flags *flags, struct error *error) {
    static const char *const keys[] = {"key", "version", "tag", "tenant", "operations", NULL};
    json_t *command = json_pack("{ss,ss}", "kind", "start", "process", flags->words[0]);
    if (flags_has(flags, "--from"))
        return act_many(cli, flags, command, keys, "instances started", error);
    command = process_act_variables(command, flags, 1, error);
    if (command && !process_operations_put(command, flags, error)) {
        json_decref(command);
        return false;
    }
    return process_act(cli, flags, command, true, "", "", error);
}

/* All of them in one transaction, or none. */
static bool act_list(struct cli *cli, const struct flags *flags, const json_t *commands,
                     const char *done, struct error *error) {
    struct process_from from = {.count = (int64_t)json_array_size(commands)};
    struct engine_order order = {.now = flags_has(flags, "--now")};
    bool fine = (!flags_has(flags, "--wait") && !flags_has(flags, "--timeout")) ||
                error_set(error, ERROR_USAGE, "--wait: expected one id");
    struct engine *engine = fine ? process_act_engine(cli, flags, false, error) : NULL;
    fine = engine && engine_process_list(engine, commands, &order, &from.ids, NULL, error) &&
           say_many(cli, &from, order.job, done, error);
    if (fine && order.job)
        executors_none_say(cli, engine);
    engine_close(engine);
    json_decref(from.ids);
    return fine;
}

/* The ids stand before the variables. */
static int ids_before(const struct flags *flags) {
    int count = 0;
    while (count < flags->word_count && !strchr(flags->words[count], '='))
        count++;
    return count > 0 ? count : 1;
}

/* A command for each id, with the same variables; NULL: error. */
static json_t *complete_commands(const struct flags *flags, int count, struct error *error) {
    json_t *commands = json_array();
    bool fine = commands || error_no_memory(error);
    for (int i = 0; fine && i < count; i++) {
        json_t *command = process_act_command("complete", "task", flags, i, count, error);
        fine = command && (json_array_append_new(commands, command) == 0 || error_no_memory(error));
    }
    return json_kept(commands, fine);
}

static bool complete_run(struct cli *cli, const struct flags *flags, struct error *error) {
    const int count = ids_before(flags);
    if (count == 1)
        return process_act(cli, flags, process_act_command("complete", "task", flags, 0, 1, error),
                           false, "task completed; instance ", " goes on", error);
    json_t *commands = complete_commands(flags, count, error);
    bool done = commands && act_list(cli, flags, commands, "tasks completed", error);
    json_decref(commands);
    return done;
}

/* The second word is the code. */
static bool raise_run(struct cli *cli, const struct flags *flags, const char *kind,
                      const char *before, const char *after, struct error *error) {
    if (flags->word_count < 2 || strchr(flags->words[1], '='))
        return error_set(error, ERROR_USAGE, "task %s: expected a code behind the id", kind);
    json_t *command = process_act_command(kind, "task", flags, 0, 2, error);
    if (command && !json_put_text(command, "code", flags->words[1])) {
        json_decref(command);
        return error_no_memory(error);
    }
    return process_act(cli, flags, command, false, before, after, error);
}

static bool throw_run(struct cli *cli, const struct flags *flags, struct error *error) {
    return raise_run(cli, flags, "throw", "task ended with the error; instance ", " goes on",
                     error);
}

static bool escalate_run(struct cli *cli, const struct flags *flags, struct error *error) {
    return raise_run(cli, flags, "escalate", "task escalated; instance ", " goes on", error);
}

/* The names behind each --unset; none: no member. */
static bool unset_put(json_t *command, const struct flags *flags, struct error *error) {
    json_t *names = json_array();
    bool fine = names != NULL;
    for (size_t i = 0; fine && i < flags->count; i++)
        if (strcmp(flags->given[i].name, "--unset") == 0)
            fine = json_array_append_new(names, json_string(flags->given[i].value)) == 0;
    if (!fine || json_array_size(names)) {
        fine = fine && json_put(command, "unset", json_incref(names));
        json_decref(names);
        return fine || error_no_memory(error);
    }
    json_decref(names);
    return true;
}

static bool set_run(struct cli *cli, const struct flags *flags, struct error *error) {
    if (flags->word_count < 2 && !flags_has(flags, "--variables") && !flags_has(flags, "--unset"))
        return error_set(error, ERROR_USAGE, "instance set: expected name=value");
    json_t *command = process_act_command("set", "instance", flags, 0, 1, error);
    if (command && !unset_put(command, flags, error)) {
        json_decref(command);
        return false;
    }
    return process_act(cli, flags, command, false, "instance ", " changed", error);
}

/* The second word is the activity, unless it is a variable. */
static bool trigger_run(struct cli *cli, const struct flags *flags, struct error *error) {
    bool named = flags->word_count > 1 && !strchr(flags->words[1], '=');
    json_t *command = process_act_command("trigger", "instance", flags, 0, named ? 2 : 1, error);
    if (command && named && !json_put_text(command, "activity", flags->words[1])) {
        json_decref(command);
        return error_no_memory(error);
    }
    return process_act(cli, flags, command, false, "instance ", " goes on", error);
}

static bool cancel_run(struct cli *cli, const struct flags *flags, struct error *error) {
    return process_act(cli, flags, process_act_command("cancel", "instance", flags, 0, 1, error),
                       false, "instance ", " cancelled", error);
}

/* A command of operations on the instance that a word names; NULL: error. */
static json_t *operations_command(const char *kind, const char *expected, const struct flags *flags,
                                  int word, struct error *error) {
    int64_t id;
    if (!flags_number("id", flags->words[word], 1, INT64_MAX, &id, error))
        return NULL;
    json_t *command = json_pack("{ss,sI}", "kind", kind, "instance", (json_int_t)id);
    bool fine = command ? command_members(command, flags, error) &&
                              process_operations_put(command, flags, error)
                        : error_no_memory(error);
    if (fine && !json_object_get(command, "operations"))
        fine = error_set(error, ERROR_USAGE, "instance %s: expected %s", kind, expected);
    return json_kept(command, fine);
}

static bool modify_run(struct cli *cli, const struct flags *flags, struct error *error) {
    if (process_operations_words(flags) > 1)
        return error_set(error, ERROR_USAGE,
                         "unexpected \"%s\" (expected variables behind their operation)",
                         flags->words[1]);
    json_t *command = operations_command(
        "modify", "--start-before, --start-after, --start-flow or --cancel", flags, 0, error);
    return command && process_act(cli, flags, command, false, "instance ", " modified", error);
}

static bool restart_run(struct cli *cli, const struct flags *flags, struct error *error) {
    const int count = process_operations_words(flags);
    if (count == 0)
        return error_set(
            error, ERROR_USAGE,
            "instance restart: \"%s\" behind an operation (expected the ids before it)",
            flags->words[0]);
    json_t *commands = json_array(), *command = NULL;
    bool fine = commands || error_no_memory(error);
    for (int i = 0; fine && i < count; i++) {
        command = operations_command("restart", "--start-before, --start-after or --start-flow",
                                     flags, i, error);
        fine = command && (json_array_append_new(commands, command) == 0 || error_no_memory(error));
    }
    if (fine && count == 1)
        fine = process_act(cli, flags, json_incref(command), false, "", "", error);
    else if (fine)
        fine = act_list(cli, flags, commands, "instances restarted", error);
    json_decref(commands);
    return fine;
}

/* Which of those that wait the message is for; NULL: error. */
static json_t *message_command(const struct flags *flags, struct error *error) {
    int64_t instance = 0, token = 0;
    const bool starts = flags_has(flags, "--starts"), one = flags_has(flags, "--token");
    if (!flags_integer(flags, "--instance", 1, INT64_MAX, &instance, error) ||
        !flags_integer(flags, "--token", INT64_MIN, INT64_MAX, &token, error))
        return NULL;
    if (one && (!instance || flags_has(flags, "--keep")))
        return error_null(
            error_set(error, ERROR_USAGE, "--token: expected --instance with it, and no --keep"));
    if (flags_has(flags, "--all") && (instance || starts || flags_has(flags, "--keep")))
        return error_null(error_set(error, ERROR_USAGE,
                                    "--all does not go with --instance, --starts and --keep"));
    if (starts && (instance || flags_has(flags, "--keep")))
        return error_null(
            error_set(error, ERROR_USAGE, "--starts does not go with --instance and --keep"));
    json_t *command = json_pack("{ss,ss,so*,so*}", "kind", "message", "message", flags->words[0],
                                "instance", instance ? json_integer(instance) : NULL, "token",
                                one ? json_integer(token) : NULL);
    if (!command)
        error_no_memory(error);
    return command;
}

/* "3 instances have the signal". Those of a list are told by their ids. */
static bool say_reached(const struct cli *cli, const struct process_done *done, const char *what,
                        struct error *error) {
    const json_int_t reached =
        done->told ? (json_int_t)json_array_size(done->told) : (json_int_t)done->instance;
    if (cli->json)
        return output_json(
            json_pack("{sI sb so* sO*}", "reached", reached, "jobs", done->by_jobs || done->later,
                      "job", done->job ? json_integer(done->job) : NULL, "instances", done->told),
            error);
    if (done->later)
        return process_act_say(cli, done, "", "", error);
    if (done->by_jobs)
        output_add("each that waits for the %s gets it by a job\n", what);
    else if (done->job)
        output_add("job %lld has given the %s\n", (long long)done->job, what);
    else
        output_add("%lld instance%s the %s\n", (long long)reached, reached == 1 ? " has" : "s have",
                   what);
    return true;
}

/* Gives it to all that wait for it; takes the command over. */
static bool act_all(struct cli *cli, const struct flags *flags, json_t *command, const char *what,
                    struct error *error) {
    struct process_done done = {0};
    bool fine = process_act_order(cli, flags, command, true, &done, error) &&
                say_reached(cli, &done, what, error);
    json_decref(done.told);
    return fine;
}

/* With --local: what was said as name=value is of what the message triggers. */
static json_t *variables_local(json_t *command, const struct flags *flags, struct error *error) {
    json_t *variables = json_object_get(command, "variables");
    if (!variables || !flags_has(flags, "--local"))
        return command;
    if (json_put(command, "local_variables", json_incref(variables)) &&
        json_object_del(command, "variables") == 0)
        return command;
    return json_kept(command, error_no_memory(error));
}

static bool message_run(struct cli *cli, const struct flags *flags, struct error *error) {
    static const char *const keys[] = {"key", "business_key", "keep", "local_variables", NULL};
    json_t *command = message_command(flags, error);
    if (!command)
        return false;
    if (flags_has(flags, "--from"))
        return act_many(cli, flags, command, keys, "messages given", error);
    command = variables_local(process_act_variables(command, flags, 1, error), flags, error);
    if (flags_has(flags, "--all"))
        return act_all(cli, flags, command, "message", error);
    return process_act(cli, flags, command, true, "instance ", " has the message", error);
}

static bool signal_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t instance = 0, token = 0;
    if (!flags_integer(flags, "--instance", 1, INT64_MAX, &instance, error) ||
        !flags_integer(flags, "--token", INT64_MIN, INT64_MAX, &token, error))
        return false;
    json_t *command = json_pack("{ss,ss,so*,so*}", "kind", "signal", "signal", flags->words[0],
                                "instance", instance ? json_integer(instance) : NULL, "token",
                                flags_has(flags, "--token") ? json_integer(token) : NULL);
    command = process_act_variables(command, flags, 1, error);
    return act_all(cli, flags, command, "signal", error);
}

/* Prints the ids of what was started, a line each. */
static bool conditions_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct process_done done = {0};
    size_t i;
    json_t *id,
        *command = process_act_variables(json_pack("{ss}", "kind", "conditions"), flags, 0, error);
    bool fine = process_act_order(cli, flags, command, true, &done, error);
    if (fine && cli->json)
        fine = output_json(json_pack("{sO? so*}", "instances", done.told, "job",
                                     done.job ? json_integer(done.job) : NULL),
                           error);
    else if (fine && !done.told)
        fine = process_act_say(cli, &done, "", "", error);
    else
        json_array_foreach(done.told, i, id)
            output_add("%lld\n", (long long)json_integer_value(id));
    json_decref(done.told);
    return fine;
}

static const struct flag signal_flags[] = {
    VARIABLES_FLAG,
    {"--instance", "ID", "only this instance", FLAG_ONE},
    {"--token", "N", "only this of its tokens, as \"instance show --json\" has them", FLAG_ONE},
    {"--tenant", "TEXT", "only instances of this tenant, and of none", FLAG_MEMBER},
    WAY_FLAGS,
    {0},
};
static const struct flag conditions_flags[] = {
    VARIABLES_FLAG,
    {"--process", "KEY", "only this process", FLAG_MEMBER},
    {"--key", "TEXT", "the business key of what starts", FLAG_MEMBER},
    {"--tenant", "TEXT", "the tenant of what starts", FLAG_MEMBER},
    WAY_FLAGS,
    {0},
};
static const struct flag start_flags[] = {
    VARIABLES_FLAG,
    {"--key", "TEXT", "its business key", FLAG_MEMBER | FLAG_ONE},
    {"--unique", NULL, "only if none of this process runs with the key", FLAG_MEMBER},
    {"--version", "N", "this version, not the newest", FLAG_MEMBER},
    {"--before", "ACTIVITY", "begin here, with the name=value behind it", FLAG_ONE},
    {"--after", "ACTIVITY", "begin with its only flow", FLAG_ONE},
    {"--flow", "FLOW", "begin with this flow", FLAG_ONE},
    {"--in", "SCOPE#N", "of the place before it: in the N-th of this scope", FLAG_ONE},
    {"--local", NULL, "of the place before it: its variables are its own", FLAG_ONE},
    {"--dry-run", NULL, "say what begins, start nothing", FLAG_MEMBER | FLAG_ONE},
    {"--from", "FILE", "one JSON object a line ({key, variables, …}); -: standard input"},
    WAY_FLAGS,
    {0},
};
static const struct flag variable_flags[] = {VARIABLES_FLAG, WAY_FLAGS, {0}};
static const struct flag set_flags[] = {
    VARIABLES_FLAG,
    {"--activity", "ACTIVITY", "of what stands there alone; ACTIVITY#N: of the N-th", FLAG_MEMBER},
    {"--unset", "NAME", "take this variable away"},
    WAY_FLAGS,
    {0},
};
static const struct flag throw_flags[] = {
    VARIABLES_FLAG, {"--message", "TEXT", "what the error says", FLAG_MEMBER}, WAY_FLAGS, {0}};
static const struct flag cancel_flags[] = {
    {"--reason", "TEXT", "kept with its end", FLAG_MEMBER},
    {"--skip-listeners", NULL, "call no listeners", FLAG_MEMBER},
    {"--skip-mappings", NULL, "no outputs", FLAG_MEMBER},
    {"--skip-called", NULL, "the instances that it called go on", FLAG_MEMBER},
    {"--dry-run", NULL, "say what would end, end nothing", FLAG_MEMBER},
    WAY_FLAGS,
    {0}};
static const struct flag restart_flags[] = {
    START_FLAGS,
    {"--version", "N", "only if it ended on this version", FLAG_MEMBER},
    {"--into", "N", "the new one is of this version", FLAG_MEMBER},
    {"--initial", NULL, "with the variables of its start, not its last ones", FLAG_MEMBER},
    {"--no-key", NULL, "without its business key", FLAG_MEMBER},
    {"--skip-listeners", NULL, "call no listeners", FLAG_MEMBER},
    {"--skip-mappings", NULL, "no inputs and outputs", FLAG_MEMBER},
    {"--dry-run", NULL, "say what begins, start nothing", FLAG_MEMBER},
    WAY_FLAGS,
    {0},
};
static const struct flag modify_flags[] = {
    START_FLAGS,
    {"--cancel", "ACTIVITY", "end all instances of it; ACTIVITY#N: the N-th"},
    {"--skip-listeners", NULL, "call no listeners", FLAG_MEMBER},
    {"--skip-mappings", NULL, "no inputs and outputs", FLAG_MEMBER},
    {"--reason", "TEXT", "kept with its end, if it ends", FLAG_MEMBER},
    {"--dry-run", NULL, "say what it would do, change nothing", FLAG_MEMBER},
    WAY_FLAGS,
    {0},
};
static const struct flag message_flags[] = {
    VARIABLES_FLAG,
    {"--key", "TEXT", "what the receiver waits for with the name", FLAG_MEMBER | FLAG_ONE},
    {"--business-key", "TEXT", "an instance of this business key, or a new one with it",
     FLAG_MEMBER | FLAG_ONE},
    {"--instance", "ID", "only this instance", FLAG_ONE},
    {"--token", "N", "only this of its tokens, as \"instance show --json\" has them", FLAG_ONE},
    {"--starts", NULL, "only start events", FLAG_MEMBER | FLAG_ONE},
    {"--all", NULL, "to every one that waits, and start events", FLAG_MEMBER | FLAG_ONE},
    {"--keep", "SPAN", "so long, if nothing waits for it yet", FLAG_MEMBER | FLAG_ONE},
    {"--local", NULL, "the variables are of what it triggers, and go with it", FLAG_ONE},
    {"--from", "FILE", "one JSON object a line ({key, variables, …}); -: standard input"},
    WAY_FLAGS,
    {0},
};

const struct cli_command process_order_commands[] = {
    {"process start",
     "KEY [name=value …] [--key TEXT [--unique]] [--version N] [--before ACTIVITY …] [--from FILE]",
     "start an instance of a process",
     "Runs it here until it waits, and prints its id. Its jobs run where \"run\" runs.\n"
     "A value is JSON if it reads as JSON, else a text. --from starts many, a thousand in a\n"
     "transaction: an error says how many are started.\n" ELSEWHERE,
     start_flags, 1, -1, false, false, start_run},
    {"instance set", "ID name=value … [--activity ACTIVITY] [--unset NAME]",
     "set variables of an instance",
     "A value is JSON if it reads as JSON, else a text.\n" ELSEWHERE, set_flags, 1, -1, false,
     false, set_run},
    {"instance trigger", "ID [ACTIVITY] [name=value …]", "let a receive task go on",
     "Of one that waits for no message. Without ACTIVITY, the only one that waits so.\n" ELSEWHERE,
     variable_flags, 1, -1, false, false, trigger_run},
    {"instance cancel", "ID [--reason TEXT]", "end an instance and all that it waits for",
     ELSEWHERE, cancel_flags, 1, 1, false, false, cancel_run},
    {"instance modify", "ID --start-before ACTIVITY [name=value …] --cancel ACTIVITY …",
     "start and cancel activities of an instance",
     "All operations in their order, or none. What follows them runs here.\n" ELSEWHERE,
     modify_flags, 1, -1, false, false, modify_run},
    {"instance restart", "ID … --start-before ACTIVITY [name=value …] [--initial] [--no-key]",
     "begin a new instance like one that has ended",
     "With its variables and its business key. Prints the id of the new one. Of several ids all\n"
     "begin, or none.\n" ELSEWHERE,
     restart_flags, 1, -1, false, false, restart_run},
    {"task complete", "ID … [name=value …]", "complete tasks, with variables",
     "Runs the instance here until it waits. If a handler fails, the task stays open. Of several\n"
     "ids all are completed, each with the variables, or none.\n" ELSEWHERE,
     variable_flags, 1, -1, false, false, complete_run},
    {"task throw", "ID CODE [name=value …] [--message TEXT]", "end a task with a BPMN error",
     "The event that catches the code goes on. If none does, the task ends.\n" ELSEWHERE,
     throw_flags, 2, -1, false, false, throw_run},
    {"task escalate", "ID CODE [name=value …]", "escalate a task",
     "It stays open, unless the event that catches the code interrupts it. If none does,\n"
     "nothing is done.\n" ELSEWHERE,
     variable_flags, 2, -1, false, false, escalate_run},
    {"message",
     "NAME [--key TEXT] [--business-key TEXT] [--instance ID] [--all] [--keep SPAN] [name=value …]",
     "send a message to the one that waits for it",
     "A message that starts a process starts it. If none or several wait, nothing is sent; with\n"
     "--all, every one gets it; with --keep, the next that waits for it. --from gives many, a\n"
     "thousand in a transaction.\n" ELSEWHERE,
     message_flags, 1, -1, false, false, message_run},
    {"signal", "NAME [--instance ID [--token N]] [--tenant TEXT] [name=value …]",
     "send a signal to all that wait for it",
     "Processes that it starts are started. All go on here, or none; of more than a hundred, each\n"
     "gets it by a job.\n" ELSEWHERE,
     signal_flags, 1, -1, false, false, signal_run},
    {"conditions", "name=value … [--process KEY] [--key TEXT]",
     "start the processes whose conditions hold with these",
     "Looks at the start events with a condition, of the newest versions, and prints the ids of\n"
     "what starts.\n" ELSEWHERE,
     conditions_flags, 0, -1, false, false, conditions_run},
    {0},
};
