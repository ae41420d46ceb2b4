/* bulk.h - `enqueue --from`: a file of JSON objects, one a line, becomes jobs. */
#pragma once

#include "cli/receipt.h"
#include "cli/verb/jobs/lost.h"
#include "engine/engine.h"

struct bulk_options {
    const char *path;    /* "-": standard input */
    size_t line_max;     /* bytes */
    bool skip_bad;       /* leave bad lines out; else one bad line and nothing is written */
    bool unchecked;      /* handlers need not be known */
    bool interactive;    /* show progress */
    const char *request; /* the key it is asked for under; NULL: none */
    struct lost *lost;   /* notes the handlers of good lines; NULL: none */
};

/* Two passes: the first reads and checks every line, the second writes. Bad lines are said on
 * standard error as they are met. All or nothing: after an error, or a death, no job is there. */
bool bulk_enqueue(struct engine *engine, const struct bulk_options *options,
                  struct receipt *receipt, struct error *error);
