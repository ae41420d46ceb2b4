/* process_operations.h - operations on an instance, as the words of a command line say them:
 * `--start-before pack sku=x --local --cancel approve`. */
#pragma once

#include "cli/words/flags.h"
#include <jansson.h>

/* Flags of operations that start something. */
#define START_FLAGS                                                                                \
    {"--start-before", "ACTIVITY", "begin it, with the name=value behind it"},                     \
        {"--start-after", "ACTIVITY", "take its only flow"},                                       \
        {"--start-flow", "FLOW", "take this flow"},                                                \
        {"--in", "SCOPE#N", "of the operation before it: in the N-th of this scope"}, {            \
        "--local", NULL, "of the operation before it: its variables are its own"                   \
    }

/* How many words stand before the first operation; what is behind belongs to operations. */
int process_operations_words(const struct flags *flags);
/* command.operations = them, in their order; none: nothing. */
bool process_operations_put(json_t *command, const struct flags *flags, struct error *error);
/* Says what each of them would do, or what a migration would; `told` is that of struct
 * engine_order. */
void process_operations_say(const json_t *told);
