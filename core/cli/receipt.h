/* receipt.h - what `enqueue` answers: the id, or how many and from where to where, or all ids. */
#ifndef MOONSHIFT_CLI_RECEIPT_H
#define MOONSHIFT_CLI_RECEIPT_H

#include "api/engine.h"
#include "cli/flags.h"
#include <jansson.h>

struct receipt {
    bool json;
    bool all;    /* --ids */
    bool single; /* one job was asked for: its id alone */
    bool skips;  /* --skip-bad: say how many lines were left out */
    int64_t count, first, last, skipped;
    int64_t kept, replaced; /* of those, whose unique key another job held */
    json_t *ids;            /* with --ids and --json */
};

/* receipt_clear in any case afterwards. */
bool receipt_start(struct receipt *receipt, const struct cli *cli, const struct flags *flags,
                   struct error *error);

/* Jobs that are written now, or were there. */
bool receipt_add(struct receipt *receipt, const struct engine_created *created, size_t count,
                 struct error *error);

/* To standard output. */
bool receipt_print(struct receipt *receipt, struct error *error);
void receipt_clear(struct receipt *receipt);

#endif
