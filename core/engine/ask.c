#include "engine/engine_state.h"

json_t *engine_ask(struct engine *engine, enum ask_kind kind, const json_t *question,
                   struct error *error) {
    json_t *asked = question ? engine_resolve_times(engine, question, error) : NULL;
    json_t *answer = NULL;
    if (asked || !question)
        answer = store_ask(engine->store, kind, asked, engine_now(engine), error);
    json_decref(asked);
    return answer;
}

json_t *engine_ask_of(struct engine *engine, enum ask_kind kind, json_t *question,
                      struct error *error) {
    json_t *answer = engine && question ? engine_ask(engine, kind, question, error) : NULL;
    if (engine && !question)
        error_no_memory(error);
    json_decref(question);
    return answer;
}

json_t *engine_ask_id(struct engine *engine, enum ask_kind kind, int64_t id, struct error *error) {
    return engine_ask_of(engine, kind, json_pack("{sI}", "id", (json_int_t)id), error);
}

const char *engine_ask_warning(struct engine *engine) {
    return store_passed_over(engine->store) ? STORE_PASSED_OVER : NULL;
}

const struct ask_table *engine_ask_table(enum ask_kind kind) {
    return store_ask_table(kind);
}

struct store_tail *engine_tail_new(struct engine *engine, const json_t *filters, int count,
                                   json_t **last, struct error *error) {
    return store_tail_new(engine->store, filters, count, last, engine_now(engine), error);
}

json_t *engine_tail_next(struct engine *engine, struct store_tail *tail, struct error *error) {
    return store_tail_next(tail, engine_now(engine), error);
}

void engine_tail_free(struct store_tail *tail) {
    store_tail_free(tail);
}

const char *engine_path(const struct engine *engine) {
    return store_name(engine->store);
}

time_ms engine_lag(struct engine *engine) {
    return store_lag(engine->store);
}

bool engine_stalled(struct engine *engine, struct error *why) {
    return store_stalled(engine->store, why);
}

bool engine_has_deployed(struct engine *engine, const char *handler) {
    int64_t deployment = 0;
    struct error ignored = {0};
    return store_knows(engine->store, handler, &deployment, &ignored) == YES && deployment != 0;
}

int64_t engine_lost(struct engine *engine, const char *handler) {
    int64_t since = 0;
    struct error ignored = {0};
    const struct generation *newest = engine->generations ? engine->generations->list[0] : NULL;
    if (!newest || newest->left_to || definitions_serve(&newest->definitions, handler))
        return 0;
    enum answer lost =
        store_lost(engine->store, handler, newest->name, newest->deployment, &since, &ignored);
    return lost == YES ? since : 0;
}
