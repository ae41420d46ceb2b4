/* leftover.h - files of executors that are gone. */
#ifndef MOONSHIFT_STORE_SQLITE_BESIDE_LEFTOVER_H
#define MOONSHIFT_STORE_SQLITE_BESIDE_LEFTOVER_H

#include "store/sqlite/db/connection.h"

/* In a transaction: removes the slots and bells of executors that are gone, but for `self`. */
void leftover_clear(struct store *store, int64_t self);
/* The same of those that the transaction has reaped, after its commit. */
extern const struct txn_hook reap_hook;

#endif
