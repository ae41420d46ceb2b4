/* columns.h - the table of each kind of rows, beside the code that reads them. A new column of a
 * kind whose columns have SQL is one line there. */
#ifndef MOONSHIFT_STORE_RULES_GROUND_COLUMNS_H
#define MOONSHIFT_STORE_RULES_GROUND_COLUMNS_H

#include "job/ask.h"

extern const struct ask_table job_table, definition_table, incident_table, log_table,
    operation_table, batch_table, instance_table, process_table, version_table,
    process_instance_table, past_table, trail_table, task_table, subscription_table,
    kept_message_table, schedule_table, date_table, deployment_table, executor_table,
    unserved_table;

#endif
