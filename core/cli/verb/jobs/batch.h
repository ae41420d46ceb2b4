/* batch.h - the parts of the verbs of batches. */
#pragma once

#include "cli/shown/batch_bar.h"
#include "cli/words/flags.h"

#define BATCH_WAIT_FLAG                                                                            \
    { "--wait", NULL, "wait until the batch is done; on a terminal, show how far it is" }

/* Runs `batch create`; batch_create.c. */
extern const struct flag batch_create_flags[];
bool batch_create_run(struct cli *cli, const struct flags *flags, struct error *error);
