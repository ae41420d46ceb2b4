#include "engine/route.h"
#include "base/json.h"
#include "engine/engine_state.h"
#include "engine/generations.h"

static struct generation *newest(struct engine *engine) {
    struct generation *generation = engine->generations ? engine->generations->list[0] : NULL;
    return generation && generation->script ? generation : NULL;
}

const json_t *engine_route(struct engine *engine, const char *name) {
    const struct generation *generation = newest(engine);
    return generation ? script_route(generation->script, name) : NULL;
}

json_t *engine_route_answer(struct engine *engine, const json_t *asked, struct error *error) {
    struct generation *generation = newest(engine);
    if (!engine_idle(engine, error))
        return NULL;
    if (!engine_route(engine, json_text(asked, "name")))
        return error_null(
            error_set(error, ERROR_NOT_FOUND, "no route \"%.255s\"", json_text(asked, "name")));
    json_t *answer = script_answer(generation->script, asked, error);
    generation_freshen(generation);
    return answer;
}
