#include "http/api/keyed.h"
#include "base/json.h"
#include <sha2.h>
#include <stdlib.h>
#include <string.h>

bool keyed_read(const struct call *call, const char *hash, struct engine_request *request,
                struct error *error) {
    const char *key = exchange_header(call->exchange, "idempotency-key");
    const size_t size = key ? strlen(key) : 0;
    if (key && (size == 0 || size > JOB_NAME_MAX))
        return error_set(error, ERROR_INVALID, "Idempotency-Key: expected a text of 1 to %d bytes",
                         JOB_NAME_MAX);
    request->asked = (struct store_request){call->caller->keys, key, hash};
    return true;
}

/* The same word for the same request, whatever the order of its keys. */
static bool hash_of(const struct call *call, char hash[KEYED_HASH_SIZE], struct error *error) {
    const struct exchange *exchange = call->exchange;
    char *text = call->body ? json_dumps(call->body, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    SHA2_CTX context;
    if (call->body && !text)
        return error_no_memory(error);
    SHA256Init(&context);
    for (size_t i = 0; i < exchange->part_count; i++)
        SHA256Update(&context, (const uint8_t *)exchange->parts[i], strlen(exchange->parts[i]) + 1);
    if (text)
        SHA256Update(&context, (const uint8_t *)text, strlen(text));
    SHA256End(&context, hash);
    free(text);
    return true;
}

/* ---- the answer ---- */

void keyed_tells(struct call *call, call_tell *tell, const void *result) {
    call->tell = tell;
    call->result = result;
}

bool keyed_tell(struct call *call, struct error *error) {
    return call->exchange->status || call->tell(call, call->result, error);
}

static void forget(struct exchange *exchange) {
    free(exchange->text);
    free(exchange->location);
    exchange->text = exchange->location = NULL;
    exchange->status = 0;
}

/* In the transaction. */
static json_t *keep(void *arg, const struct created *created, size_t count) {
    struct call *call = arg;
    const struct exchange *exchange = call->exchange;
    struct error error = {0};
    (void)created;
    (void)count;
    forget(call->exchange);
    if (!keyed_tell(call, &error))
        return NULL;
    return json_pack("{si ss ss*}", "status", exchange->status, "text", exchange->text, "location",
                     exchange->location);
}

static bool answer_again(struct call *call, const json_t *found, struct error *error) {
    const char *text = json_text(found, "text"), *location = json_text(found, "location");
    forget(call->exchange);
    call->exchange->location = location ? strdup(location) : NULL;
    return call_answer_text(call, (int)json_int(found, "status"), NULL, text ? strdup(text) : NULL,
                            error);
}

/* ---- the whole ---- */

/* What has failed may have done so because it was done by another one meanwhile. */
static bool was_done(struct call *call, struct engine_request *request) {
    struct error ignored = {0};
    forget(call->exchange);
    return request->found ||
           (engine_request_find(call->engine, request, &ignored) && request->found);
}

static bool run(struct call *call, struct engine_request *request, struct error *error) {
    engine_ask_under(call->engine, request);
    bool done = call->route->run(call, error);
    engine_ask_under(call->engine, NULL);
    return done || (was_done(call, request) && answer_again(call, request->found, error));
}

bool keyed_run(struct call *call, struct error *error) {
    char hash[KEYED_HASH_SIZE] = "";
    struct engine_request request = {.answer = keep, .arg = call};
    if (!keyed_read(call, hash, &request, error))
        return false;
    if (!request.asked.key)
        return call->route->run(call, error);
    bool done = hash_of(call, hash, error) && engine_request_find(call->engine, &request, error);
    done = done &&
           (request.found ? answer_again(call, request.found, error) : run(call, &request, error));
    json_decref(request.found);
    return done;
}
