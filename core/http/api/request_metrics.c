#include "http/api/request_metrics.h"
#include "base/json.h"
#include "base/thread.h"
#include "http/api/route.h"
#include <stdlib.h>

struct request_metrics {
    size_t count;       /* of routes, and one for what has none */
    struct mutex mutex; /* guards what follows */
    json_t *waiting;
    struct route_requests *_Atomic routes[];
};

struct request_metrics *request_metrics_new(void) {
    size_t count = 1;
    while (routes[count - 1].method)
        count++;
    struct request_metrics *metrics = calloc(1, sizeof *metrics + count * sizeof *metrics->routes);
    json_t *waiting = json_object();
    if (!metrics || !waiting) {
        free(metrics);
        json_decref(waiting);
        return NULL;
    }
    mutex_init(&metrics->mutex);
    metrics->count = count;
    metrics->waiting = waiting;
    return metrics;
}

void request_metrics_free(struct request_metrics *metrics) {
    if (!metrics)
        return;
    for (size_t i = 0; i < metrics->count; i++)
        free(atomic_load(&metrics->routes[i]));
    json_decref(metrics->waiting);
    mutex_free(&metrics->mutex);
    free(metrics);
}

/* NULL: no memory. */
static struct route_requests *requests_of(struct request_metrics *metrics, size_t at) {
    struct route_requests *requests = atomic_load(&metrics->routes[at]);
    if (!requests && (requests = calloc(1, sizeof *requests)))
        atomic_store(&metrics->routes[at], requests);
    return requests;
}

/* A status beyond the room is not counted by itself: an API has fewer. */
static void count_status(struct route_requests *requests, int status) {
    for (size_t i = 0; i < REQUEST_STATUSES; i++) {
        int64_t here = atomic_load(&requests->answered[i].status);
        if (here != 0 && here != status)
            continue;
        histogram_count(&requests->answered[i].count, 1);
        atomic_store(&requests->answered[i].status, status);
        return;
    }
}

void request_metrics_answered(struct request_metrics *metrics, const struct exchange *exchange) {
    size_t at = exchange->route < metrics->count ? exchange->route : 0;
    struct route_requests *requests = requests_of(metrics, at);
    if (!requests)
        return;
    histogram_add(&requests->seconds, clock_monotonic_us() - exchange->began);
    count_status(requests, exchange->status);
}

void request_metrics_parked(struct request_metrics *metrics, const json_t *topics, int change) {
    size_t i;
    const json_t *topic;
    mutex_lock(&metrics->mutex);
    json_array_foreach(topics, i, topic) {
        const char *name = json_string_value(topic);
        int64_t count = json_int(metrics->waiting, name) + change;
        if (count > 0)
            json_put(metrics->waiting, name, json_integer(count));
        else
            json_object_del(metrics->waiting, name);
    }
    mutex_unlock(&metrics->mutex);
}

const struct route_requests *request_metrics_route(const struct request_metrics *metrics,
                                                   size_t at) {
    return at < metrics->count ? atomic_load(&metrics->routes[at]) : NULL;
}

json_t *request_metrics_waiting(struct request_metrics *metrics) {
    mutex_lock(&metrics->mutex);
    json_t *copy = json_deep_copy(metrics->waiting);
    mutex_unlock(&metrics->mutex);
    return copy;
}
