/* batch.h - how a batch is shown to people: its row, a bar while it runs, what has failed. */
#ifndef MOONSHIFT_CLI_VERB_JOBS_BATCH_H
#define MOONSHIFT_CLI_VERB_JOBS_BATCH_H

#include "cli/words/flags.h"
#include "engine/engine.h"

#define BATCH_WAIT_FLAG                                                                            \
    { "--wait", NULL, "wait until the batch is done; on a terminal, show how far it is" }

/* One; NULL: error. */
json_t *batch_ask(struct engine *engine, int64_t id, struct error *error);

/* Says on standard error that it waits if no executor runs. */
void batch_note(struct engine *engine, int64_t id);

/* Returns once the batch has ended, or no executor runs that could end it (standard error says so).
 * False: ERROR_FAILED if all that is left of it has failed; or the store cannot be read. */
bool batch_wait(const struct cli *cli, struct engine *engine, int64_t id, struct error *error);

/* Runs `batch create`; batch_create.c. */
extern const struct flag batch_create_flags[];
bool batch_create_run(struct cli *cli, const struct flags *flags, struct error *error);

#endif
