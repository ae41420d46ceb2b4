#include "http/api/hook.h"
#include "base/json.h"
#include "base/log.h"
#include "engine/route.h"
#include "http/api/call.h"
#include "http/api/creation.h"
#include "http/api/problem.h"
#include "http/wire/reply.h"
#include <stdio.h>
#include <string.h>

static const char prefix[] = "hooks";

/* The route of the folder; NULL: there is none. */
static const json_t *row_of(struct engine *engine, const char *name) {
    return name ? engine_route(engine, name) : NULL;
}

bool hook_is_open(struct engine *engine, const struct exchange *exchange) {
    struct place place;
    const char *allow;
    if (exchange->part_count < 2 || strcmp(exchange->parts[0], prefix) != 0 ||
        !route_find(exchange, &place, &allow, NULL))
        return false;
    const json_t *row = row_of(engine, place.name);
    return row && json_text(row, "secret");
}

/* ---- what is asked ---- */

static bool takes_method(const struct call *call, const json_t *row, struct error *error) {
    struct exchange *exchange = call->exchange;
    size_t i, size = 0;
    const json_t *one;
    json_array_foreach(json_object_get(row, "method"), i, one) {
        const char *method = json_string_value(one);
        if (strcmp(method, exchange->method) == 0)
            return true;
        size += (size_t)snprintf(exchange->methods + size, sizeof exchange->methods - size, "%s%s",
                                 i ? ", " : "", method);
    }
    exchange->allow = exchange->methods;
    return error_set(error, ERROR_METHOD, "%.20s %.300s: expected %s", exchange->method,
                     exchange->path, exchange->allow);
}

static bool may_call(const struct call *call, const json_t *row, struct error *error) {
    unsigned scope = 0;
    json_t *scopes = json_pack("[s*]", json_text(row, "scope"));
    bool read = scopes && (!json_array_size(scopes) || scopes_read(scopes, &scope, error));
    json_decref(scopes);
    if (!read)
        return error_no_memory(error);
    return caller_may(call->caller, scope) ||
           error_set(error, ERROR_FORBIDDEN, "%.300s: the caller may not (expected %s)",
                     call->exchange->path, json_text(row, "scope"));
}

static bool fits(const struct call *call, const json_t *row, struct error *error) {
    const int64_t most = json_int(row, "max");
    return (int64_t)call->exchange->length <= most ||
           error_set(error, ERROR_TOO_LARGE, "body: %zu bytes (expected at most %lld)",
                     call->exchange->length, (long long)most);
}

/* A name that comes twice could be understood in two ways. */
static json_t *query_of(const struct exchange *exchange, struct error *error) {
    json_t *query = json_object();
    for (size_t i = 0; query && i < exchange->query_count; i++) {
        const struct named_text *one = &exchange->query[i];
        if (json_object_get(query, one->name)) {
            error_set(error, ERROR_INVALID, "%.255s: given twice", one->name);
            return json_kept(query, false);
        }
        json_object_set_new(query, one->name, json_string(one->value));
    }
    return query;
}

/* Tokens reach no script. */
static bool is_shown(const json_t *row, const char *header) {
    return json_text(row, "secret") ||
           (strcmp(header, "authorization") != 0 && strcmp(header, "cookie") != 0);
}

static json_t *headers_of(const struct exchange *exchange, const json_t *row) {
    json_t *headers = json_object();
    for (size_t i = 0; headers && i < exchange->header_count; i++) {
        const struct named_text *one = &exchange->headers[i];
        if (is_shown(row, one->name))
            json_object_set_new(headers, one->name, json_string(one->value));
    }
    return headers;
}

/* The body is bytes, and no text for all that is known. NULL: error. */
static json_t *asked_of(const struct call *call, const json_t *row, struct error *error) {
    const struct exchange *exchange = call->exchange;
    json_t *query = query_of(exchange, error);
    if (!query)
        return NULL;
    json_t *asked =
        json_pack("{ss ss ss so so so}", "name", call->place.name, "method", exchange->method,
                  "path", exchange->path, "query", query, "headers", headers_of(exchange, row),
                  "body", json_stringn_nocheck(exchange->body, exchange->length));
    if (!asked)
        error_no_memory(error);
    return asked;
}

/* ---- what is answered ---- */

static bool tell(struct call *call, const json_t *answer, struct error *error) {
    const char *text = json_text(answer, "text");
    call->exchange->status = (int)json_int(answer, "status");
    if (!text)
        return true;
    return call_answer_text(
        call, (int)json_int(answer, "status"),
        json_is_true(json_object_get(answer, "json")) ? NULL : "text/plain; charset=utf-8",
        strdup(text), error);
}

/* Why it has failed is for those who run it, and not for strangers. A caller who may not create
 * what the route would create hears that. */
static void hook_fail(struct exchange *exchange, const struct error *why) {
    if (why->code == ERROR_FORBIDDEN) {
        problem_answer(exchange, why);
        return;
    }
    const int status = error_http_status(why->code);
    log_event(LOG_ERROR, "route failed", "path:s reason:s", exchange->path, why->text);
    reply_problem_of(exchange, status >= 429 ? status : 500,
                     status >= 429 ? error_code_name(why->code) : "failed",
                     "the route has failed (see the log of this program)", NULL);
    exchange->retry_after = status == 429 || status == 503;
}

static bool answer(struct call *call, json_t *answered, struct error *error) {
    json_t *jobs = json_object_get(answered, "jobs");
    if (!tell(call, answered, error))
        return false;
    return !json_array_size(jobs) || create_jobs_of(call, jobs, hook_fail, error);
}

static bool check(const struct call *call, const json_t *row, struct error *error) {
    return takes_method(call, row, error) && may_call(call, row, error) && fits(call, row, error);
}

bool answer_hook(struct call *call, struct error *error) {
    const json_t *row = row_of(call->engine, call->place.name);
    struct error why = {0};
    if (!row)
        return error_set(error, ERROR_NOT_FOUND, "no route \"%.255s\"", call->place.name);
    json_t *asked = check(call, row, error) ? asked_of(call, row, error) : NULL;
    if (!asked)
        return false;
    json_t *answered = engine_route_answer(call->engine, asked, &why);
    bool done = answered && answer(call, answered, &why);
    json_decref(asked);
    json_decref(answered);
    if (!done)
        hook_fail(call->exchange, &why);
    return true;
}
