/* request_metrics.h - what a face has been asked: how many requests by route and status, how long
 * their answers took, and which fetches wait now (docs/monitoring.md).
 *
 * The door's thread counts; any thread reads meanwhile. */
#pragma once

#include "base/histogram.h"
#include "http/wire/exchange.h"

enum { REQUEST_STATUSES = 24 }; /* different ones of a route */

struct request_metrics;

/* The requests of a route. A status of 0 ends the list. */
struct route_requests {
    struct histogram seconds; /* from the first byte to the answer; a fetch that waits included */
    struct {
        _Atomic int64_t status, count;
    } answered[REQUEST_STATUSES];
};

/* NULL: no memory. */
struct request_metrics *request_metrics_new(void);
/* Behind the door. NULL is fine. */
void request_metrics_free(struct request_metrics *metrics);

/* ---- the door's thread ---- */

/* The answer of an exchange is there and will be written. */
void request_metrics_answered(struct request_metrics *metrics, const struct exchange *exchange);
/* An exchange waits for these topics (`change`: 1), or no more (-1). */
void request_metrics_parked(struct request_metrics *metrics, const json_t *topics, int change);

/* ---- any thread ---- */

/* Of the route number `at` of the table, from 1 on; 0: all that no route answers. NULL: nothing. */
const struct route_requests *request_metrics_route(const struct request_metrics *metrics,
                                                   size_t at);
/* { topic = fetches that wait }: a new reference. NULL: no memory. */
json_t *request_metrics_waiting(struct request_metrics *metrics);
