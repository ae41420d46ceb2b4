/* replace.h - a new job whose unique key a waiting one holds: that one becomes it (rules §20). */
#pragma once

#include "store/rules/ground/row.h"

/* Payload, due date (with its cycle) and priority of `spec` are those of the job `holder`, which is
 * not locked. */
bool replace_job(struct store *store, const struct job_spec *spec, int64_t holder, time_ms now,
                 struct error *error);
