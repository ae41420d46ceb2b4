/* bulk.h - `enqueue --from`: a file of JSON objects, one a line, becomes jobs. */
#ifndef MOONSHIFT_CLI_BULK_H
#define MOONSHIFT_CLI_BULK_H

#include "api/engine.h"
#include "cli/receipt.h"

struct bulk_options {
    const char *path; /* "-": standard input */
    size_t line_max;  /* bytes */
    bool skip_bad;    /* leave bad lines out; else one bad line and nothing is written */
    bool unchecked;   /* handlers need not be known */
    bool interactive; /* show progress */
};

/* Two passes: the first reads and checks every line, the second writes. Bad lines are said on
 * standard error as they are met. False after a failed write: what `receipt` holds is in. */
bool bulk_enqueue(struct engine *engine, const struct bulk_options *options,
                  struct receipt *receipt, struct error *error);

#endif
