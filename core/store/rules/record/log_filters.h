/* log_filters.h - what the job log is asked for (rules §16), in lists and in verbs. */
#pragma once

#include "store/rules/ground/query.h"

/* No number; a bare NULL would be taken for a text. */
#define LOG_NONE "CAST(NULL AS bigint)"

/* Of an ended row `e`. */
#define LOG_END                                                                                    \
    "SELECT e.job, CASE e.outcome WHEN 1 THEN 'successful' WHEN 2 THEN 'deleted'"                  \
    " WHEN 4 THEN 'skipped' ELSE 'cancelled'"                                                      \
    " END AS outcome, e.at, e.executor, e.started, e.attempt, e.retries, e.due, e.priority,"       \
    " " LOG_NONE " AS reason, e.message, e.result, e.stream, e.batch, e.removal, e.instance,"      \
    " e.root_instance, e.activity, e.tenant, e.lane_key, e.schedule, 3 AS rank, e.seq AS place"    \
    " FROM "
