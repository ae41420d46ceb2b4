/* log_filters.h - the filters of the job log, over the columns of an entry `g` (joblog.c). */
#ifndef MOONSHIFT_STORE_RULES_ASK_LOG_FILTERS_H
#define MOONSHIFT_STORE_RULES_ASK_LOG_FILTERS_H

#include "store/rules/ask/query.h"

extern const struct filter log_filters[]; /* ends with a NULL name */

#endif
