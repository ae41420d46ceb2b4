/* left.c - rows of jobs that have succeeded: they go together, behind the outcomes of a turn.
 *
 * A statement a row would cost more than all else that a plain job needs of the server. Only an
 * outcome that asks for no row leaves its own, and one that may ask removes those before it. */
#include "store/postgres/db/array.h"
#include "store/postgres/db/connection.h"
#include "store/postgres/turn/transaction.h"
#include <stdlib.h>

bool postgres_leave_row(struct store *store, int64_t id, bool *left, struct error *error) {
    struct left *gone = &postgres_of(store)->left;
    *left = store->prelock.keeps;
    if (!*left)
        return true;
    if (gone->count == gone->room) {
        size_t room = gone->room ? gone->room * 2 : 64;
        int64_t *ids = realloc(gone->ids, room * sizeof *ids);
        if (!ids)
            return db_no_memory(&store->db, error);
        gone->ids = ids;
        gone->room = room;
    }
    gone->ids[gone->count++] = id;
    return true;
}

bool postgres_left_remove(struct store *store, struct error *error) {
    struct left *gone = &postgres_of(store)->left;
    struct array ids;
    if (!gone->count)
        return true;
    struct row *row = db_query(&store->db, error, "DELETE FROM job WHERE id=ANY(?)", "");
    array_begin(&ids, ARRAY_INT8);
    for (size_t i = 0; i < gone->count; i++)
        array_add_int(&ids, gone->ids[i]);
    array_end(&ids);
    gone->count = 0;
    bool done = row && (statement_bind_array(row, 0, &ids) || db_no_memory(&store->db, error));
    done = done && db_run_row(&store->db, row, error);
    array_clear(&ids);
    return done;
}

static void left_forget(struct store *store) {
    postgres_of(store)->left.count = 0;
}

const struct txn_hook postgres_left_hook = {
    .flush = postgres_left_remove, .drop = left_forget, .parts = true};
