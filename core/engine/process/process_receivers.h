/* process_receivers.h - what is said of a message or signal that cannot reach what it is for. */
#pragma once

#include "base/error.h"
#include <jansson.h>

/* Of the command "message" and the rows of ASK_RECEIVERS. False: error. */
bool process_receivers_refuse(const json_t *command, const json_t *rows, struct error *error);

/* Of the command "signal" to an instance or to one of its tokens, which does not wait for it.
 * False.
 */
bool process_receivers_no_signal(const json_t *command, struct error *error);

/* A message that is kept as a row, or given to many, has its variables alone. False: it has others.
 * `with` is the member that makes it so. */
bool process_receivers_many(const json_t *command, const char *with, struct error *error);
