/* reload.h - reads and loads a script folder again (rules §13), in a thread of its own, so that the
 * top-level code of its files never runs on the loop. */
#pragma once

#include "engine/generation.h"

/* ms; a folder that takes longer is refused. Its Lua code is limited to 10 s by script/ already,
 * which knows the file to blame; this is for what no hook interrupts. */
#define RELOAD_LIMIT 25000
/* ms since the start: afterwards no further Lua state is loaded ahead. One may take 11 s. */
#define RELOAD_WARM 12000

struct reload_options {
    struct folder *before; /* that is served now; retained */
    struct folder *(*read)(const json_t *paths, struct error *error);
    const json_t *paths;             /* copied */
    const struct settings *settings; /* copied */
    struct clock *clock;             /* retained */
    int states;                      /* so many Lua states are loaded ahead for the workers */
    bool quiet;                      /* no problem is logged */
    void (*wake)(void *arg);         /* called by the thread when it has finished */
    void *wake_arg;
};

struct reload;

/* NULL: no memory or no thread. */
struct reload *reload_start(const struct reload_options *options, struct error *error);
/* True once it has finished, or RELOAD_LIMIT has passed. */
bool reload_finished(struct reload *reload);
/* Ends it in any case. The new generation; NULL: refused, error (may be NULL) is the first problem.
 * Its Lua states use the settings and the clock that the options point to. A thread that did not
 * finish is left behind and cleans up when it does. */
struct generation *reload_end(struct reload *reload, struct error *error);
/* Ends it at once, when the result is not wanted any more. NULL is fine. */
void reload_drop(struct reload *reload);
