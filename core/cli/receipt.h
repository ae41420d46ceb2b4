/* receipt.h - what `enqueue` answers: the id, or how many and from where to where, or all ids. */
#pragma once

#include "cli/cli.h"
#include "engine/engine.h"
#include <jansson.h>

struct receipt {
    bool json;
    bool all;    /* --ids */
    bool single; /* one job was asked for: its id alone */
    bool skips;  /* --skip-bad: say how many lines were left out */
    int64_t count, skipped;
    int64_t kept, replaced; /* of those, whose unique key another job held */
    struct receipt_run {
        int64_t first, count; /* ids in a row */
    } * runs;
    size_t run_count;
    bool joins; /* the last run may go on */
};

/* receipt_clear in any case afterwards. */
void receipt_start(struct receipt *receipt, const struct cli *cli, const struct flags *flags);

/* Jobs that are written now, or were there. */
bool receipt_add(struct receipt *receipt, const struct created *created, size_t count,
                 struct error *error);

/* The job at this place of what was added has become something else. Places must rise from call to
 * call; *run and *at are 0 before the first. */
void receipt_change(struct receipt *receipt, size_t *run, size_t *at, size_t place,
                    const struct created *created);

/* What an answer to the same request needs, and the receipt from it. */
json_t *receipt_answer(const struct receipt *receipt);
bool receipt_take(struct receipt *receipt, const json_t *answer, struct error *error);

/* The one job that was asked for. */
int64_t receipt_job(const struct receipt *receipt);

/* Says that the one job was kept or replaced, if so, and prints its result. Takes the result over.
 */
bool receipt_print_result(const struct receipt *receipt, json_t *result, struct error *error);

/* To standard output. */
bool receipt_print(struct receipt *receipt, struct error *error);
void receipt_clear(struct receipt *receipt);
