#include "engine/once.h"
#include "engine/engine_state.h"

void engine_ask_under(struct engine *engine, struct engine_request *request) {
    engine->request = request;
}

/* Others may have come first while this one was walked. */
static bool is_new(struct engine *engine, struct error *error) {
    struct engine_request *request = engine->request;
    if (!request)
        return true;
    return engine_request_find(engine, request, error) &&
           (!request->found ||
            error_set(error, ERROR_CONFLICT, "request \"%s\": it is done", request->asked.key));
}

bool once_begin(struct engine *engine, struct error *error) {
    if (!store_begin(engine->store, STORE_COMMAND, error))
        return false;
    return is_new(engine, error) || engine_end(engine, false, error);
}

bool once_end(struct engine *engine, bool ok, struct error *error) {
    if (ok && engine->request)
        ok = store_requests_purge(engine->store, engine_now(engine), error) &&
             engine_request_keep(engine, engine->request, NULL, 0, error);
    return engine_end(engine, ok, error);
}
