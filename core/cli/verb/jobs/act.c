/* act.c - what an operator does to jobs, by ids or by filters (rules §11). */
#include "base/json.h"
#include "cli/command.h"
#include "cli/confirm.h"
#include "cli/list.h"
#include "cli/select.h"
#include <string.h>

static const struct flag act_flags[] = {COMMAND_FLAGS, FILTERS_OF(ASK_JOBS), {0}};

static const struct flag lose_flags[] = {CONFIRM_FLAG, COMMAND_FLAGS, FILTERS_OF(ASK_JOBS), {0}};

static const struct flag retry_flags[] = {
    {"--retries", "N", "runs left (else the configured number)"},
    {"--due", "TIME", "not before this instant; none: at once"},
    COMMAND_FLAGS,
    FILTERS_OF(ASK_JOBS),
    {0},
};

static const struct flag due_flags[] = {
    {"--cascade", NULL, "move the later occurrences of a repeating job by the same span"},
    COMMAND_FLAGS,
    FILTERS_OF(ASK_JOBS),
    {0},
};

static const struct flag recalculate_flags[] = {
    {"--from-creation", NULL, "count from the creation, not from now"},
    COMMAND_FLAGS,
    FILTERS_OF(ASK_JOBS),
    {0},
};

static const struct flag cycle_flags[] = {
    {"--zone", "NAME", "of the cycle, such as Europe/Berlin (else the job keeps its own)"},
    {"--misfire", "POLICY", "of missed dates: once, all or skip (else the job keeps its own)"},
    COMMAND_FLAGS,
    FILTERS_OF(ASK_JOBS),
    {0},
};

static bool retry_read(json_t *command, const struct flags *flags, struct error *error) {
    int64_t retries = -1;
    if (!flags_integer(flags, "--retries", 0, INT32_MAX, &retries, error))
        return false;
    if (retries >= 0)
        json_put(command, "retries", json_integer(retries));
    json_put_text(command, "verb", retries >= 0 ? "set_retries" : "retry");
    return !flags_has(flags, "--due") ||
           command_date(command, "due", flags_text(flags, "--due"), error);
}

static bool priority_read(json_t *command, const struct flags *flags, struct error *error) {
    int64_t priority;
    return flags_number("priority", flags->words[0], INT64_MIN, INT64_MAX, &priority, error) &&
           json_put(command, "priority", json_integer(priority));
}

static bool due_read(json_t *command, const struct flags *flags, struct error *error) {
    return command_date(command, "due", flags->words[0], error) &&
           json_put(command, "cascade", json_boolean(flags_has(flags, "--cascade")));
}

static bool recalculate_read(json_t *command, const struct flags *flags, struct error *error) {
    return json_put(command, "from_creation", json_boolean(flags_has(flags, "--from-creation"))) ||
           error_no_memory(error);
}

static bool cycle_read(json_t *command, const struct flags *flags, struct error *error) {
    const char *zone = flags_text(flags, "--zone"), *misfire = flags_text(flags, "--misfire");
    return (json_put_text(command, "cycle", flags->words[0]) &&
            (!zone || json_put_text(command, "zone", zone)) &&
            (!misfire || json_put_text(command, "misfire", misfire))) ||
           error_no_memory(error);
}

static const struct act {
    const char *name;
    const char *verb; /* of the command */
    const char *done; /* "3 jobs …" */
    int own;          /* words before the ids */
    bool (*read)(json_t *command, const struct flags *flags, struct error *error);
} acts[] = {
    {"job retry", "retry", "retried", 0, retry_read},
    {"job delete", "delete", "deleted", 0, NULL},
    {"job cancel", "cancel", "cancelled", 0, NULL},
    {"job dead", "dead_letter", "given up", 0, NULL},
    {"job suspend", "suspend", "suspended", 0, NULL},
    {"job activate", "activate", "activated", 0, NULL},
    {"job priority", "set_priority", "changed", 1, priority_read},
    {"job due", "set_due", "changed", 1, due_read},
    {"job recalculate", "recalculate_due", "changed", 0, recalculate_read},
    {"job cycle", "set_cycle", "changed", 1, cycle_read},
};

static bool act_run(struct cli *cli, const struct flags *flags, struct error *error) {
    const struct act *act = acts;
    while (strcmp(act->name, flags->command->name) != 0)
        act++;
    json_t *command = json_pack("{ss}", "verb", act->verb);
    if (command && select_read(command, flags, act->own, error) &&
        (!act->read || act->read(command, flags, error)))
        return give_command(cli, flags, command, act->done, error);
    json_decref(command);
    return command ? false : error_no_memory(error);
}

#define SELECTS                                                                                    \
    "By ids, or by the filters of job list. Up to 1000 jobs all or nothing; more are done by a\n"  \
    "batch, which an executor runs."

#define ASKS                                                                                       \
    "\nAsks before it does so to more than one job found by filters, if input and output are a\n"  \
    "terminal."

const struct cli_command act_commands[] = {
    {"job retry", "ID…|FILTERS [--retries N] [--due TIME]", "give dead jobs runs again",
     "Their incidents are resolved.\n" SELECTS, retry_flags, 0, -1, false, false, act_run},
    {"job delete", "ID…|FILTERS", "delete jobs that do not run", SELECTS ASKS, lose_flags, 0, -1,
     false, false, act_run},
    {"job cancel", "ID…|FILTERS", "cancel jobs, waiting or running", SELECTS ASKS, lose_flags, 0,
     -1, false, false, act_run},
    {"job dead", "ID…|FILTERS", "give jobs up: no retries, an incident", SELECTS, act_flags, 0, -1,
     false, false, act_run},
    {"job suspend", "ID…|FILTERS", "keep jobs from being run", SELECTS, act_flags, 0, -1, false,
     false, act_run},
    {"job activate", "ID…|FILTERS", "let suspended jobs run again", SELECTS, act_flags, 0, -1,
     false, false, act_run},
    {"job priority", "N ID…|FILTERS", "set the priority of jobs", SELECTS, act_flags, 1, -1, false,
     false, act_run},
    {"job due", "TIME|none ID…|FILTERS [--cascade]", "set the due date of jobs", SELECTS, due_flags,
     1, -1, false, false, act_run},
    {"job recalculate", "ID…|FILTERS [--from-creation]", "count the due date of timers anew",
     "From the date or duration they were created with; a repeating job gets its cycle's next\n"
     "date. " SELECTS,
     recalculate_flags, 0, -1, false, false, act_run},
    {"job cycle", "CYCLE ID…|FILTERS [--zone NAME] [--misfire POLICY]",
     "give repeating jobs that wait another cycle",
     "CYCLE is such as R/PT2H or \"0 3 * * *\"; the next date is counted from now. A job of a\n"
     "schedule is refused: its file says when. " SELECTS,
     cycle_flags, 1, -1, false, false, act_run},
    {0},
};
