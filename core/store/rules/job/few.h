/* few.h - questions for jobs of which there are few, or none among the first: in a state, of some
 * handlers or definitions (rules §11). They are found through the narrow rows of their places,
 * where the database would read every wide row otherwise. */
#pragma once

#include "store/rules/ground/query.h"

/* Adds what narrows a question for jobs `j` with filters: " AND j.id …", or nothing. Changes no
 * answer. */
bool jobs_few(struct store *store, struct query *query, const json_t *wanted, struct error *error);
