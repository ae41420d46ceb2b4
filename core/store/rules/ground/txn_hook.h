/* txn_hook.h - what a feature keeps in memory for the open transaction, and does as that ends.
 *
 * A transaction knows no feature: every step below calls the hooks that have it in the order of one
 * list (work/hooks.h). `flush` writes what is kept back, before the commit at the latest; it may be
 * called with nothing to do. After it the counters of `meta` are written and the transaction is
 * committed. `committed`, or `drop` after a rollback, come when it is over: they write nothing,
 * cannot fail, and find other writers at work already.
 *
 * A part of a transaction may be undone alone (txn_try). For a feature with `parts`, `flush` comes
 * before the part, and `drop` once its rows have returned. One with a `size` has so many bytes `at`
 * that place of the store, which return; or it notes them itself, and goes `back` to them. A
 * feature with none of these keeps nothing that such a part may change. */
#pragma once

#include "base/error.h"
#include <stddef.h>

struct store;

enum { TXN_POINTS = 1024 }; /* bytes of all points together */

struct txn_hook {
    bool (*flush)(struct store *store, struct error *error);
    void (*committed)(struct store *store);
    void (*drop)(struct store *store);
    bool parts;
    bool unruled; /* what `flush` writes is the same whoever's rules the store writes by */
    size_t size, at;
    void (*mark)(struct store *store, void *point);
    bool (*back)(struct store *store, const void *point, struct error *error);
};
