/* transfer.h - one HTTP request of a handler, on the worker's own thread (rules §8). Private to
 * script/.
 *
 * It is the only place that knows libcurl, which is loaded with the first request: linked in, it
 * brings thirty libraries along. A state keeps its connections for the next request. */
#pragma once

#include "base/text.h"
#include "script/state.h"

/* Why there is no answer; the names are those that handlers see. */
enum transfer_fault {
    TRANSFER_DONE,
    TRANSFER_DNS,
    TRANSFER_CONNECT,
    TRANSFER_TLS,
    TRANSFER_TIMEOUT,
    TRANSFER_TOO_LARGE,
    TRANSFER_CANCELLED, /* the run must stop: state_check says why */
    TRANSFER_REFUSED    /* by http_allow and http_deny, by the scheme, by `follow` */
};

struct transfer {
    /* what is asked */
    struct state *state;
    const json_t *allow, *deny; /* see reach.h */
    const char *method, *url;
    const char *ca;             /* a file with certificates; NULL: the system's */
    const char *const *headers; /* "name: value", NULL-terminated */
    const char *body;           /* NULL: none */
    size_t body_size, max;      /* bytes; of the answer's body at most `max` */
    time_ms timeout;
    int follow; /* at most so many redirects; 0: the answer is the redirect itself */
    /* the answer; transfer_clear releases it */
    long status;
    struct text head; /* its lines, "name: value\r\n" */
    struct text answer;
    enum transfer_fault fault;
    char message[512]; /* of the fault */
};

/* Sends it and waits for the whole answer. It ends at once where the running code must stop. */
void transfer_run(struct transfer *transfer);
void transfer_clear(struct transfer *transfer);

const char *transfer_fault_name(enum transfer_fault fault);

/* Closes the connections of a state. */
void transfers_close(struct state *state);
