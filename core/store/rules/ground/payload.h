/* payload.h - the filter "payload": jobs by what is in their payload. */
#pragma once

#include "store/rules/ground/query.h"

/* Fields by their path; tables go deeper, a list is any of its values. */
bool payload_filter(struct query *query, const struct filter *filter, const json_t *value,
                    struct error *error);
