/* deadline.h - handlers past their time: cut off, and given up where nothing ends them (rules §8).
 * client_tick, client_cut_lost and client_deadline are here, too; private to them and client.c. */
#pragma once

#include "run/pool/threads.h"

/* If the worker runs a job of this client: it is to be given back as soon as its handler lets go.
 * The mutex is held. */
void deadline_cut(struct client *client, struct worker *worker);
