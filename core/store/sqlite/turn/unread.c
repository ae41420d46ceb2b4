/* unread.c - the rows of jobs that were locked unread, by the virtual table of a bulk. */
#include "store/rules/ground/row.h"
#include "store/rules/work/work.h"
#include "store/sqlite/db/bulk_table.h"
#include "store/sqlite/db/connection.h"
#include "store/sqlite/turn/turn.h"

static const char unread_sql[] = "SELECT " ROW_COLUMNS " FROM bulk b CROSS JOIN job j"
                                 " WHERE j.id=b.id";

/* Nobody else changes the payload of a job that is locked, so what another one has not synced yet
 * is no part of these rows. */
bool sqlite_read_taken(struct store *store, struct job **jobs, size_t count, struct error *error) {
    struct bulk *bulk = &store->bulk;
    size_t done = 0, shown = 0;
    bool fine = true;
    while (fine && done < count) {
        if (!transaction_look(store, error))
            return false;
        shown = bulk_table_show(bulk, jobs + done, count - done, error);
        fine = shown && unread_rows(store, db_query(&store->db, error, unread_sql, ""), jobs + done,
                                    shown, error);
        bulk->from = bulk->to = 0;
        transaction_look_end(store);
        done += shown;
    }
    return fine;
}
