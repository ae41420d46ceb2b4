/* instance.c - suspends and activates an instance: its jobs and those created later (rules §12). */
#include "cli/command.h"
#include <string.h>

static const struct flag instance_flags[] = {
    {"--at", "TIME", "then, not now"},
    {"--hierarchy", NULL, "of a process instance: those that it called, too"},
    COMMAND_FLAGS,
    {0},
};

static bool instance_run(struct cli *cli, const struct flags *flags, struct error *error) {
    bool suspends = strcmp(flags->command->name, "instance suspend") == 0;
    const char *at = flags_text(flags, "--at");
    json_t *command = json_pack(
        "{ss,ss,so*}", "verb", suspends ? "suspend_instance" : "activate_instance", "instance",
        flags->words[0], "hierarchy", flags_has(flags, "--hierarchy") ? json_true() : NULL);
    if (!command || !at || command_date(command, "at", at, error))
        return give_command(cli, flags, command, suspends ? "suspended" : "activated", error);
    json_decref(command);
    return false;
}

const struct cli_command instance_commands[] = {
    {"instance suspend", "KEY|ID [--at TIME] [--hierarchy]", "suspend its jobs, and later ones", "",
     instance_flags, 1, 1, false, false, instance_run},
    {"instance activate", "KEY|ID [--at TIME] [--hierarchy]", "end its suspension, and its jobs'",
     "", instance_flags, 1, 1, false, false, instance_run},
    {0},
};
