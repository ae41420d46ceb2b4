/* lock_page.h - the locks of many jobs in one row.
 *
 * A turn that takes many plain jobs writes one row for all of their locks: the ids, and a bit for
 * each that is held. The view `locks` shows them beside those of `locked`, which have rows of their
 * own. A turn settles them by a change of the bits. Whoever else changes a lock gives it a row of
 * its own first. */
#ifndef MOONSHIFT_STORE_POSTGRES_TURN_LOCK_PAGE_H
#define MOONSHIFT_STORE_POSTGRES_TURN_LOCK_PAGE_H

#include "store/rules/ground/engine.h"
#include "store/rules/ground/txn_hook.h"

/* A row of this executor; its jobs have the tokens from `token` on. */
struct lock_page {
    int64_t token;
    int count;
    int alone;        /* so many of its locks were ended by themselves */
    bool fresh, gone; /* in the open transaction: it was written, or is not there any more */
};

enum { LOCK_PAGES = 16, LOCK_PAGES_ROOM = 32 }; /* of an executor; with those that have gone */

/* What is known of them here; the table says what is true. */
struct lock_pages {
    struct lock_page list[LOCK_PAGES_ROOM];
    int count;
    int rest;  /* so many acquisitions write rows, as runs of a page had to be settled one by one */
    bool none; /* the open transaction has given every lock a row of its own */
};

/* SQL: the lock of the job with this id, or nothing: id, token, owner, until. */
#define LOCK_OF(job)                                                                               \
    "LATERAL (SELECT id, token, owner, until FROM locked WHERE id=" job " UNION ALL"               \
    " SELECT " job ", p.token+array_position(p.ids, " job ")-1, p.owner, NULL FROM lock_page p"    \
    " WHERE " job "=ANY(p.ids) AND get_bit(p.held, array_position(p.ids, " job ")-1)=1)"

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

#endif
