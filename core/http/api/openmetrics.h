/* openmetrics.h - figures as Prometheus and others read them (OpenMetrics 1.0, or Prometheus' text
 * format 0.0.4). */
#pragma once

#include "base/text.h"
#include "http/api/request_metrics.h"
#include "run/durations.h"
#include <jansson.h>

enum metrics_form { METRICS_OPEN, METRICS_PROMETHEUS };

/* The form that a header `Accept` asks for; NULL: none came. */
enum metrics_form metrics_form(const char *accept);
/* The type of such an answer. */
const char *metrics_type(enum metrics_form form);

struct metrics_source {
    const json_t *stats;               /* of the store, as ASK_STATS answers them */
    const struct durations *durations; /* of the executor beside the face; NULL: there is none */
    struct request_metrics *requests;  /* of the face; NULL: it has no door */
    int64_t database;                  /* bytes of the store's file; 0: it is on a server */
};

/* Appends all of them, and what the process uses. Labels are bounded: the 200 handlers with the
 * most runs have their names, the rest together is "other"; and the same of topics. */
void openmetrics_write(struct text *out, const struct metrics_source *source,
                       enum metrics_form form);
