#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/shown/progress.h"
#include "engine/maintenance.h"
#include <stdio.h>

static void backup_tell(void *arg, int64_t done, int64_t of) {
    progress_show(arg, "copying page", done, of);
}

static bool backup_run(struct cli *cli, const struct flags *flags, struct error *error) {
    const char *file = flags->words[0];
    struct progress progress = {.on = cli->interactive};
    struct store_backup backup = {
        .force = flags_has(flags, "--force"), .tell = backup_tell, .arg = &progress};
    bool fine = setup_settings(cli, flags, error) && setup_keeps(cli, error) &&
                engine_backup(&cli->settings, file, &backup, error);
    progress_end(&progress);
    if (!fine)
        return false;
    if (cli->json)
        return output_json(json_pack("{ss,sI}", "file", file, "bytes", (json_int_t)backup.bytes),
                           error);
    output_add("%s: %lld bytes, nothing is wrong\n", file, (long long)backup.bytes);
    return true;
}

static bool restored_say(const struct cli *cli, const struct store_restored *restored,
                         struct error *error) {
    const char *aside = restored->aside[0] ? restored->aside : NULL;
    if (cli->json)
        return output_json(json_pack("{ss,ss?,si}", "store", cli->settings.store, "aside", aside,
                                     "freed", restored->freed),
                           error);
    if (aside)
        output_add("the store that was there is now %s\n", aside);
    output_add("%s: restored, %d %s that ran can be taken again\n", cli->settings.store,
               restored->freed, restored->freed == 1 ? "job" : "jobs");
    return true;
}

static bool restore_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct store_restored restored;
    if (!setup_settings(cli, flags, error) || !setup_keeps(cli, error))
        return false;
    return engine_restore(&cli->settings, flags->words[0], &restored, error) &&
           restored_say(cli, &restored, error);
}

static const struct flag backup_flags[] = {
    {"--force", NULL, "replace a file of that name"},
    {0},
};

const struct cli_command backup_commands[] = {
    {"backup", "FILE [--force]", "copy the store while others work with it",
     "The copy is of one moment. It is checked and synced before it gets its name.", backup_flags,
     1, 1, false, false, backup_run},
    {"restore", "FILE", "make a backup the store",
     "Refused while executors or other processes have the store open. A store that is there is\n"
     "moved aside. Ids go on behind a gap of a million.",
     NULL, 1, 1, false, false, restore_run},
    {0},
};
