/* act.c - what an operator does to jobs, by ids or by filters (rules §11). */
#include "cli/command.h"
#include "cli/confirm.h"
#include "cli/operate.h"

static const struct flag act_flags[] = {COMMAND_FLAGS, FILTERS_OF(ASK_JOBS), {0}};

static const struct flag lose_flags[] = {CONFIRM_FLAG, COMMAND_FLAGS, FILTERS_OF(ASK_JOBS), {0}};

static const struct flag retry_flags[] = {
    {"--retries", "N", "runs left (else the configured number)", FLAG_MEMBER},
    {"--due", "TIME", "not before this instant; none: at once", FLAG_MEMBER},
    COMMAND_FLAGS,
    FILTERS_OF(ASK_JOBS),
    {0},
};

static const struct flag due_flags[] = {
    {"--cascade", NULL, "move the later occurrences of a repeating job by the same span",
     FLAG_MEMBER},
    COMMAND_FLAGS,
    FILTERS_OF(ASK_JOBS),
    {0},
};

static const struct flag recalculate_flags[] = {
    {"--from-creation", NULL, "count from the creation, not from now", FLAG_MEMBER},
    COMMAND_FLAGS,
    FILTERS_OF(ASK_JOBS),
    {0},
};

static const struct flag cycle_flags[] = {
    {"--zone", "NAME", "of the cycle, such as Europe/Berlin (else the job keeps its own)",
     FLAG_MEMBER},
    {"--misfire", "POLICY", "once, all or skip; of missed dates (else the job keeps its own)",
     FLAG_MEMBER},
    COMMAND_FLAGS,
    FILTERS_OF(ASK_JOBS),
    {0},
};

#define SELECTS                                                                                    \
    "By ids, or by the filters of job list. Up to 1000 jobs all or nothing; more are done by a\n"  \
    "batch, which an executor runs."

#define ASKS                                                                                       \
    "\nAsks before it does so to more than one job found by filters, if input and output are a\n"  \
    "terminal."

const struct cli_command act_commands[] = {
    {"job retry", "ID…|FILTERS [--retries N] [--due TIME]", "give dead jobs runs again",
     "Their incidents are resolved.\n" SELECTS, retry_flags, 0, -1, false, false, operate_run},
    {"job delete", "ID…|FILTERS", "delete jobs that do not run", SELECTS ASKS, lose_flags, 0, -1,
     false, false, operate_run},
    {"job cancel", "ID…|FILTERS", "cancel jobs, waiting or running", SELECTS ASKS, lose_flags, 0,
     -1, false, false, operate_run},
    {"job dead", "ID…|FILTERS", "give jobs up: no retries, an incident", SELECTS, act_flags, 0, -1,
     false, false, operate_run},
    {"job suspend", "ID…|FILTERS", "keep jobs from being run", SELECTS, act_flags, 0, -1, false,
     false, operate_run},
    {"job activate", "ID…|FILTERS", "let suspended jobs run again", SELECTS, act_flags, 0, -1,
     false, false, operate_run},
    {"job priority", "N ID…|FILTERS", "set the priority of jobs", SELECTS, act_flags, 1, -1, false,
     false, operate_run},
    {"job due", "TIME|none ID…|FILTERS [--cascade]", "set the due date of jobs", SELECTS, due_flags,
     1, -1, false, false, operate_run},
    {"job recalculate", "ID…|FILTERS [--from-creation]", "count the due date of timers anew",
     "From the date or duration they were created with; a repeating job gets its cycle's next\n"
     "date. " SELECTS,
     recalculate_flags, 0, -1, false, false, operate_run},
    {"job cycle", "CYCLE ID…|FILTERS [--zone NAME] [--misfire POLICY]",
     "give repeating jobs that wait another cycle",
     "CYCLE is such as R/PT2H or \"0 3 * * *\"; the next date is counted from now. A job of a\n"
     "schedule is refused: its file says when. " SELECTS,
     cycle_flags, 1, -1, false, false, operate_run},
    {0},
};
