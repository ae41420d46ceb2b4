/* order.c - operator's verbs as JSON: what is read is complete, and its rest reads as the same. */
#include "base/order.h"
#include "../fuzz.h"
#include "base/json.h"
#include "base/span.h"

static void complete(const struct order *order) {
    PROMISE(order->verb < ORDER_COUNT && strcmp(order->name, order_name(order->verb)) == 0);
    PROMISE(order->retries >= 0 && (!order->ids || !order->query));
    PROMISE(order->due == TIME_NONE || (order->due >= TIME_FIRST && order->due <= TIME_LAST));
    PROMISE(order->at == TIME_NONE || (order->at >= TIME_FIRST && order->at <= TIME_LAST));
}

static void goes_on(const json_t *object, const struct order *order) {
    struct error error = {0};
    struct order again;
    json_t *rest = order_rest(object, order);
    PROMISE(rest && order_read(&again, rest, &error));
    PROMISE(again.goes_on && again.verb == order->verb && again.entry == order->entry &&
            again.after == order->after && again.upto == order->upto && again.done == order->done);
    PROMISE(again.priority == order->priority && again.retries == order->retries &&
            again.due == order->due && again.removal == order->removal);
    json_decref(rest);
}

void fuzz_order(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct order order;
    json_t *object = json_read((const char *)data, size, "order", NULL);
    if (!object)
        return;
    if (order_read(&order, object, &error)) {
        complete(&order);
        goes_on(object, &order);
    } else
        fuzz_refusal(&error, NULL);
    json_decref(object);
}
