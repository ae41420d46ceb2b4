/* head.h - reads the head of a request (RFC 9112): from bytes to its parts, and nothing else.
 *
 * It is stricter than the RFC: whatever two readers could understand in two ways is refused, and
 * so is every encoding of a body but its length. docs/server.md lists what is refused. */
#pragma once

#include "http/wire/exchange.h"

enum {
    HEAD_MAX = 16384,  /* bytes of a head */
    HEAD_LINES = 64,   /* headers */
    HEAD_TARGET = 8192 /* bytes of path and query */
};

/* What looking at a head came to; any other number is the status that refuses it. */
enum { HEAD_MORE = 0, HEAD_WHOLE = 1 };

/* How far a head has been looked at while its bytes come. Zero-initialise. */
struct head_scan {
    size_t at;       /* so many bytes are fine; of a whole head, its size */
    size_t line;     /* where the present line begins */
    int lines;       /* that have ended */
    const char *why; /* of a refusal; static */
};

/* Looks at the bytes that are new, of `size` from the first one on. It refuses as soon as a byte
 * shows it, so a head that comes in pieces has the same answer as a whole one. */
int head_scan(struct head_scan *scan, const char *bytes, size_t size);

struct head {
    const char *method, *path, *query; /* query: behind the `?`; NULL: none */
    const char *host;
    struct named_text headers[HEAD_LINES]; /* names in lower case */
    size_t header_count;
    size_t length;   /* of the body */
    bool expects;    /* 100-continue */
    bool closes;     /* it is the last request of its connection */
    const char *why; /* of a refusal; static */
};

/* Takes a whole head apart. Its bytes are changed: the texts of `head` are in them. HEAD_WHOLE, or
 * the status that refuses it. */
int head_read(struct head *head, char *bytes, size_t size);
