#include "store/rules/process/order.h"
#include "store/rules/ground/defined.h"
#include "store/rules/process/lane.h"
#include "store/rules/process/message.h"
#include <stdio.h>

/* A start waits as long as its version is suspended: the version is its execution. */
static int64_t version_of(const struct store_order *order) {
    return order->instance ? 0 : json_integer_value(json_object_get(order->cause, "version"));
}

/* The lane of its instance. What ends that has the one beside it: it does not wait for a run, but
 * for others that do the same. */
static bool lane_read(struct store *store, const struct store_order *order, int64_t *lane,
                      struct error *error) {
    *lane = 0;
    if (order->instance && lane_of(store, order->instance, lane, error) == FAILED)
        return false;
    if (order->beside)
        *lane = ~*lane;
    return true;
}

bool order_create(struct store *store, struct store_order *order, time_ms now,
                  struct error *error) {
    char handler[JOB_NAME_MAX + 32];
    snprintf(handler, sizeof handler, "process/%s:command", order->key);
    struct job_spec spec = {.job = {.handler = handler,
                                    .instance_id = order->instance,
                                    .execution = version_of(order),
                                    .activity = order->instance ? order->activity : NULL,
                                    .retries = order->retries,
                                    .trace = order->trace,
                                    .due = TIME_NONE,
                                    .exclusive = order->instance != 0}};
    bool done = lane_read(store, order, &spec.job.lane_id, error) &&
                defined_create(store, &spec, order->cause, now, error);
    order->job = spec.reply.id;
    return done;
}

bool store_order(struct store *store, struct store_order *order, time_ms now, struct error *error) {
    return order->message ? message_order(store, order, now, error)
                          : order_create(store, order, now, error);
}
