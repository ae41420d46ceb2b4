/* events.h - tells subscribers what happens in the store (GET /v1/events), once a second.
 *
 * One thread asks the store once for all of them; while there is none, nothing is asked and the
 * store is not open. One that goes on behind an event of earlier days is asked for alone until it
 * has come as far as the others. */
#pragma once

#include "http/api/subscriber.h"
#include "http/door.h"
#include "http/who/callers.h"

struct events;

struct events_options {
    struct callers *callers;
    struct engine *(*open)(void *arg, struct error *error); /* in the thread: to ask */
    void *arg;
};

/* Starts no thread yet. NULL: no memory. */
struct events *events_new(const struct events_options *options);
/* Any thread: takes the subscriber, whose exchange the door has or gets. */
void events_add(struct events *events, struct door *door, struct subscriber *subscriber);
/* Ends the streams. The door is there; NULL is fine. */
void events_free(struct events *events);
