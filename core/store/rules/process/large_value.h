/* large_value.h - variables that are too large for the frame, in rows of their own (rules §23).
 * Those of the outermost scope stay as long as the instance is in the history. */
#pragma once

#include "job/unit.h"
#include "store/rules/ground/state.h"

bool large_value_write(struct store *store, const struct unit_value *one, struct error *error);
/* Removes all of an instance. */
bool large_values_remove(struct store *store, int64_t instance, struct error *error);
bool large_values_remove_range(struct store *store, int64_t instance, struct token_range tokens,
                               struct error *error);

/* Of { instance, number }: { value }, or { gone } with words. A new reference. */
json_t *large_value_ask(struct store *store, const json_t *question, struct error *error);
/* Adds those of an instance to its variables: the numbers in `large`; NULL: all that there are. */
bool large_values_show(struct store *store, json_t *variables, int64_t instance,
                       const json_t *large, struct error *error);

/* Adds to `found` a text for each row that the frame does not name, and the reverse. `turn`: whose
 * frame it is; 0: the instance's. */
bool large_values_verify(struct store *store, int64_t instance, int64_t turn, const json_t *frame,
                         json_t *found, struct error *error);
