/* commands.h - the door of verbs (rules §11): what commands.c, definitions.c and process.c share.
 * Verbs on other things have the headers of those. */
#pragma once

#include "store/rules/job/select.h"

/* A verb on a definition: first itself, then its jobs in steps. */
bool definition_command(struct store *store, struct command *command, struct step *step,
                        time_ms now, struct error *error);
/* A process with its start timers, or with all jobs of its instances. */
bool process_command(struct store *store, struct command *command, struct step *step, time_ms now,
                     struct error *error);
/* Who does a user task. */
bool task_command(struct store *store, const struct command *command, time_ms now,
                  struct error *error);
bool process_preview(struct store *store, const struct command *command, int64_t *count,
                     struct error *error);
bool task_preview(struct store *store, const struct command *command, int64_t *count,
                  struct error *error);
/* How many jobs they would touch; only read. */
bool definition_preview(struct store *store, const struct command *command, int64_t *count,
                        struct error *error);

/* What a job asked for with its success, in order (rules §12: a date is such a job). */
bool commands_of_success(struct store *store, const json_t *effects, const struct job *job,
                         time_ms now, struct error *error);
