/* verb.h - how any verb on jobs goes: every id is checked first, then all are changed, then one
 * entry is written to the operation log (rules §11; §1: whose token goes). */
#ifndef MOONSHIFT_STORE_SQLITE_VERB_H
#define MOONSHIFT_STORE_SQLITE_VERB_H

#include "store/sqlite/row.h"
#include "store/sqlite/verbs.h"

#define VERB_TEXT 600 /* a cycle, its zone and its policy fit */

struct verb {
    const char *name;
    /* NULL: every state is fine */
    bool (*check)(struct store *store, const struct verb *verb, const struct row *row,
                  struct error *error);
    bool (*apply)(struct store *store, const struct verb *verb, struct row *row,
                  struct error *error);
    /* the value for the log, asked before and after; `text` has VERB_TEXT bytes; may be NULL */
    void (*show)(const struct row *row, char *text);
    /* the same where the row does not say it; NULL: show does */
    bool (*read)(struct store *store, const struct row *row, char *text, struct error *error);
    int64_t value; /* the new retries, priority, due date … */
    bool suspends; /* the reasons in `value` are put, not taken away */
    bool set_due;
    bool cascade; /* a due date: the cycle's later ones move with it */
    bool silent;  /* part of another verb, which writes the log's entry */
    time_ms due, now;
    const char *cycle, *zone; /* zone NULL: stays */
    enum misfire misfire;     /* if set_misfire; else it stays */
    bool set_misfire;
};

/* In the open transaction, or one of its own. */
bool verb_run(struct store *store, const struct verb *verb, struct ids ids, struct error *error);

/* Only the checks. */
bool verb_check(struct store *store, const struct verb *verb, struct ids ids, struct error *error);

/* Writes what may change, and moves a job that is not running to where it belongs now. */
bool verb_move(struct store *store, const struct row *old, struct row *row, time_ms now,
               struct error *error);

/* For verb_check: a timer whose due date can be counted anew; a job whose cycle can be moved,
 * or can be another. */
bool due_again_check(struct store *store, const struct verb *verb, const struct row *row,
                     struct error *error);
bool due_check(struct store *store, const struct verb *verb, const struct row *row,
               struct error *error);
bool recycle_check(struct store *store, const struct verb *verb, const struct row *row,
                   struct error *error);

#endif
