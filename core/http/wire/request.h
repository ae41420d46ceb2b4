/* request.h - a request in memory: an exchange and the bytes that its texts are in. */
#pragma once

#include "base/text.h"
#include "http/wire/head.h"

struct request {
    struct exchange exchange;
    size_t length;             /* of the body */
    bool expects;              /* 100-continue */
    bool closes;               /* it is the last request of its connection */
    struct text body;          /* so far */
    struct named_text texts[]; /* headers and parameters; behind them the bytes that these, and all
                                  else of the exchange, are in */
};

/* Reads a whole head. *status: 0, or what refuses it, with the reason in *why; then the exchange
 * has what could be read. NULL: no memory. */
struct request *request_new(const char *head, size_t size, int *status, const char **why);
void request_free(struct request *request); /* NULL is fine */

/* The request of an exchange. */
static inline struct request *request_of(struct exchange *exchange) {
    return (struct request *)exchange; /* its first member */
}

/* Its body has come: the exchange points to it. */
void request_complete(struct request *request);
