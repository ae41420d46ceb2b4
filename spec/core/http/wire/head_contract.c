/* head_contract.c - which heads of requests are refused, and with which status; and that a head in
 * two pieces has the answer of a whole one. */
#include "http/wire/head.h"
#include "http/wire/target.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;

static void holds(bool fine, const char *what) {
    printf("%s - %s\n", fine ? "ok" : "not ok", what);
    *(fine ? &passed : &failed) += 1;
}

#define GET "GET /v1/jobs HTTP/1.1\r\n"
#define HOST "Host: example.org\r\n"

/* A request, and the status that refuses it; HEAD_WHOLE: it is taken. Its size is counted, so that
 * it may have a NUL. */
#define CASE(text, status)                                                                         \
    { text, sizeof text - 1, status }

static const struct one {
    const char *text;
    size_t size;
    int status;
} cases[] = {
    CASE(GET HOST "\r\n", HEAD_WHOLE),
    CASE("POST /v1/jobs?limit=5&after=x HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\n", HEAD_WHOLE),
    CASE("DELETE / HTTP/1.1\r\nhost:[::1]:8080\r\n\r\n", HEAD_WHOLE),
    CASE(GET "HOST:   localhost:1   \r\nX-A:\r\nX-B: a: b, c\r\n\r\n", HEAD_WHOLE),
    CASE(GET HOST "Expect: 100-Continue\r\nContent-Length: 0\r\n\r\n", HEAD_WHOLE),
    CASE(GET HOST "Connection: keep-alive, Upgrade\r\nUpgrade: h2c\r\n\r\n", HEAD_WHOLE),
    CASE(GET HOST "Accept: a\r\nAccept: b\r\n\r\n", HEAD_WHOLE),
    CASE(GET HOST "X-Name: gr\xc3\xbc\xc3\x9f\r\n\r\n", HEAD_WHOLE),
    CASE(GET HOST "!#$%&'*+-.^_`|~09AZaz: x\r\n\r\n", HEAD_WHOLE),
    CASE("OPTIONS /a%20b/c;d=e/f,g HTTP/1.1\r\n" HOST "\r\n", HEAD_WHOLE),
    CASE(GET HOST "Content-Length: 000000000000000007\r\n\r\n", HEAD_WHOLE),
    /* ends of lines, blanks and control characters */
    CASE("GET / HTTP/1.1\nHost: x\n\n", 400),
    CASE(GET "Host: x\n\r\n", 400),
    CASE("GET / HTTP/1.1\rHost: x\r\n\r\n", 400),
    CASE(GET HOST "X-A: a\rb\r\n\r\n", 400),
    CASE(GET HOST "X-A: a\r\r\n\r\n", 400),
    CASE(GET HOST "X-A: a\0b\r\n\r\n", 400),
    CASE(GET HOST "X-A: a\x01\r\n\r\n", 400),
    CASE(GET HOST "X-A: a\tb\r\n\r\n", 400),
    CASE(GET HOST "X-A: a\x7f\r\n\r\n", 400),
    CASE(GET HOST "X-A: a\xc2\x85z\r\n\r\n", 400),
    CASE(GET HOST "X-A: \xff\r\n\r\n", 400),
    CASE("\r\n" GET HOST "\r\n", 400),
    CASE("\n" GET HOST "\r\n", 400),
    CASE(GET HOST " X-A: folded\r\n\r\n", 400),
    CASE(GET HOST "X-A: a\r\n b\r\n\r\n", 400),
    CASE(GET " " HOST "\r\n", 400),
    /* names of headers */
    CASE(GET "Host : x\r\n\r\n", 400),
    CASE(GET HOST ": x\r\n\r\n", 400),
    CASE(GET HOST "X A: x\r\n\r\n", 400),
    CASE(GET HOST "X(A): x\r\n\r\n", 400),
    CASE(GET HOST "X\xc3\xa4: x\r\n\r\n", 400),
    CASE(GET HOST "no colon\r\n\r\n", 400),
    /* Host */
    CASE(GET "\r\n", 400),
    CASE(GET "Accept: x\r\n\r\n", 400),
    CASE(GET HOST HOST "\r\n", 400),
    CASE(GET HOST "hOST: other\r\n\r\n", 400),
    CASE(GET "Host:\r\n\r\n", 400),
    CASE(GET "Host: a/b\r\n\r\n", 400),
    CASE(GET "Host: user@a\r\n\r\n", 400),
    CASE(GET "Host: a, b\r\n\r\n", 400),
    CASE(GET "Host: a b\r\n\r\n", 400),
    CASE(GET "Host: a:evil\r\n\r\n", 400),
    CASE(GET "Host: a:80:80\r\n\r\n", 400),
    CASE(GET "Host: a:800000\r\n\r\n", 400),
    CASE(GET "Host: :80\r\n\r\n", 400),
    CASE(GET "Host: [a]\r\n\r\n", 400),
    CASE(GET "Host: [127.0.0.1]:80\r\n\r\n", 400),
    CASE(GET "Host: [::1\r\n\r\n", 400),
    CASE(GET "Host: [::1]evil\r\n\r\n", 400),
    CASE(GET "Host: ::1\r\n\r\n", 400),
    CASE(GET "Host: a:\r\n\r\n", HEAD_WHOLE),
    CASE(GET "Host: [::ffff:127.0.0.1]:1\r\n\r\n", HEAD_WHOLE),
    /* the length of the body */
    CASE(GET HOST "Content-Length:\r\n\r\n", 400),
    CASE(GET HOST "Content-Length: +1\r\n\r\n", 400),
    CASE(GET HOST "Content-Length: -1\r\n\r\n", 400),
    CASE(GET HOST "Content-Length: 1, 1\r\n\r\n", 400),
    CASE(GET HOST "Content-Length: 0x1\r\n\r\n", 400),
    CASE(GET HOST "Content-Length: 1 1\r\n\r\n", 400),
    CASE(GET HOST "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", 400),
    CASE(GET HOST "Content-Length: 1\r\ncontent-length: 2\r\n\r\n", 400),
    CASE(GET HOST "Content-Length: 9999999999999999999\r\n\r\n", 413),
    CASE(GET HOST "Transfer-Encoding: chunked\r\n\r\n", 411),
    CASE(GET HOST "Transfer-Encoding: identity\r\n\r\n", 411),
    CASE(GET HOST "transfer-encoding:\r\n\r\n", 411),
    CASE(GET HOST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
    CASE(GET HOST "Expect: 200-ok\r\n\r\n", 417),
    CASE(GET HOST "Expect:\r\n\r\n", 417),
    /* twice what comes once */
    CASE(GET HOST "Authorization: a\r\nAuthorization: b\r\n\r\n", 400),
    CASE(GET HOST "Content-Type: a\r\nContent-Type: a\r\n\r\n", 400),
    /* the first line */
    CASE("GET / HTTP/1.0\r\n" HOST "\r\n", 505),
    CASE("GET / HTTP/2.0\r\n" HOST "\r\n", 505),
    CASE("PRI * HTTP/2.0\r\n\r\n", 505),
    CASE("GET / http/1.1\r\n" HOST "\r\n", 400),
    CASE("GET / HTTP/1.1 \r\n" HOST "\r\n", 400),
    CASE("GET / HTTP/11\r\n" HOST "\r\n", 400),
    CASE("GET / HTTP/1.10\r\n" HOST "\r\n", 400),
    CASE("GET /\r\n" HOST "\r\n", 400),
    CASE("GET\r\n" HOST "\r\n", 400),
    CASE("GET  / HTTP/1.1\r\n" HOST "\r\n", 400),
    CASE("GET /  HTTP/1.1\r\n" HOST "\r\n", 400),
    CASE(" GET / HTTP/1.1\r\n" HOST "\r\n", 400),
    CASE("get / HTTP/1.1\r\n" HOST "\r\n", 400),
    CASE("G:T / HTTP/1.1\r\n" HOST "\r\n", 400),
    CASE("ABCDEFGHIJKLMNOPQ / HTTP/1.1\r\n" HOST "\r\n", 400),
    CASE("GET * HTTP/1.1\r\n" HOST "\r\n", 400),
    CASE("GET v1/jobs HTTP/1.1\r\n" HOST "\r\n", 400),
    CASE("GET http://example.org/ HTTP/1.1\r\n" HOST "\r\n", 400),
    CASE("CONNECT example.org:443 HTTP/1.1\r\n" HOST "\r\n", 400),
    CASE("GET /a#b HTTP/1.1\r\n" HOST "\r\n", 400),
    CASE("GET /gr\xc3\xbc HTTP/1.1\r\n" HOST "\r\n", 400),
    /* what has not come to its end */
    CASE(GET HOST, HEAD_MORE),
    CASE(GET HOST "\r", HEAD_MORE),
    CASE("", HEAD_MORE),
};

/* The bytes in memory of just their size, so that a sanitizer sees what is read behind them. */
static char *copy(const char *text, size_t size) {
    char *bytes = malloc(size ? size : 1);
    memcpy(bytes, text, size);
    return bytes;
}

/* Reads a head whose first bytes come before the others. */
static int answer(const char *text, size_t size, size_t first, struct head *head, char **bytes) {
    struct head_scan scan = {0};
    *bytes = copy(text, size);
    int state = head_scan(&scan, *bytes, first);
    if (state == HEAD_MORE)
        state = head_scan(&scan, *bytes, size);
    return state == HEAD_WHOLE ? head_read(head, *bytes, scan.at) : state;
}

static void check_case(const struct one *one) {
    struct head head;
    char *bytes, what[200];
    bool same = true;
    int status = answer(one->text, one->size, one->size, &head, &bytes);
    free(bytes);
    for (size_t first = 0; first < one->size; first++) {
        same = answer(one->text, one->size, first, &head, &bytes) == status && same;
        free(bytes);
    }
    snprintf(what, sizeof what, "%d, in any two pieces: %.120s", one->status, one->text);
    for (char *at = what; *at; at++)
        *at = *at == '\r' || *at == '\n' ? '_' : *at;
    holds(status == one->status && same, what);
}

/* `count` times `unit` between a beginning and an end. */
static int answer_of_many(const char *before, const char *unit, size_t count, const char *after) {
    size_t size = strlen(before) + strlen(unit) * count + strlen(after);
    char *text = calloc(size + 1, 1), *bytes, *at = text + sprintf(text, "%s", before);
    struct head head;
    for (size_t i = 0; i < count; i++)
        at += sprintf(at, "%s", unit);
    strcpy(at, after);
    int status = answer(text, size, size, &head, &bytes);
    free(bytes);
    free(text);
    return status;
}

static void check_limits(void) {
    holds(answer_of_many("GET /", "a", 8191, " HTTP/1.1\r\n" HOST "\r\n") == HEAD_WHOLE,
          "a path of 8 KiB is taken");
    holds(answer_of_many("GET /", "a", 8192, " HTTP/1.1\r\n" HOST "\r\n") == 414,
          "a longer path is 414");
    holds(answer_of_many("GET /", "a", 100000, "") == 414, "a path without an end is 414");
    holds(answer_of_many(GET HOST, "X: y\r\n", 63, "\r\n") == HEAD_WHOLE, "64 headers are taken");
    holds(answer_of_many(GET HOST, "X: y\r\n", 64, "\r\n") == 431, "65 headers are 431");
    holds(answer_of_many(GET HOST "X: ", "a", 20000, "\r\n\r\n") == 431, "a large head is 431");
    holds(answer_of_many(GET HOST "X: ", "a", 16000, "\r\n\r\n") == HEAD_WHOLE,
          "a head of nearly 16 KiB is taken");
    holds(answer_of_many("", "A", 20000, "") == 414, "a method without an end is refused");
}

static void check_parts(void) {
    static const char text[] =
        "POST /v1/jobs?x=1 HTTP/1.1\r\nHoSt: h:1 \r\nContent-Length: 12\r\n"
        "Connection: TE, Close\r\nExpect: 100-continue\r\nX-Y:  z \r\n\r\nrest";
    struct head head;
    struct head_scan scan = {0};
    char *bytes = copy(text, sizeof text - 1);
    holds(head_scan(&scan, bytes, sizeof text - 1) == HEAD_WHOLE && scan.at == sizeof text - 5,
          "the head ends before the body");
    head_read(&head, bytes, scan.at);
    holds(strcmp(head.method, "POST") == 0 && strcmp(head.path, "/v1/jobs") == 0 &&
              strcmp(head.query, "x=1") == 0 && strcmp(head.host, "h:1") == 0,
          "the first line and the Host are taken apart");
    holds(head.length == 12 && head.closes && head.expects, "length, end and expectation");
    holds(head.header_count == 5 && strcmp(head.headers[4].name, "x-y") == 0 &&
              strcmp(head.headers[4].value, "z") == 0,
          "names are in lower case, values have no blanks around them");
    free(bytes);
}

int main(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
    check_limits();
    check_parts();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
