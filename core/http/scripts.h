/* scripts.h - the script folder as the threads of a face have it. It is read and checked in a
 * thread of its own, so that no request waits while files are evaluated. */
#pragma once

#include "engine/generation.h"

struct scripts;

struct scripts_options {
    const struct settings *settings; /* outlives it */
    struct clock *clock;
    struct folder *folder;                                            /* NULL: none; retained */
    struct folder *(*read)(const json_t *paths, struct error *error); /* it again; NULL: never */
    const json_t *paths;                                              /* outlives it */
    /* In that thread, once it has read: fresh: there is a newer folder, which can be loaded. */
    void (*read_ended)(void *arg, bool fresh);
    void *arg;
};

/* NULL: no memory. */
struct scripts *scripts_new(const struct scripts_options *options);

/* ---- any thread ---- */

/* The newest folder that could be loaded, retained; NULL: there is none. */
struct folder *scripts_folder(struct scripts *scripts);

/* What the check of that folder has found, once: for a thread that needs no Lua state. The
 * caller's; NULL: it has been taken, or the folder is the first one. */
struct generation *scripts_checked(struct scripts *scripts);

/* Has the folder read again. One that cannot be loaded is told of, and the one before stays. False:
 * nothing is read. */
bool scripts_reload(struct scripts *scripts);

/* Reads no more, and waits for nothing that is read now. NULL is fine, here and below. */
void scripts_end(struct scripts *scripts);
void scripts_free(struct scripts *scripts);
