/* waker.h - has fetches that wait asked again once there may be work of their topics.
 *
 * One thread looks at the store, with an engine of its own. It begins with the first fetch that
 * waits. Between looks it waits to be told by the store: by any program that makes work of these
 * topics. Dates that need nobody, as those of timers and of locks, are in what it sees. */
#pragma once

#include "engine/engine.h"
#include "http/door.h"

struct waker;

struct waker_options {
    struct engine *(*open)(void *arg, struct error *error); /* in the thread: to look */
    void *arg;
};

/* Starts no thread yet. NULL: no memory. */
struct waker *waker_new(const struct waker_options *options);

/* Any thread: one more waits at the door for these topics, an array of names; or one less. */
void waker_await(struct waker *waker, struct door *door, const json_t *topics);
void waker_leave(struct waker *waker, const json_t *topics);

/* Ends it. The door is there; NULL is fine. */
void waker_free(struct waker *waker);
