/* instance.c - suspends and activates an instance: its jobs and those created later; lists those
 * that are suspended (rules §12). */
#include "cli/command.h"
#include "cli/list.h"
#include "cli/table.h"
#include <string.h>

static const struct flag list_flags[] = {
    LIST_FLAGS("instance or since; the default is instance"),
    {"--instance", "NAME,…", "these instances"},
    {0},
};
#define LIST_FILTERS (list_flags + LIST_OWN_FLAGS)

static const struct flag instance_flags[] = {
    {"--at", "TIME", "then, not now"},
    COMMAND_FLAGS,
    {0},
};

static const struct column list_columns[] = {
    {"instance", "SUSPENDED INSTANCE", COLUMN_CUT},
    {"since", "SINCE", COLUMN_TIME},
    {0},
};

static const struct listing listing = {ASK_INSTANCES, list_columns, "suspended instances"};

static bool listed_run(struct cli *cli, const struct flags *flags, struct error *error) {
    return list_run(cli, flags, &listing, LIST_FILTERS, error);
}

static bool instance_run(struct cli *cli, const struct flags *flags, struct error *error) {
    bool suspends = strcmp(flags->command->name, "instance suspend") == 0;
    const char *at = flags_text(flags, "--at");
    json_t *command =
        json_pack("{ss,ss}", "verb", suspends ? "suspend_instance" : "activate_instance",
                  "instance", flags->words[0]);
    if (!command || !at || command_date(command, "at", at, error))
        return give_command(cli, flags, command, suspends ? "suspended" : "activated", error);
    json_decref(command);
    return false;
}

const struct cli_command instance_commands[] = {
    {"instance list", "[--instance KEY,…]", "list the instances that are suspended",
     "Other instances are not kept; job list --instance KEY has their jobs.", list_flags, 0, 0,
     false, false, listed_run},
    {"instance suspend", "KEY [--at TIME]", "suspend its jobs, and later ones", "", instance_flags,
     1, 1, false, false, instance_run},
    {"instance activate", "KEY [--at TIME]", "end its suspension, and its jobs'", "",
     instance_flags, 1, 1, false, false, instance_run},
    {0},
};
