/* listener.h - what a program that is told of work (store_listen) sees of the store. */
#pragma once

#include "store/rules/ground/state.h"

/* As store_look. One that has lost its session is told to others again before it looks: they may
 * have taken it for dead, and what is committed from then on rings for it. */
bool listener_look(struct store *store, bool *own, struct error *error);
