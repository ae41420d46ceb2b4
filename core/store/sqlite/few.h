/* few.h - finds the few jobs of a question through the narrow tables, where reading every wide row
 * of a large store would take seconds. */
#ifndef MOONSHIFT_STORE_SQLITE_FEW_H
#define MOONSHIFT_STORE_SQLITE_FEW_H

#include "store/rules/ask/query.h"
#include "store/rules/state.h"

/* Adds " AND j.id IN (…)" to a question that has a WHERE, if it is for suspended jobs, or for those
 * of some handlers or definitions, and there are few of them. Changes no answer. */
bool few_add(struct store *store, struct query *query, const json_t *wanted, struct error *error);

#endif
