/* instance.c - suspends and activates an instance: its jobs and those created later; lists those
 * that are suspended (rules §12). */
#include "cli/list.h"
#include "cli/operate.h"
#include "cli/setup.h"
#include "cli/table.h"
#include <string.h>

static const struct flag list_flags[] = {
    LIST_FLAGS("instance or since; the default is instance"),
    {"--instance", "NAME,…", "these instances"},
    {0},
};
#define LIST_FILTERS (list_flags + 3)

static const struct flag instance_flags[] = {
    {"--at", "TIME", "then, not now"},
    OPERATE_FLAGS,
    {0},
};

static const struct column list_columns[] = {
    {"instance", "SUSPENDED INSTANCE", COLUMN_CUT},
    {"since", "SINCE", COLUMN_TIME},
    {0},
};

static bool list_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct list list;
    struct store *store = NULL;
    bool fine = list_read(&list, flags, LIST_FILTERS, error) &&
                (store = setup_store(cli, flags, STORE_READ, error)) &&
                list_print_page(cli, &list, list_columns,
                                store_suspended_instances(store, list.filters, &list.page, error),
                                0, "suspended instances", error);
    store_close(store);
    list_clear(&list);
    return fine;
}

static bool instance_run(struct cli *cli, const struct flags *flags, struct error *error) {
    bool suspends = strcmp(flags->command->name, "instance suspend") == 0;
    const char *at = flags_text(flags, "--at");
    json_t *order =
        json_pack("{ss,ss}", "verb", suspends ? "suspend_instance" : "activate_instance",
                  "instance", flags->words[0]);
    if (!order || !at || operate_date(order, "at", at, error))
        return operate_run(cli, flags, order, suspends ? "suspended" : "activated", error);
    json_decref(order);
    return false;
}

const struct cli_command instance_commands[] = {
    {"instance list", "[--instance KEY,…]", "list the instances that are suspended",
     "Other instances are not kept; job list --instance KEY has their jobs.", list_flags, 0, 0,
     false, false, list_run},
    {"instance suspend", "KEY [--at TIME]", "suspend its jobs, and later ones", "", instance_flags,
     1, 1, false, false, instance_run},
    {"instance activate", "KEY [--at TIME]", "end its suspension, and its jobs'", "",
     instance_flags, 1, 1, false, false, instance_run},
    {0},
};
