/* place.h - a directory of its own for one bench: the handlers and the temporary store. */
#pragma once

#include "base/error.h"
#include <limits.h>
#include <stddef.h>

struct place {
    char path[PATH_MAX - 256]; /* "": none */
};

/* Makes the directory in `parent`, with the handlers of the plain phases. INT, TERM and HUP are
 * noted from just before it is made, so that they leave nothing behind. */
bool place_make(struct place *place, const char *parent, struct error *error);
/* Removes everything; the signals are the system's again. */
void place_clear(struct place *place);

/* Has the folder hold exactly these embedded files of core/bench, such as "handlers/noop.lua". */
bool place_folder(const struct place *place, const char *const *names, size_t count,
                  struct error *error);

/* PATH_MAX bytes: the place's path, a slash and `name`. */
void place_file(const struct place *place, const char *name, char *path);
/* Removes the store and what lies beside it. */
void place_empty(const struct place *place);

/* False: a signal came. */
bool place_goes_on(struct error *error);
/* A child of this process is killed by them. */
void place_leave_signals(void);
