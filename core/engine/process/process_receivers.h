/* process_receivers.h - what is said of a message that nothing, or more than one, waits for. */
#ifndef MOONSHIFT_ENGINE_PROCESS_PROCESS_RECEIVERS_H
#define MOONSHIFT_ENGINE_PROCESS_PROCESS_RECEIVERS_H

#include "base/error.h"
#include <jansson.h>

/* Of the command "message" and the rows of ASK_RECEIVERS. False: error. */
bool process_receivers_refuse(const json_t *command, const json_t *rows, struct error *error);

#endif
