/* verbs.h - the table of the program's verbs. Each file of verb/ and wait/ has one of its parts. */
#pragma once

#include "cli/words/flags.h"

/* The commands of each file, ended by a NULL name. */
extern const struct cli_command init_commands[], import_commands[], run_commands[],
    serve_commands[], health_commands[], check_commands[], enqueue_commands[], job_commands[],
    clone_commands[], act_commands[], why_commands[], wait_commands[], definition_commands[],
    instance_commands[], process_commands[], running_commands[], process_order_commands[],
    process_migrate_commands[], picture_commands[], store_commands[], backup_commands[],
    batch_commands[], incident_commands[], deployment_commands[], executor_commands[],
    history_commands[], cleanup_commands[], schedule_commands[], token_commands[], stats_commands[],
    top_commands[], bench_commands[], settings_commands[], completion_commands[], help_commands[];

/* All of them, in the order of --help; ended by NULL. */
extern const struct cli_command *const verb_groups[];

/* By its words: "job" "list", or "run" and anything. *words: how many it took. NULL: unknown. */
const struct cli_command *verb_find(const char *first, const char *second, int *words);

/* Why verb_find found nothing: an unknown verb, or a group without its second word. False. */
bool verb_unknown(const char *first, const char *second, struct error *error);
