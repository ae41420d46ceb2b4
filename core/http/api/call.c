#include "http/api/call.h"
#include "base/json.h"
#include "http/api/parameters.h"
#include "time/span.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAMES_MAX = 64, WAIT_MOST = 30 * 60 * 1000 /* ms */ };

static const struct member *find(const struct member *members, const char *name) {
    for (; members->name; members++)
        if (strcmp(members->name, name) == 0)
            return members;
    return NULL;
}

static bool unknown(const struct member *members, const char *what, const char *key,
                    struct error *error) {
    const char *names[NAMES_MAX + 1];
    size_t count = 0;
    for (; members->name && count < NAMES_MAX; members++)
        names[count++] = members->name;
    names[count] = NULL;
    return error_unknown(error, ERROR_INVALID, what, key, names, "expected");
}

static bool value_check(const struct member *member, const json_t *value, struct error *error) {
    if (json_is_null(value))
        return true;
    switch (member->type) {
    case VALUE_TEXT: /* of a name an integer is its text */
        return json_is_string(value) || json_is_integer(value) ||
               json_refuse(member->name, value, "a text", error);
    case VALUE_TIME:
        return json_is_string(value) ||
               json_refuse(member->name, value, "a time such as \"2026-01-31T12:00:00Z\"", error);
    case VALUE_INTEGER:
        return json_is_integer(value) || json_refuse(member->name, value, "a whole number", error);
    case VALUE_FLAG:
        return json_is_boolean(value) || json_refuse(member->name, value, "true or false", error);
    case VALUE_OBJECT:
        return json_is_object(value) || json_refuse(member->name, value, "an object", error);
    case VALUE_LIST:
        return json_is_array(value) || json_refuse(member->name, value, "a list", error);
    case VALUE_ANY:
        break;
    }
    return true;
}

bool members_check(const json_t *object, const struct member *members, const char *what,
                   struct error *error) {
    const char *key;
    json_t *value;
    json_object_foreach(json_unchanged(object), key, value) {
        const struct member *member = find(members, key);
        if (!member)
            return unknown(members, what, key, error);
        if (!value_check(member, value, error))
            return false;
    }
    for (; members->name; members++)
        if (members->needed && !json_object_get(object, members->name))
            return error_set(error, ERROR_INVALID, "%s: it is missing", members->name);
    return true;
}

bool call_wait(const json_t *value, time_ms *wait, struct error *error) {
    struct error why = {0};
    if (!value || json_is_null(value))
        return true;
    if (!json_is_string(value))
        return json_refuse("wait", value, "a span such as \"PT30S\"", error);
    if (!span_parse_ms(json_string_value(value), wait, &why))
        return error_set(error, why.code, "wait: %s", why.text);
    return *wait <= WAIT_MOST || json_refuse("wait", value, "30 minutes at most", error);
}

/* ---- the content ---- */

bool call_has_type(const struct exchange *exchange, const char *name) {
    const char *type = exchange_header(exchange, "content-type");
    const size_t size = type ? strcspn(type, "; ") : 0;
    return size == strlen(name) && strncasecmp(type, name, size) == 0;
}

static bool body_object(struct call *call, struct error *error) {
    const struct exchange *exchange = call->exchange;
    if (!exchange->length && call->route->body == BODY_MAYBE) {
        call->body = json_object();
        return call->body || error_no_memory(error);
    }
    if (!call_has_type(exchange, "application/json"))
        return error_set(error, ERROR_TYPE, "content: expected application/json");
    call->body = json_read(exchange->body, exchange->length, "body", error);
    if (!call->body)
        return false;
    if (!json_is_object(call->body))
        return json_refuse("body", call->body, "an object", error);
    return !call->route->members ||
           members_check(call->body, call->route->members, "unknown key", error);
}

static bool read_body(struct call *call, struct error *error) {
    switch (call->route->body) {
    case BODY_NONE:
        return !call->exchange->length ||
               error_set(error, ERROR_INVALID, "body: expected a request without content");
    case BODY_OBJECT:
    case BODY_MAYBE:
        return body_object(call, error);
    case BODY_JOBS: /* it is read where it is written, see creation.c */
    case BODY_RAW:
        break;
    }
    return true;
}

/* Headers that ask for what the route does not do are refused, not ignored. */
static bool check_headers(const struct call *call, struct error *error) {
    if (!call->route->keyed && exchange_header(call->exchange, "idempotency-key"))
        return error_set(error, ERROR_INVALID,
                         "Idempotency-Key: expected a request that creates something");
    if (!call->route->matched && exchange_header(call->exchange, "if-match"))
        return error_set(error, ERROR_INVALID, "If-Match: expected a verb of one job");
    return true;
}

bool call_read(struct call *call, struct error *error) {
    return call->route->body == BODY_RAW ||
           (check_headers(call, error) && parameters_read(call, error) && read_body(call, error));
}

void call_clear(struct call *call) {
    json_decref(call->filters);
    json_decref(call->options);
    json_decref(call->body);
    call->filters = call->options = call->body = NULL;
}

bool call_answer_text(struct call *call, int status, const char *type, char *text,
                      struct error *error) {
    struct exchange *exchange = call->exchange;
    if (!text)
        return error_no_memory(error);
    exchange->status = status;
    exchange->type = type;
    exchange->text = text;
    exchange->text_length = strlen(text);
    return true;
}

bool call_answer(struct call *call, int status, json_t *answer, struct error *error) {
    char *text = answer ? json_write(answer, NULL) : NULL;
    json_decref(answer);
    return call_answer_text(call, status, NULL, text, error);
}
