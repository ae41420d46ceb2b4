/* executor_row.h - what a row of ASK_EXECUTORS is. Executors stand there, and workers outside: they
 * fetch jobs over HTTP or by the module and are no process that anybody looks at. Pure. */
#ifndef MOONSHIFT_JOB_EXECUTOR_ROW_H
#define MOONSHIFT_JOB_EXECUTOR_ROW_H

#include <jansson.h>
#include <stdbool.h>

/* True for an executor, false for a worker outside. */
bool executor_row_runs(const json_t *row);
/* True for an executor of this state: "live", "draining", "overdue" or "gone". */
bool executor_row_is(const json_t *row, const char *state);

#endif
