/* presence.h - what other executors know of this one: its session, its bell, its signs of life. */
#pragma once

#include "store/rules/ground/transaction.h"

struct store;

enum { DEAD_AFTER = 10000 }; /* ms: an executor that is away comes back sooner if it lives */

/* Takes what a lost session had held: the signs of life; and these with the executor's lock and
 * bell. */
bool postgres_sign_again(struct store *store, struct error *error);
bool postgres_enter_again(struct store *store, struct error *error);

extern const struct txn_hook postgres_sign_hook, postgres_bell_hook;
