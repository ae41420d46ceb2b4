/* metric.h - what executors and workers outside have counted (rules §16): a row for each of them,
 * definition and count. Under the number 0 is what those counted that have no row any more. */
#pragma once

#include "store/rules/ground/state.h"

/* Adds to a count; definition 0: of all. */
bool metric_write(struct store *store, int64_t executor, int64_t definition, enum metric metric,
                  int64_t value, struct error *error);

/* Two statements before rows of executors go: their counts are added to those of the number 0, and
 * go. `executors`: an SQL text, such as "(SELECT id FROM executor WHERE id<=?1)". */
#define METRIC_FOLD(executors)                                                                     \
    "INSERT INTO metric(executor, definition, name, value)"                                        \
    " SELECT 0, definition, name, CAST(sum(value) AS BIGINT) FROM metric"                          \
    " WHERE executor IN " executors " GROUP BY definition, name"                                   \
    " ON CONFLICT(executor, definition, name) DO UPDATE SET value=metric.value+excluded.value"
#define METRIC_FORGET(executors) "DELETE FROM metric WHERE executor IN " executors
