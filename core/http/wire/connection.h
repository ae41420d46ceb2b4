/* connection.h - one connection of HTTP/1.1: reads requests, writes their answers in order, one at
 * a time, and ends by its deadlines.
 *
 * It belongs to the thread of its reactor. Deadlines count from the first byte of what is awaited,
 * so a byte now and then does not keep a connection. */
#pragma once

#include "base/reactor.h"
#include "http/wire/exchange.h"

struct connection;

/* What a connection needs of its owner; one for all connections of a reactor. */
struct connection_owner {
    struct reactor *reactor;
    size_t body_max; /* bytes */
    /* A whole request. The exchange stays readable until connection_answer. */
    void (*asked)(void *arg, struct connection *connection, struct exchange *exchange);
    /* Its answer is there, and will be written as far as the client takes it. */
    void (*answered)(void *arg, const struct exchange *exchange);
    /* A parked exchange is parked no more: its client has gone, or its time has passed. */
    void (*unparked)(void *arg, struct exchange *exchange);
    /* It is over, and freed behind this. */
    void (*ended)(void *arg, struct connection *connection);
    void *arg;
    char *room;      /* for what is read, CONNECTION_ROOM bytes, of all connections */
    time_ms look_at; /* no connection has to be tended before; the connections lower it */
};

enum { CONNECTION_ROOM = 65536 };

/* ms; of a body, a second is added for each 64 KiB. */
enum {
    CONNECTION_HEAD = 5000,
    CONNECTION_BODY = 5000,
    CONNECTION_IDLE = 60000,
    CONNECTION_WRITE = 10000, /* without progress */
    CONNECTION_LINGER = 2000  /* of a client that is still sending what is not read */
};

/* Takes the descriptor, which does not block. NULL: no memory; the descriptor is closed. */
struct connection *connection_new(struct connection_owner *owner, int file,
                                  const struct socket_peer *peer);

/* The answer is in the exchange that was asked: writes it, and goes on. */
void connection_answer(struct connection *connection);

/* The exchange waits until parks_until, is answered then, and its client is watched. */
void connection_park(struct connection *connection);
/* It is worked on again. */
void connection_resume(struct connection *connection);

/* More may have come of the content of an exchange that has a stream. */
void connection_pour(struct connection *connection);

/* Ends what has waited too long, else lowers `look_at`. */
void connection_tend(struct connection *connection, time_ms now);

/* It takes no further request, and ends as soon as it has answered the one it has. What is parked
 * is answered now, and a stream ends. */
void connection_close(struct connection *connection);

const struct socket_peer *connection_peer(const struct connection *connection);
/* In the owner's list. */
struct connection **connection_next(struct connection *connection);
/* The connection of an exchange that was asked. */
struct connection *connection_of(const struct exchange *exchange);
