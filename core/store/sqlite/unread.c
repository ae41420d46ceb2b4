/* unread.c - the rows of jobs that were locked unread, behind the commit.
 *
 * To read a row takes a third of the time of an acquisition, and more where another writer has just
 * changed the file, as SQLite then forgets the pages it knows. Behind the commit the others can
 * write meanwhile. */
#include "store/rules/row.h"
#include "store/sqlite/bulk_table.h"
#include "store/sqlite/connection.h"

/* Puts the whole job in the place of what was known of it. */
static bool unread_fill(struct store *store, struct row *row, struct job **job,
                        struct error *error) {
    struct job read;
    if (!row_read(store, row, &read, error))
        return false;
    read.token = (*job)->token;
    row_locked(store, &read);
    struct job *copy = job_copy(&read);
    if (!copy)
        return db_no_memory(&store->db, error);
    copy->next = (*job)->next;
    job_free(*job);
    *job = copy;
    return true;
}

/* The rows come in the order of the jobs; those of some may be gone. */
static bool unread_some(struct store *store, struct job **jobs, size_t count, struct error *error) {
    struct row *row = db_query(&store->db, error,
                               "SELECT " ROW_COLUMNS " FROM bulk b CROSS JOIN job j"
                               " WHERE j.id=b.id",
                               "");
    size_t at = 0;
    enum answer step = NO;
    while ((step = db_step(&store->db, row, error)) == YES) {
        while (at < count && jobs[at]->id != row_int(row, ROW_id))
            at++;
        if (at == count || !unread_fill(store, row, &jobs[at], error)) {
            row_done(row);
            return at == count;
        }
        at++;
    }
    return step == NO;
}

bool sqlite_read_taken(struct store *store, struct job **jobs, size_t count, struct error *error) {
    struct bulk *bulk = &store->bulk;
    size_t done = 0, shown = 0;
    bool fine = true;
    while (fine && done < count) {
        if (!transaction_look(store, error))
            return false;
        shown = bulk_table_show(bulk, jobs + done, count - done, error);
        fine = shown && unread_some(store, jobs + done, shown, error);
        bulk->from = bulk->to = 0;
        transaction_look_end(store);
        done += shown;
    }
    return fine;
}
