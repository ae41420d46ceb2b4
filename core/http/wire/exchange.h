/* exchange.h - one request over HTTP and its answer (RFC 9110, 9112).
 *
 * It belongs to one thread at a time: to the door, which has read it and checked its form; then to
 * who works on it; then to the door again, which writes the answer. Its texts are valid UTF-8. */
#pragma once

#include "base/clock.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define EXCHANGE_PARTS 8       /* of a path; a longer one is no route's */
#define EXCHANGE_PARAMETERS 64 /* of a query */

/* A name and its value: a header, or a parameter of the query. */
struct named_text {
    const char *name, *value;
};

/* Who is at the other end of the connection. */
struct socket_peer {
    bool local; /* a unix socket: then `user` is that of its process */
    uid_t user;
    char address[64]; /* "127.0.0.1", "::1"; "unix" */
    char here[64];    /* the address of ours that it has reached; "localhost" of a unix socket */
    bool near;        /* of this machine */
};

struct exchange {
    struct exchange *next;         /* in a list */
    struct connection *connection; /* the door's alone, as the next */
    uint64_t rings;                /* that it had heard when this was asked */
    bool again;                    /* it has waited and is asked once more: it is counted */
    int socket;                    /* to look at alone: see exchange_gone */

    /* ---- the request; everything lasts as long as the exchange ---- */
    struct socket_peer peer;
    const char *method;                /* "GET" */
    const char *path;                  /* as it came, without the query */
    const char *parts[EXCHANGE_PARTS]; /* decoded: "/v1/jobs/7" has v1, jobs, 7 */
    size_t part_count;
    struct named_text *query; /* decoded, in the order they came */
    size_t query_count;
    const struct named_text *headers; /* names in lower case */
    size_t header_count;
    const char *body; /* `length` bytes, and a NUL behind them */
    size_t length;
    int64_t began; /* clock_monotonic_us at its first byte */
    size_t route;  /* that answers it: its number in the table, from 1 on; 0: none, or not known */

    /* ---- the answer ---- */
    int status;
    const char *type; /* of the content; static; NULL: application/json */
    char *text;       /* malloc'ed; NULL: without content */
    size_t text_length;
    char *location, *etag; /* malloc'ed headers; NULL: without */
    char *cookie;          /* the same, for a browser to keep */
    const char *policy;    /* static: what a browser may load for the content; NULL: without */
    const char *allow;     /* static, or `methods`: those of a 405; NULL: without */
    char methods[40];
    const char *allow_origin;  /* the request's own: a page of elsewhere that may read the answer;
                                  NULL: none */
    const char *allow_methods; /* static: of an answer that says what such a page may ask */
    int retry_after;           /* seconds; 0: without */
    struct stream *stream; /* the content, as it comes, until it ends; the exchange's; NULL: none */
    struct subscriber *subscriber; /* that writes it, for the face to take over */

    /* ---- or another thread goes on ---- */
    struct new_jobs *new_jobs; /* see api/creation.h; NULL: none is under way */
    struct work_asked *work;   /* the same of api/work.h: the clerk writes it */

    /* ---- or it waits ---- */
    time_ms parks_until; /* clock_monotonic: the answer is written then, or as soon as the face
                            stops, unless a ring for one of `topics` has it asked again before;
                            0: it is written now */
    json_t *topics;      /* an array of texts; the exchange's */
    char *wants;         /* with topics: what is asked for; malloc'ed. Those who ask for the same
                            may be asked one for the other */
    bool looks;          /* it is asked again each second, whatever rings */
    bool passes;         /* its client has gone: another one is asked for its topics */
};

/* The value of a header, whose name is given in lower case; NULL: it did not come. */
const char *exchange_header(const struct exchange *exchange, const char *name);
/* True if the client has gone, as far as one can see without reading on. Any thread that works on
 * the exchange. */
bool exchange_gone(const struct exchange *exchange);
/* The first value of a parameter; NULL: it did not come. */
const char *exchange_parameter(const struct exchange *exchange, const char *name);
