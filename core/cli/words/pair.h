/* pair.h - a word NAME=VALUE of the command line. */
#pragma once

#include "base/error.h"
#include <jansson.h>

struct pair {
    char *name;
    json_t *value; /* as JSON if it reads as JSON, else the text */
    bool broken;   /* the text begins as an object, a list or a text of JSON does, and is none */
};

/* What is said of a variable whose value is broken; with its name. */
#define PAIR_BROKEN                                                                                \
    "warning: %s is a text: its value begins as JSON does, but cannot be read as JSON"

/* Takes the word apart; pair_clear in any case afterwards. False: ERROR_USAGE
 * `variable "x": expected name=value` of the words `what` and `expected`. */
bool pair_read(struct pair *pair, const char *word, const char *what, const char *expected,
               struct error *error);
void pair_clear(struct pair *pair);
