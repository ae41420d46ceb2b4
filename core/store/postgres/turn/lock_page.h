/* lock_page.h - the locks of many jobs in one row.
 *
 * A turn that takes many plain jobs writes one row for all of their locks: the ids, and a bit for
 * each that is held. The view `locks` shows them beside those of `locked`, which have rows of their
 * own. A turn settles them by a change of the bits. Whoever else changes a lock gives it a row of
 * its own first. */
#pragma once

#include "store/postgres/db/connection.h"

/* The table, and the view. */
extern const char lock_page_schema[];

/* True if the locks that the bulk offers fit into a row. */
bool lock_page_fits(struct store *store, const struct bulk *bulk);
bool lock_page_write(struct store *store, const struct bulk *bulk, struct error *error);
/* SET_FENCE, of those that are in pages. *rest becomes what is left to look up; clear it. */
bool lock_page_fence(struct store *store, struct set *set, struct set *rest, struct error *error);
void lock_page_rest_clear(struct set *rest);

/* Gives every lock a row of its own. */
bool lock_page_none(struct store *store, struct error *error);

extern const struct txn_hook lock_page_hook;
