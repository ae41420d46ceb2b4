#include "http/api/service.h"
#include "base/trace.h"
#include "http/api/keyed.h"
#include "http/api/problem.h"
#include <stdlib.h>

enum { CLERK_READS = 65536 }; /* bytes of content at most: it holds up nobody */

enum worker_kind service_worker(struct exchange *exchange) {
    struct place place;
    const char *allow;
    const struct route *route = route_find(exchange, &place, &allow, NULL);
    exchange->route = route ? (size_t)(route - routes) + 1 : 0;
    if (route && route->worker == BY_CLERK && exchange->length > CLERK_READS)
        return BY_WALKER;
    return route ? route->worker : BY_DOOR;
}

/* Creations have their keys looked up where they are written (creation.h). */
static bool run(struct call *call, struct error *error) {
    const struct route *route = call->route;
    return route->keyed && route->body != BODY_JOBS ? keyed_run(call, error)
                                                    : route->run(call, error);
}

static bool answer(struct call *call, struct error *error) {
    struct exchange *exchange = call->exchange;
    call->route = route_find(exchange, &call->place, &exchange->allow, error);
    if (!call->route)
        return false;
    if (!caller_may(call->caller, call->route->scope)) {
        char needed[SCOPES_TEXT_SIZE];
        scopes_write(call->route->scope, needed);
        return error_set(error, ERROR_FORBIDDEN, "%s %.300s: the caller may not (expected %s)",
                         exchange->method, exchange->path, needed);
    }
    const char *trace = exchange_header(exchange, "traceparent");
    if (trace && !trace_check("traceparent", trace, error))
        return false;
    if (call->engine)
        engine_trace(call->engine, trace);
    if (call->engine)
        engine_act_as(call->engine, call->caller->who[0] ? call->caller->who : NULL);
    return call_read(call, error) && run(call, error);
}

void service_answer(struct engine *engine, const struct caller *caller, struct figures *figures,
                    struct exchange *exchange) {
    struct call call = {
        .engine = engine, .caller = caller, .figures = figures, .exchange = exchange};
    struct error error = {0};
    if (!answer(&call, &error))
        problem_answer(exchange, &error);
    if (engine)
        engine_trace(engine, NULL);
    if (engine)
        engine_act_as(engine, NULL);
    call_clear(&call);
}
