/* relay.h - makes jobs of the rows of the outbox beside the loop (rules §1, store/outbox.h), in a
 * thread with an engine of its own: functions of definitions are Lua, and a turn has none. Both are
 * begun with the first row that a turn sees. */
#pragma once

#include "job/settings.h"

struct relay;
struct store;

/* The first two are borrowed and must outlive the relay. `wake` is called from its thread when
 * there is nothing more to make. NULL: no memory. */
struct relay *relay_new(const struct settings *settings, struct clock *clock,
                        void (*wake)(void *arg), void *wake_arg);
/* Waits for the set that is under way. NULL is fine. */
void relay_free(struct relay *relay);

/* Begins if a turn or the bell has seen rows. Never waits. */
void relay_look(struct relay *relay, const struct store *store);
/* True once after `wake`: what was made may be looked for. */
bool relay_made(struct relay *relay);
