/* frame.h - what the frame of an instance says to people (its shape: lua/moonshift/process/
 * frame.lua). */
#pragma once

#include "base/error.h"
#include <jansson.h>

/* Adds to an object `variables`, those of the instance, and `large`: { name = number } of those
 * that have rows of their own. Adds `types`, if there are any, and `at`, where it stands:
 * [{ token, activity, state, count }]; `count` of turns that wait alike. What has ended and is
 * remembered for a compensation is in `remembered`. ERROR_DAMAGED: it is no frame. */
bool frame_show(json_t *object, const char *frame, struct error *error);

/* What a token sees: adds to `variables` its own and those of the scopes around it, the inner ones
 * first, and to `large` the same of those that have rows of their own. A name that is in one of
 * them stays as it is. `number`: in this frame. ERROR_DAMAGED: it is no frame. */
bool frame_variables(json_t *variables, json_t *large, const char *frame, int64_t number,
                     struct error *error);

/* All tokens: [{ token, scope, activity, state, count, more, around, own }], with those that only
 * watch for events, whose `scope` is what they watch beside. `around`: the scopes that they lie in,
 * from the inside out. NULL: ERROR_DAMAGED. */
json_t *frame_places(const char *frame, struct error *error);

/* The variables that are seen from a token or scope, as an object; large ones are "…". NULL:
 * ERROR_DAMAGED. */
json_t *frame_seen(const char *frame, int64_t number, struct error *error);

/* The turn outside of the frame of its caller that waits for the instance; 0: its caller's frame
 * has the token that does, or nothing waits. */
int64_t frame_caller(const char *frame);
