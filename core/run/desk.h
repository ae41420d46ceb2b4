/* desk.h - what a running job may ask of the outside: writes go to the loop as notes, questions to
 * a connection of their own that only reads (rules §20). */
#ifndef MOONSHIFT_RUN_DESK_H
#define MOONSHIFT_RUN_DESK_H

#include "run/notes.h"
#include "script/script.h"

struct desk;

/* The connection is opened by the first question. `notes` is borrowed. NULL: no memory. */
struct desk *desk_new(const char *store_url, const struct settings *settings, struct clock *clock,
                      struct notes *notes);
void desk_free(struct desk *desk);

/* The host of every worker's script; any thread. */
struct script_host desk_host(struct desk *desk);

#endif
