/* instance.c - suspends and activates an instance: its jobs and those created later (rules §12). */
#include "cli/command.h"
#include "cli/operate.h"

static const struct flag instance_flags[] = {
    {"--at", "TIME", "then, not now", FLAG_MEMBER},
    {"--hierarchy", NULL, "of a process instance: those that it called, too", FLAG_MEMBER},
    COMMAND_FLAGS,
    {0},
};

const struct cli_command instance_commands[] = {
    {"instance suspend", "KEY|ID [--at TIME] [--hierarchy]", "suspend its jobs, and later ones", "",
     instance_flags, 1, 1, false, false, operate_run},
    {"instance activate", "KEY|ID [--at TIME] [--hierarchy]", "end its suspension, and its jobs'",
     "", instance_flags, 1, 1, false, false, operate_run},
    {0},
};
