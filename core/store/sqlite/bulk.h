/* bulk.h - jobs that are written, locked or ended many at a time.
 *
 * Rows are kept until there are enough of them. Then one statement a table writes them. It reads
 * them from a virtual table of the connection, the narrow ones in the order of their key. That is
 * twice as fast as a statement a row. */
#ifndef MOONSHIFT_STORE_SQLITE_BULK_H
#define MOONSHIFT_STORE_SQLITE_BULK_H

#include "job/outcome.h"
#include "store/rules/txn_hook.h"
#include "store/sql/db.h"

struct bulk_row {
    const struct job *job; /* filled in; must stay until the bulk is flushed */
    time_ms place;
    const struct outcome *outcome; /* of a job that has succeeded */
};

struct bulk {
    bool open;             /* jobs that only need rows of their own may be added */
    struct bulk_row *rows; /* room for a fixed number, or NULL */
    size_t count;
    size_t from, to; /* what the next statement reads */
};

/* Makes the virtual table known to the connection. */
bool bulk_attach(struct bulk *bulk, struct db *db, const char *name, struct error *error);
void bulk_clear(struct bulk *bulk);

/* Keeps the job's rows for later; writes all of them if there is no more room. */
bool bulk_add(struct bulk *bulk, struct db *db, const struct job *job, time_ms place,
              struct error *error);

/* Writes what is kept, in the open transaction; with `done` false it is dropped. Returns `done`, or
 * false after an error: then the transaction must go. */
bool bulk_write(struct bulk *bulk, struct db *db, bool done, struct error *error);
static inline bool bulk_flush(struct bulk *bulk, struct db *db, bool done, struct error *error) {
    return bulk->count ? bulk_write(bulk, db, done, error) : done;
}

/* True if the rows of this job are kept. */
bool bulk_has(const struct bulk *bulk, int64_t job);

/* Keeps the lock of a job that has been taken for later; the job must stay until then. */
bool bulk_take(struct bulk *bulk, struct db *db, const struct job *job, struct error *error);
/* Writes the locks that are kept. */
bool bulk_write_locks(struct bulk *bulk, struct db *db, struct error *error);
static inline bool bulk_lock(struct bulk *bulk, struct db *db, struct error *error) {
    return !bulk->count || bulk_write_locks(bulk, db, error);
}

/* Shows the first of these jobs to the next statement, which reads the table outside of a write
 * transaction. Returns how many; 0: no memory. */
size_t bulk_show(struct bulk *bulk, const struct db *db, struct job *const *jobs, size_t count,
                 struct error *error);

/* Keeps what the history says of a success for later; and writes what is kept, in order. Of a bulk
 * of its own, the table `endings`. */
bool bulk_settle(struct bulk *bulk, struct db *db, const struct outcome *outcome,
                 struct error *error);
bool bulk_write_endings(struct bulk *bulk, struct db *db, struct error *error);
static inline bool bulk_settled(struct bulk *bulk, struct db *db, struct error *error) {
    return !bulk->count || bulk_write_endings(bulk, db, error);
}

/* Before the commit what is kept in both of the store's is written. */
extern const struct txn_hook bulk_hook;

#endif
