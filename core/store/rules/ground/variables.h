/* variables.h - the filter `variables` of instances and tasks: { name = condition }. A condition is
 * a value, or a list of values any of which it may be. It may also be a list of comparisons with
 * their values, { ">", 100, "<=", 500 }: all of them must hold. */
#pragma once

#include "store/rules/ground/query.h"

/* The filter's SQL is the column with the instance's id. */
filter_add filter_variables;
/* Refuses names that no version of a process searches, and says which there are. */
bool variables_known(struct store *store, const json_t *filters, struct error *error);
