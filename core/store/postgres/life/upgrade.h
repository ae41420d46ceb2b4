/* upgrade.h - how a store comes to the next version of its schema while programs of both work.
 *
 * A version has up to three steps. `widen` adds tables, or columns that have a default: programs of
 * the version before do not notice. `index` is built beside the work, and
 * `drop` goes beside it: programs of the version before are slower without it. `narrow` takes away
 * what those programs need, or changes what it means: it waits until no live executor has one. */
#pragma once

#include "base/error.h"
#include <stdint.h>

struct store;

enum { SCHEMA_FIRST = 6 }; /* the first that was released; tables as in a file of that version */

struct upgrade {
    int version;                /* that it leads to; 0: the end of the list */
    const char *widen, *narrow; /* statements; NULL: none */
    const char *too;            /* more of `widen`; NULL: none */
    const char *index;          /* CREATE INDEX CONCURRENTLY IF NOT EXISTS …; NULL: none */
    const char *drop;           /* DROP INDEX CONCURRENTLY IF EXISTS …; NULL: none */
};

/* From the first version on, in their order. A spec puts a list of its own here. */
extern const struct upgrade *postgres_upgrades;

/* The version that this program knows. */
int64_t upgrade_newest(void);

/* Does every step that may be done now; store->schema says how far it came. The store is open and
 * of a version that this program knows. */
bool upgrade_run(struct store *store, struct error *error);
