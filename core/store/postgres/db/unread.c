/* unread.c - the rows of jobs that were locked unread, by their ids. */
#include "store/postgres/db/array.h"
#include "store/postgres/db/connection.h"
#include "store/rules/ground/row.h"
#include "store/rules/work/work.h"

bool postgres_read_taken(struct store *store, struct job **jobs, size_t count,
                         struct error *error) {
    struct array ids;
    struct row *row = db_query(&store->db, error,
                               "SELECT " ROW_COLUMNS " FROM unnest(?) WITH ORDINALITY AS t(id, n)"
                               " JOIN job j ON j.id=t.id ORDER BY t.n",
                               "");
    array_begin(&ids, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        array_add_int(&ids, jobs[i]->id);
    array_end(&ids);
    bool done = row && (statement_bind_array(row, 0, &ids) || db_no_memory(&store->db, error));
    done = done && unread_rows(store, row, jobs, count, error);
    array_clear(&ids);
    return done;
}
