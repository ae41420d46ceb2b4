/* life_sign.h - signs of life: bytes of the gate that a store holds while it writes something in
 * several transactions (rules §1). They go with the process; then others may clean up what it has
 * left. */
#pragma once

#include "store/sqlite/db/connection.h"

/* Takes the byte until sign_drop or the end of the store. False: no memory, or it is taken. */
bool sign_take(struct store *store, int64_t byte, struct error *error);
void sign_drop(struct store *store, int64_t byte);
void sign_clear(struct store *store);

/* Drops it with the commit of the open transaction. */
void sign_drop_after(struct store *store, int64_t byte);
extern const struct txn_hook sign_hook;

bool sign_own(const struct store *store, int64_t byte);
/* True if a store holds the byte: this one or another one, of whatever process. */
bool sign_alive(const struct store *store, int64_t byte);
