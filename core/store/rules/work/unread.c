/* unread.c - the rows of jobs that were locked unread, behind the commit.
 *
 * To read a row takes a third of the time of an acquisition, and more where another writer has just
 * changed the file, as the pages known before are then forgotten. Behind the commit the others can
 * write meanwhile. */
#include "store/rules/ground/row.h"
#include "store/rules/work/work.h"

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

bool unread_rows(struct store *store, struct row *row, struct job **jobs, size_t count,
                 struct error *error) {
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
