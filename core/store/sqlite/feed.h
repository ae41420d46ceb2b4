/* feed.h - jobs that are written, locked or ended many at a time.
 *
 * Rows are kept until there are enough of them, and then go into each table with one statement,
 * which reads them from a virtual table of the connection: the narrow ones in the order of their
 * key. That is twice as fast as a statement a row. */
#ifndef MOONSHIFT_STORE_SQLITE_FEED_H
#define MOONSHIFT_STORE_SQLITE_FEED_H

#include "base/outcome.h"
#include "store/sqlite/db.h"

struct feed_row {
    const struct job *job; /* filled in; must stay until the feed is flushed */
    time_ms place;
    const struct outcome *outcome; /* of a job that has succeeded */
};

struct feed {
    bool open;             /* jobs that only need rows of their own may be added */
    struct feed_row *rows; /* room for a fixed number, or NULL */
    size_t count;
    size_t from, to; /* what the next statement reads */
};

/* Makes the virtual table known to the connection. */
bool feed_attach(struct feed *feed, struct db *db, const char *name, struct error *error);
void feed_clear(struct feed *feed);

/* Keeps the job's rows for later; writes all of them if there is no more room. */
bool feed_add(struct feed *feed, struct db *db, const struct job *job, time_ms place,
              struct error *error);

/* Writes what is kept, in the open transaction; with `done` false it is dropped. Returns `done`, or
 * false after an error: then the transaction must go. */
bool feed_flush(struct feed *feed, struct db *db, bool done, struct error *error);

/* Keeps the lock of a job that has been taken for later; the job must stay until then. */
bool feed_take(struct feed *feed, struct db *db, const struct job *job, struct error *error);
/* Writes the locks that are kept. */
bool feed_lock(struct feed *feed, struct db *db, struct error *error);

/* Keeps what the history says of a success for later; and writes what is kept, in order. Of a feed
 * of its own, the table `endings`. */
bool feed_settle(struct feed *feed, struct db *db, const struct outcome *outcome,
                 struct error *error);
bool feed_settled(struct feed *feed, struct db *db, struct error *error);

#endif
