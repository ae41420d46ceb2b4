/* columns.h - the columns of each kind of rows, beside the code that reads them. A new column of a
 * kind whose columns have SQL is one line there. */
#ifndef MOONSHIFT_STORE_RULES_GROUND_COLUMNS_H
#define MOONSHIFT_STORE_RULES_GROUND_COLUMNS_H

#include "job/ask.h"

extern const struct ask_column job_columns[];
extern const struct ask_column definition_columns[];
extern const struct ask_column incident_columns[];
extern const struct ask_column log_columns[];
extern const struct ask_column operation_columns[];
extern const struct ask_column batch_columns[];
extern const struct ask_column instance_columns[];
extern const struct ask_column process_columns[];
extern const struct ask_column version_columns[];
extern const struct ask_column process_instance_columns[];
extern const struct ask_column past_columns[];
extern const struct ask_column trail_columns[];
extern const struct ask_column task_columns[];
extern const struct ask_column subscription_columns[];
extern const struct ask_column kept_message_columns[];
extern const struct ask_column schedule_columns[];
extern const struct ask_column date_columns[];
extern const struct ask_column deployment_columns[];
extern const struct ask_column executor_columns[];
extern const struct ask_column unserved_columns[];

#endif
