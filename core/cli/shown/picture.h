/* picture.h - a process as a tree in text, with what stands at its activities. */
#pragma once

#include "base/error.h"
#include <jansson.h>

/* Adds to a row of the report, whose `picture` has its activities, where its instances stand:
 * `version`, `instances`, `suspended`, and to its activities `at` and `incidents`. They are taken
 * from `standing`, the answer of ASK_STANDING, which is taken over. Of a process that is not
 * deployed it is json null, and so is `version`. NULL: it could not be asked. */
bool picture_count(json_t *process, json_t *standing, struct error *error);

/* Prints the row. */
bool picture_print(const json_t *process, struct error *error);
