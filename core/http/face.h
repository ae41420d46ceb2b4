/* face.h - the network face of one store: from its addresses to its answers (docs/server.md).
 *
 * One thread has the sockets (door.h). Others answer, each with an engine of its own: the clerk
 * writes, readers ask, walkers have the folder loaded. Requests and answers are all that the door
 * and they share. */
#pragma once

#include "engine/engine.h"
#include "run/durations.h"

struct face;

struct face_options {
    const struct settings *settings;                                  /* outlives the face */
    struct clock *clock;                                              /* retained */
    struct folder *folder;                                            /* NULL: none; retained */
    struct folder *(*read)(const json_t *paths, struct error *error); /* it again; any thread */
    const json_t *paths;                                              /* retained */
    bool open; /* whoever reaches it may all; refused for addresses beyond this machine */
    /* Any thread: the executor beside it takes work. NULL: there is none. */
    bool (*ready)(void *arg, struct error *why);
    void *arg;
    void (*reloaded)(void); /* any thread: the folder was read again, or refused; may be NULL */
    const struct durations *durations; /* of that executor; outlives the face */
};

/* True if the settings have an address, or systemd has handed over a socket. */
bool face_wanted(const struct settings *settings);

/* Opens the store and the addresses, and answers from now on. NULL: error. */
struct face *face_new(const struct face_options *options, struct error *error);

/* The address number `at` from 0 on, with the port that the kernel gave for 0; NULL: no more. */
const char *face_address(const struct face *face, size_t at);

#define FACE_KEY_SIZE 65

/* Makes the key with which a browser signs in once, within ten minutes, and may do everything. */
bool face_key(struct face *face, char key[FACE_KEY_SIZE]);

/* ---- any thread ---- */

/* Has the folder read again; until it is loaded, requests find the one before. */
void face_reload(struct face *face);

/* Begins to stop, and does not wait for it. */
void face_close(struct face *face);

/* Stops: no connection is taken any more, what is parked is answered as if nothing had come, what
 * is worked on is answered, and then the connections end. Frees it; NULL is fine. */
void face_free(struct face *face);
