#include "engine/awaited.h"
#include "engine/engine_state.h"
#include "store/outside.h"

bool engine_listen(struct engine *engine, const json_t *topics, struct error *error) {
    return store_listen(engine->store, engine->options.settings->name, topics, engine_now(engine),
                        error);
}

int engine_bell(const struct engine *engine) {
    return store_bell(engine->store);
}

bool engine_heard(struct engine *engine) {
    return store_has_changes(engine->store);
}

bool engine_awaited(struct engine *engine, const json_t *topics, json_t **found, time_ms *wait,
                    struct error *error) {
    time_ms next = TIME_NEVER;
    const time_ms now = engine_now(engine);
    const bool done = store_awaited(engine->store, topics, now, found, &next, error);
    *wait = next == TIME_NEVER ? TIME_NEVER : next - now;
    return done;
}
