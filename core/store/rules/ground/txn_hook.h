/* txn_hook.h - what a feature keeps in memory for the open transaction, and does as that ends.
 *
 * A transaction knows no feature: each engine lists its hooks, and every step below calls those
 * that have it in the order of that list. `before_commit` may write, and may be called with nothing
 * to do. After it the counters of `meta` are written and the transaction is committed. `committed`
 * and `rolled_back` come when it is over: they write nothing, cannot fail, and find other writers
 * at work already.
 *
 * A part of a transaction may be undone alone (txn_try). `mark` notes in `size` bytes where the
 * feature stands, and may write what it has kept so far. `back` returns there, once the rows have
 * returned. A feature without them keeps nothing that such a part may change. */
#ifndef MOONSHIFT_STORE_RULES_GROUND_TXN_HOOK_H
#define MOONSHIFT_STORE_RULES_GROUND_TXN_HOOK_H

#include "base/error.h"
#include <stddef.h>

struct store;

enum { TXN_POINTS = 1024 };

struct txn_hook {
    bool (*before_commit)(struct store *store, struct error *error);
    void (*committed)(struct store *store);
    void (*rolled_back)(struct store *store);
    size_t size; /* of a point, TXN_POINTS bytes in all */
    bool (*mark)(struct store *store, void *point, struct error *error);
    bool (*back)(struct store *store, const void *point, struct error *error);
};

#endif
