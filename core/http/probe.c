#include "http/probe.h"
#include "http/wire/reply.h"
#include <string.h>

enum probe probe_of(const struct exchange *exchange) {
    bool asks = strcmp(exchange->method, "GET") == 0 || strcmp(exchange->method, "HEAD") == 0;
    if (!asks || exchange->part_count != 2 || strcmp(exchange->parts[0], "health") != 0)
        return PROBE_NONE;
    if (strcmp(exchange->parts[1], "live") == 0)
        return PROBE_LIVE;
    return strcmp(exchange->parts[1], "ready") == 0 ? PROBE_READY : PROBE_NONE;
}

static void say(struct exchange *exchange, const char *text) {
    exchange->status = 200;
    exchange->text = strdup(text);
    exchange->text_length = exchange->text ? strlen(text) : 0;
}

void probe_live(struct exchange *exchange) {
    say(exchange, "{\"status\":\"live\"}");
}

static bool store_answers(struct engine *engine, struct error *error) {
    json_t *rows = engine_ask(engine, ASK_EXECUTORS, NULL, error);
    json_decref(rows);
    return rows && !engine_stalled(engine, error);
}

void probe_ready(struct exchange *exchange, struct engine *engine, const struct error *error) {
    struct error why = *error;
    if (engine && store_answers(engine, &why))
        say(exchange, "{\"status\":\"ready\"}");
    else
        reply_problem(exchange, 503, why.text);
}
