/* door.h - the thread with the sockets: takes connections, reads requests, parks them, and writes
 * answers. It knows no store and no Lua.
 *
 * Requests leave it through `asked`, and come back through door_answer. */
#pragma once

#include "http/api/request_metrics.h"
#include "http/wire/exchange.h"
#include "http/wire/listener.h"

struct door;

struct door_options {
    struct listener *listeners; /* the caller's; closed by door_stop */
    size_t listener_count;
    size_t body_max; /* bytes */
    int connections; /* at most */
    /* In the door's thread: a whole request. It is answered here before this returns (true), or
     * later by door_answer. */
    bool (*asked)(void *arg, struct exchange *exchange);
    /* In the door's thread: one more request waits for these topics, or one less. */
    void (*awaits)(void *arg, const json_t *topics, bool more);
    void *arg;
    struct request_metrics *metrics; /* that it counts into */
};

/* Starts nothing yet. NULL: error. */
struct door *door_new(const struct door_options *options, struct error *error);
/* Starts the thread. False: error. */
bool door_start(struct door *door, struct error *error);

/* Any thread: the answer is in the exchange, or it is to be parked (exchange_parks). */
void door_answer(struct door *door, struct exchange *exchange);
/* Any thread: `count` jobs of the topic may be there. As many of those that are parked for it are
 * asked again, first come first served; and as many of each that asks for something else. */
void door_ring(struct door *door, const char *topic, int count);
/* Any thread: more has been written into streams. */
void door_pour(struct door *door);

/* Closes the listeners, ends those that are idle, answers what is parked as it is, and
 * waits until every request has been answered and written. */
void door_stop(struct door *door);
/* Any thread: begins that, and does not wait for it. */
void door_close(struct door *door);
void door_free(struct door *door); /* stopped; NULL is fine */
