/* openmetrics.h - the figures of a store as Prometheus and others read them (OpenMetrics 1.0, or
 * Prometheus' text format 0.0.4). Pure. */
#ifndef MOONSHIFT_HTTP_API_OPENMETRICS_H
#define MOONSHIFT_HTTP_API_OPENMETRICS_H

#include "base/text.h"
#include <jansson.h>

enum metrics_form { METRICS_OPEN, METRICS_PROMETHEUS };

/* The form that a header `Accept` asks for; NULL: none came. */
enum metrics_form metrics_form(const char *accept);
/* The type of such an answer. */
const char *metrics_type(enum metrics_form form);

/* Appends the figures of `stats`, as ASK_STATS answers them. Labels are bounded: the 200 handlers
 * with the most runs have their names, the rest together is "other". */
void openmetrics_write(struct text *out, const json_t *stats, enum metrics_form form);

#endif
