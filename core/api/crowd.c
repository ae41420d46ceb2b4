#include "api/crowd.h"
#include "api/batch.h"
#include "api/batch_type.h"
#include "api/engine_state.h"
#include "base/json.h"

#define INVOCATIONS                                                                                \
    100 /* jobs that one job of the batch changes, unless its type has a setting                   \
         */

/* The batch that an order becomes. */
struct crowd {
    const char *type;
    json_t *config, *query; /* owned */
    const json_t *ids;      /* instead of a query */
    json_t *now;            /* owned; what is done at once, or NULL */
};

static void crowd_clear(struct crowd *crowd) {
    json_decref(crowd->config);
    json_decref(crowd->query);
    json_decref(crowd->now);
}

static bool is_dated(const json_t *order) {
    const json_t *at = json_object_get(order, "at");
    return at && !json_is_null(at);
}

bool crowd_is(const json_t *order) {
    struct order read;
    return order_read(&read, order, NULL) && !is_dated(order) && !read.goes_on &&
           (read.target == ORDER_JOBS || read.target == ORDER_DEFINITION ||
            read.target == ORDER_INSTANCE);
}

/* The order without what it is done to: the config of the batch. */
static json_t *config_of(const json_t *order) {
    static const char *const others[] = {"verb",     "ids",          "query",   "definition",
                                         "instance", "include_jobs", "cascade", "at"};
    json_t *config = json_copy((json_t *)(uintptr_t)order);
    const json_t *cascade = json_object_get(order, "cascade");
    bool of_date = json_is_true(cascade) && json_object_get(order, "due");
    for (size_t i = 0; config && i < sizeof others / sizeof *others; i++)
        json_object_del(config, others[i]);
    if (config && of_date)
        json_put(config, "cascade", json_true());
    return config;
}

/* The order for the definition or instance alone. */
static json_t *alone(const json_t *order, const char *flag) {
    json_t *now = json_copy((json_t *)(uintptr_t)order);
    if (now)
        json_put(now, flag, json_false());
    return now;
}

/* Only this reason is put or taken away; where jobs are activated, only those that have it. */
static void read_suspension(struct crowd *crowd, bool activates, const char *reason) {
    if (crowd->query && activates)
        json_put_text(crowd->query, "suspended_by", reason);
    if (crowd->config)
        json_put_text(crowd->config, "reason", reason);
}

static void read_definition(struct crowd *crowd, const struct order *order, const json_t *object) {
    crowd->query = json_pack("{ss}", "handler", order->definition);
    switch (order->verb) {
    case ORDER_OVERRIDE_PRIORITY:
        crowd->type = batch_type_of(ORDER_SET_PRIORITY);
        crowd->now = alone(object, "cascade");
        return;
    case ORDER_SET_DEFINITION_RETRIES:
        crowd->type = batch_type_of(ORDER_SET_RETRIES);
        json_put(crowd->query, "no_retries_left", json_true());
        return;
    default:
        crowd->type =
            batch_type_of(order->verb == ORDER_SUSPEND_DEFINITION ? ORDER_SUSPEND : ORDER_ACTIVATE);
        crowd->now = alone(object, "include_jobs");
        read_suspension(crowd, order->verb == ORDER_ACTIVATE_DEFINITION, "definition");
    }
}

static void read_instance(struct crowd *crowd, const struct order *order, const json_t *object) {
    bool suspends = order->verb == ORDER_SUSPEND_INSTANCE;
    crowd->type = batch_type_of(suspends ? ORDER_SUSPEND : ORDER_ACTIVATE);
    crowd->query = json_pack("{ss}", "instance", order->instance);
    read_suspension(crowd, !suspends, "instance");
    crowd->now = alone(object, "include_jobs");
}

static bool crowd_read(struct crowd *crowd, const json_t *object, struct error *error) {
    struct order order;
    *crowd = (struct crowd){.config = config_of(object)};
    if (!order_read(&order, object, error))
        return false;
    if (order.target == ORDER_DEFINITION)
        read_definition(crowd, &order, object);
    else if (order.target == ORDER_INSTANCE)
        read_instance(crowd, &order, object);
    else
        crowd->type = batch_type_of(order.verb);
    crowd->ids = order.ids;
    if (order.query)
        crowd->query = json_incref((json_t *)(uintptr_t)order.query);
    if (crowd->query && crowd->config) /* by the time it is done some have ended */
        json_put(crowd->config, "ignore_missing", json_true());
    return (crowd->config && (crowd->query || crowd->ids)) ||
           error_set(error, ERROR_FAILED, "out of memory");
}

static bool at_once(struct engine *engine, const json_t *order, struct error *error) {
    struct store_operated operated = {0};
    if (!order)
        return true;
    bool done =
        store_begin(engine->store, error) &&
        engine_end(engine,
                   store_operate(engine->store, order, &operated, engine_now(engine), error),
                   error);
    json_decref(operated.rest);
    return done;
}

static json_t *spec_of(const struct engine *engine, const struct crowd *crowd) {
    const json_t *by_type = engine->options.settings->invocations_by_type;
    json_t *spec = json_pack("{sssO}", "type", crowd->type, "config", crowd->config);
    if (spec && !json_object_get(by_type, crowd->type))
        json_put(spec, "invocations", json_integer(INVOCATIONS));
    return spec;
}

bool crowd_operate(struct engine *engine, json_t *order, struct engine_operated *operated,
                   struct error *error) {
    struct crowd crowd;
    json_t *spec = NULL;
    bool done =
        crowd_read(&crowd, order, error) && at_once(engine, crowd.now, error) &&
        ((spec = spec_of(engine, &crowd)) || error_set(error, ERROR_FAILED, "out of memory")) &&
        engine_batch_create(engine, spec, crowd.ids, crowd.query, operated, error);
    json_decref(spec);
    crowd_clear(&crowd);
    return done;
}
