#include "http/who/sign_in.h"
#include "base/json.h"
#include "http/who/credential.h"
#include "http/who/sessions.h"
#include "http/wire/reply.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT "; HttpOnly; SameSite=Strict; Path=/; Max-Age="
#define HOURS_12 "43200"

enum { COOKIE_SIZE = 256 };

bool sign_in_is(const struct exchange *exchange) {
    return strcmp(exchange->path, "/v1/session") == 0;
}

static bool is(const struct exchange *exchange, const char *method) {
    return strcmp(exchange->method, method) == 0;
}

static void set_cookie(struct exchange *exchange, const char *value, const char *seconds) {
    char cookie[COOKIE_SIZE];
    snprintf(cookie, sizeof cookie, SESSION_COOKIE "=%s" KEPT "%s", value, seconds);
    exchange->cookie = strdup(cookie);
}

/* Opens a session for the token; NULL: with all rights. */
static void open_session(struct callers *callers, struct exchange *exchange, const char *token) {
    char cookie[SESSION_SIZE];
    if (!sessions_open(callers_sessions(callers), token, cookie)) {
        reply_problem(exchange, 500, "no random numbers for a session");
        return;
    }
    set_cookie(exchange, cookie, HOURS_12);
    exchange->status = 204;
}

bool sign_in_by_key(struct callers *callers, struct exchange *exchange) {
    if (!is(exchange, "POST") || exchange->length == 0)
        return false;
    json_t *body = json_read(exchange->body, exchange->length, "body", NULL);
    const char *key = json_text(body, "key");
    bool counts = key && sessions_redeem(callers_sessions(callers), key);
    json_decref(body);
    if (counts)
        open_session(callers, exchange, NULL);
    return counts;
}

static void tell(const struct caller *caller, struct exchange *exchange) {
    char scopes[SCOPES_TEXT_SIZE];
    scopes_write(caller->scopes, scopes);
    json_t *answer = json_pack("{ss ss ss* sO*}", "who", caller->who, "scopes", scopes, "tenant",
                               caller->tenant, "handlers", caller->handlers);
    exchange->text = answer ? json_write(answer, &exchange->text_length) : NULL;
    exchange->status = 200;
    json_decref(answer);
    if (!exchange->text)
        reply_problem(exchange, 500, "out of memory");
}

void sign_in_answer(struct callers *callers, const struct caller *caller,
                    struct exchange *exchange) {
    char token[CREDENTIAL_SIZE];
    if (is(exchange, "GET") || is(exchange, "HEAD")) {
        tell(caller, exchange);
    } else if (is(exchange, "DELETE")) {
        sessions_close(callers_sessions(callers), exchange_header(exchange, "cookie"));
        set_cookie(exchange, "", "0");
        exchange->status = 204;
    } else if (!is(exchange, "POST")) {
        exchange->allow = "GET, HEAD, POST, DELETE";
        reply_problem(exchange, 405, "expected GET, POST or DELETE");
    } else if (caller->token &&
               credential_read(exchange_header(exchange, "authorization"), token)) {
        open_session(callers, exchange, token);
    } else {
        reply_problem(exchange, 400, "expected a token (Authorization: Bearer …)");
    }
}
