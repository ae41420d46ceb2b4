/* http_face.h - a network face in a process of its own, as `serve` has it, and connections to it.
 */
#pragma once

#include "bench/rig.h"

struct http_face;

/* Begins it on the rig's store. No store may be open in this process, and no other thread may run.
 * NULL: error. */
struct http_face *http_face_begin(const struct rig *rig, struct error *error);
/* Ends it. *syncs: how many it took; may be NULL. False: it had ended before. NULL is fine. */
bool http_face_end(struct http_face *face, int64_t *syncs, struct error *error);

/* A connection of a client, and what it has read. */
struct http_client {
    int file;
    char *room; /* of an answer */
    size_t size;
};

/* Any thread or process. http_client_close in any case. */
bool http_client_open(struct http_client *client, const struct http_face *face,
                      struct error *error);
void http_client_close(struct http_client *client);
/* Posts a body of JSON. Returns the text that is answered to it, until the next call. NULL: error,
 * also for a status from 300 on. */
const char *http_client_post(struct http_client *client, const char *path, const char *body,
                             size_t size, struct error *error);
