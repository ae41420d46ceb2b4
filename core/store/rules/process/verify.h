/* verify.h - do frames and what waits agree? (rules §23) */
#ifndef MOONSHIFT_STORE_RULES_PROCESS_VERIFY_H
#define MOONSHIFT_STORE_RULES_PROCESS_VERIFY_H

#include "store/rules/state.h"

/* Adds a sentence to `found` for every token that waits for a job, a task or a subscription that is
 * not there, and for the reverse: at most a hundred. Reads the frames of shape 1, all of them. */
bool instances_verify(struct store *store, json_t *found, struct error *error);

#endif
