/* trail.h - what an instance has done, in words. */
#pragma once

#include "base/error.h"
#include <jansson.h>

/* Adds `what` to each row of a trail: its events as a text for people. Flows are left out, and an
 * activity that begins and ends in one row stands there once. */
bool trail_describe(json_t *rows, struct error *error);
