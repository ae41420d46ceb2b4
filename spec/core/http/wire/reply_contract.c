/* reply_contract.c - how answers look on the wire. */
#include "http/wire/reply.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;

static void holds(bool fine, const char *what) {
    printf("%s - %s\n", fine ? "ok" : "not ok", what);
    *(fine ? &passed : &failed) += 1;
}

#define ALWAYS                                                                                     \
    "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n"                               \
    "Referrer-Policy: no-referrer\r\n\r\n"
#define LEAP INT64_C(1709251199000) /* 2024-02-29T23:59:59Z */

static bool head_is(const struct exchange *exchange, bool closes, time_ms now, const char *text) {
    struct text out = {0};
    reply_head(&out, exchange, closes, now);
    bool same = out.data && strcmp(out.data, text) == 0;
    if (!same)
        printf("%s\n", out.data ? out.data : "nothing");
    text_clear(&out);
    return same;
}

static void check_heads(void) {
    char tag[] = "\"7-1\"", split[] = "/v1\r\nX: y", place[] = "/v1/jobs/7", text[] = "{}";
    struct exchange created = {.status = 201,
                               .method = "POST",
                               .text = text,
                               .text_length = 2,
                               .location = place,
                               .etag = tag};
    struct exchange gone = {.status = 204, .method = "DELETE", .location = split};
    struct exchange late = {
        .status = 429, .method = "HEAD", .text = text, .text_length = 2, .retry_after = 3};
    struct exchange other = {.status = 405, .method = "PUT", .allow = "GET, POST"};
    holds(head_is(&created, false, LEAP,
                  "HTTP/1.1 201 Created\r\nDate: Thu, 29 Feb 2024 23:59:59 GMT\r\n"
                  "Content-Type: application/json\r\nContent-Length: 2\r\n"
                  "Location: /v1/jobs/7\r\nETag: \"7-1\"\r\n" ALWAYS) &&
              reply_has_content(&created),
          "a creation has its place");
    holds(head_is(&gone, true, 0,
                  "HTTP/1.1 204 No Content\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
                  "Connection: close\r\n" ALWAYS) &&
              !reply_has_content(&gone),
          "204 has no length, and a header that would split the answer is left out");
    holds(head_is(&late, false, INT64_C(784111777000),
                  "HTTP/1.1 429 Too Many Requests\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
                  "Content-Type: application/json\r\nContent-Length: 2\r\n"
                  "Retry-After: 3\r\n" ALWAYS) &&
              !reply_has_content(&late),
          "HEAD has the length and no content");
    holds(head_is(&other, false, 0,
                  "HTTP/1.1 405 Method Not Allowed\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
                  "Content-Length: 0\r\nAllow: GET, POST\r\n" ALWAYS),
          "405 names the methods");
}

static void check_problems(void) {
    struct exchange exchange = {.method = "GET"};
    reply_problem(&exchange, 415, "first");
    reply_problem(&exchange, 404, "no \"x\"");
    holds(exchange.status == 404 && strcmp(exchange.type, "application/problem+json") == 0 &&
              strcmp(exchange.text, "{\"type\":\"/problems/not_found\",\"title\":\"Not Found\","
                                    "\"status\":404,\"detail\":\"no \\\"x\\\"\","
                                    "\"code\":\"not_found\",\"field\":null}") == 0 &&
              exchange.text_length == strlen(exchange.text),
          "a problem takes the place of an answer");
    free(exchange.text);
}

int main(void) {
    check_heads();
    check_problems();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
