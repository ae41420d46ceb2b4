#include "store/rules/process/order.h"
#include "store/rules/ground/defined.h"
#include "store/rules/process/message.h"
#include <stdio.h>

bool order_create(struct store *store, struct store_order *order, time_ms now,
                  struct error *error) {
    char handler[JOB_NAME_MAX + 32];
    snprintf(handler, sizeof handler, "process/%s:command", order->key);
    struct job_spec spec = {.job = {.handler = handler,
                                    .instance_id = order->instance,
                                    .activity = order->instance ? order->activity : NULL,
                                    .retries = order->retries,
                                    .due = TIME_NONE,
                                    .exclusive = order->instance && !order->beside}};
    bool done = defined_create(store, &spec, order->cause, now, error);
    order->job = spec.reply.id;
    return done;
}

bool store_order(struct store *store, struct store_order *order, time_ms now, struct error *error) {
    return order->message ? message_order(store, order, now, error)
                          : order_create(store, order, now, error);
}
