/* unread.c - the rows of jobs that were locked unread, by their ids.
 *
 * They are asked for in the order of the ids, in which the server finds them: one walk through its
 * index costs two thirds of a search for each. */
#include "store/postgres/db/array.h"
#include "store/postgres/db/connection.h"
#include "store/rules/ground/row.h"
#include "store/rules/work/work.h"
#include <stdlib.h>

/* A job, and where it stands in the list of the caller. */
struct standing {
    struct job *job;
    size_t at;
};

static int by_id(const void *left, const void *right) {
    const struct standing *a = left, *b = right;
    return (a->job->id > b->job->id) - (a->job->id < b->job->id);
}

static bool read_in_order(struct store *store, struct job **jobs, size_t count,
                          struct error *error) {
    struct array ids;
    struct row *row = db_query(
        &store->db, error, "SELECT " ROW_COLUMNS " FROM job j WHERE j.id=ANY(?) ORDER BY j.id", "");
    array_begin(&ids, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        array_add_int(&ids, jobs[i]->id);
    array_end(&ids);
    bool done = row && (statement_bind_array(row, 0, &ids) || db_no_memory(&store->db, error));
    done = done && unread_rows(store, row, jobs, count, error);
    array_clear(&ids);
    return done;
}

bool postgres_read_taken(struct store *store, struct job **jobs, size_t count,
                         struct error *error) {
    struct standing *list = malloc((count + 1) * sizeof *list);
    struct job **sorted = malloc((count + 1) * sizeof(struct job *));
    bool done = (list && sorted) || db_no_memory(&store->db, error);
    for (size_t i = 0; done && i < count; i++)
        list[i] = (struct standing){jobs[i], i};
    if (done)
        qsort(list, count, sizeof *list, by_id);
    for (size_t i = 0; done && i < count; i++)
        sorted[i] = list[i].job;
    const bool read = done && read_in_order(store, sorted, count, error);
    for (size_t i = 0; done && i < count; i++) /* those that were read, and the others */
        jobs[list[i].at] = sorted[i];
    free(list);
    free(sorted);
    return read;
}
