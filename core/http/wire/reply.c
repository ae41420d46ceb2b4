#include "http/wire/reply.h"
#include "base/calendar.h"
#include "base/json.h"
#include <stdlib.h>
#include <string.h>

static const struct {
    int status;
    const char *reason, *code; /* code: of a problem that the wire itself has found */
} statuses[] = {
    {200, "OK", NULL},
    {201, "Created", NULL},
    {202, "Accepted", NULL},
    {204, "No Content", NULL},
    {304, "Not Modified", NULL},
    {400, "Bad Request", "invalid"},
    {401, "Unauthorized", "unauthorized"},
    {403, "Forbidden", "forbidden"},
    {404, "Not Found", "not_found"},
    {405, "Method Not Allowed", "method"},
    {408, "Request Timeout", "timeout"},
    {409, "Conflict", "conflict"},
    {411, "Length Required", "invalid"},
    {412, "Precondition Failed", "changed"},
    {413, "Content Too Large", "too_large"},
    {414, "URI Too Long", "too_large"},
    {415, "Unsupported Media Type", "invalid"},
    {417, "Expectation Failed", "invalid"},
    {421, "Misdirected Request", "host"},
    {429, "Too Many Requests", "rate"},
    {431, "Request Header Fields Too Large", "too_large"},
    {500, "Internal Server Error", "failed"},
    {501, "Not Implemented", "invalid"},
    {503, "Service Unavailable", "unavailable"},
    {505, "HTTP Version Not Supported", "invalid"},
    {507, "Insufficient Storage", "full"},
};

static size_t row_of(int status) {
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status)
            return i;
    return sizeof statuses / sizeof *statuses;
}

static bool known(int status) {
    return row_of(status) < sizeof statuses / sizeof *statuses;
}

const char *reply_reason(int status) {
    return known(status) ? statuses[row_of(status)].reason : "Answer";
}

static void add_member(struct text *text, const char *name, const char *value) {
    text_add(text, ",\"%s\":", name);
    if (value)
        json_add_text(text, value, strlen(value));
    else
        text_add(text, "null");
}

void reply_problem_of(struct exchange *exchange, int status, const char *code, const char *detail,
                      const char *field) {
    struct text text = {0};
    text_add(&text, "{\"type\":\"/problems/%s\",\"title\":\"%s\",\"status\":%d", code,
             reply_reason(status), status);
    add_member(&text, "detail", detail);
    add_member(&text, "code", code);
    add_member(&text, "field", field);
    text_add(&text, "}");
    if (text.failed)
        text_clear(&text);
    free(exchange->text);
    exchange->status = status;
    exchange->type = PROBLEM_TYPE;
    exchange->text = text.data;
    exchange->text_length = text.data ? text.size : 0;
}

void reply_problem(struct exchange *exchange, int status, const char *detail) {
    const char *code = known(status) ? statuses[row_of(status)].code : NULL;
    reply_problem_of(exchange, status, code ? code : "failed", detail, NULL);
}

/* ---- on the wire ---- */

/* "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110), whatever the locale. */
static void add_date(struct text *out, time_ms now) {
    static const char days[] = "ThuFriSatSunMonTueWed", /* 1970 began with a Thursday */
        months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    int64_t day = divide_down(now, DAY_MS), year, second = (now - day * DAY_MS) / 1000;
    int month, date;
    civil_from_days(day, &year, &month, &date);
    text_add(out, "Date: %.3s, %02d %.3s %04d %02d:%02d:%02d GMT\r\n",
             days + 3 * (day - 7 * divide_down(day, 7)), date, months + 3 * (month - 1), (int)year,
             (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60));
}

static void add_header(struct text *out, const char *name, const char *value) {
    if (value && !utf8_has_control(value))
        text_add(out, "%s: %s\r\n", name, value);
}

static bool may_have_content(const struct exchange *exchange) {
    return exchange->status >= 200 && exchange->status != 204 && exchange->status != 304;
}

bool reply_has_content(const struct exchange *exchange) {
    bool head = exchange->method && strcmp(exchange->method, "HEAD") == 0;
    return may_have_content(exchange) && !head && exchange->text_length > 0;
}

static void add_content_headers(struct text *out, const struct exchange *exchange) {
    if (exchange->text_length > 0 || exchange->stream)
        add_header(out, "Content-Type", exchange->type ? exchange->type : "application/json");
    if (exchange->stream) /* no proxy collects it */
        add_header(out, "X-Accel-Buffering", "no");
    else
        text_add(out, "Content-Length: %zu\r\n", exchange->text_length);
}

/* Cookies are never let through: the browser reads no answer to a request with one. */
static void add_cors(struct text *out, const struct exchange *exchange) {
    if (!exchange->allow_origin)
        return;
    add_header(out, "Access-Control-Allow-Origin", exchange->allow_origin);
    add_header(out, "Vary", "Origin");
    add_header(out, "Access-Control-Expose-Headers", "ETag, Location, Retry-After");
    if (!exchange->allow_methods)
        return;
    add_header(out, "Access-Control-Allow-Methods", exchange->allow_methods);
    add_header(
        out, "Access-Control-Allow-Headers",
        "Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, traceparent");
    add_header(out, "Access-Control-Max-Age", "600");
}

void reply_head(struct text *out, const struct exchange *exchange, bool closes, time_ms now) {
    text_add(out, "HTTP/1.1 %d %s\r\n", exchange->status, reply_reason(exchange->status));
    add_date(out, now);
    if (may_have_content(exchange))
        add_content_headers(out, exchange);
    add_header(out, "Location", exchange->location);
    add_header(out, "ETag", exchange->etag);
    add_header(out, "Allow", exchange->allow);
    add_header(out, "Set-Cookie", exchange->cookie);
    add_header(out, "Content-Security-Policy", exchange->policy);
    add_cors(out, exchange);
    if (exchange->retry_after > 0)
        text_add(out, "Retry-After: %d\r\n", exchange->retry_after);
    if (closes)
        add_header(out, "Connection", "close");
    text_add(out, "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n"
                  "Referrer-Policy: no-referrer\r\n\r\n");
}
