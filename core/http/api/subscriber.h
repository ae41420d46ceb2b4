/* subscriber.h - who reads events over HTTP (GET /v1/events): what it wants, what it may see, and
 * how far it was told. It belongs to one thread at a time. */
#pragma once

#include "http/api/call.h"
#include "http/wire/stream.h"

struct subscriber {
    struct subscriber *next; /* in a list of its owner */
    struct stream *stream;   /* the writer's end */
    struct caller caller;
    struct caller wanted;  /* its filters: the tenant and the handlers that are told of */
    json_t *kinds;         /* an array of names; NULL: all */
    char *place;           /* events were told up to here */
    bool shared;           /* the place is its owner's */
    time_ms checked;       /* monotonic: when the caller was last known */
    time_ms written;       /* monotonic */
    struct exchange proof; /* by which the caller is known: the peer, and `headers` */
    struct named_text headers[4];
};

/* Answers with a stream, and leaves the subscriber in the exchange. */
bool answer_events(struct call *call, struct error *error);

bool subscriber_wants(const struct subscriber *subscriber, const char *kind);
/* True if it is told of this event, as ASK_EVENTS has it. */
bool subscriber_sees(const struct subscriber *subscriber, const json_t *event);
/* True if it is told figures of the whole store. */
bool subscriber_sees_all(const struct subscriber *subscriber);

void subscriber_free(struct subscriber *subscriber); /* ends its stream; NULL is fine */

#define SUBSCRIBER_STATS "stats" /* the kind that is no event of the store */
