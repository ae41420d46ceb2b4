/* why_condition.h - what a condition that is waited for says, and what its variables are. */
#pragma once

#include "base/text.h"
#include "store/rules/ground/state.h"

/* What a version keeps of its conditions, by their activities: { text, names }. A new reference;
 * NULL: nothing, or error. */
json_t *why_conditions(struct store *store, int64_t instance, struct error *error);
/* Adds " ${stock < 5} (stock is 9)" for the condition of an activity, as it is seen from the place
 * with this number; nothing for a function. */
bool why_condition_say(struct text *text, const json_t *conditions, const char *activity,
                       const char *frame, int64_t place, struct error *error);
/* Adds "l is 5, x is 1", at most ten; nothing of none. */
void why_values_say(struct text *text, json_t *values);
