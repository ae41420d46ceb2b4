/* process_from.h - `process start --from` and `message --from`: a file of JSON objects, one a line,
 * becomes commands to processes. */
#pragma once

#include "engine/engine.h"

struct process_from {
    const char *path;        /* "-": standard input */
    const json_t *command;   /* what each line is added to */
    const char *const *keys; /* that a line may have, besides `variables`; ends with NULL */
    bool interactive;        /* show progress */
    /* out */
    json_t *ids;   /* of the instances, in the order of the lines; owned by the caller */
    int64_t count; /* commands that are written */
};

/* Two passes: the first checks every line, the second gives a thousand commands a transaction. An
 * error names the line; it says how many before it are written. */
bool process_from(struct process_from *from, struct engine *engine, struct engine_order *order,
                  struct error *error);
