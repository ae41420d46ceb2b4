/* rows_ahead.c - rows of jobs that are read ahead for a command, in one statement (row.h). */
#include "store/rules/ground/row.h"
#include "store/rules/ground/txn_hook.h"
#include "store/rules/ground/unit_ahead.h"
#include <stdlib.h>

void row_want_end(struct store *store) {
    free(store->ahead.rows);
    store->ahead = (struct rows_ahead){0};
}

static int by_id(const void *a, const void *b) {
    const struct job_row *one = a, *other = b;
    return (one->id > other->id) - (one->id < other->id);
}

static struct job_row *rows_find(const struct rows_ahead *ahead, int64_t id) {
    const struct job_row key = {.id = id};
    return ahead->count ? bsearch(&key, ahead->rows, ahead->count, sizeof *ahead->rows, by_id)
                        : NULL;
}

const struct job_row *row_ahead(const struct store *store, int64_t id, bool placeless) {
    const struct job_row *row =
        store->ahead.placeless == placeless ? rows_find(&store->ahead, id) : NULL;
    return row && row->stream ? row : NULL;
}

void row_forget(struct store *store, int64_t id) {
    struct job_row *row = rows_find(&store->ahead, id);
    if (row)
        row->stream = 0;
    unit_ahead_changed(store, id);
}

void row_unlock(struct store *store, int64_t id) {
    struct job_row *row = rows_find(&store->ahead, id);
    if (row)
        row->token = row->owner = 0;
}

/* The set has room for as many rows as ids were given; an id may be given twice. */
static bool read_rows(struct set *set, struct store *store, struct row *row, struct error *error) {
    struct rows_ahead *ahead = &store->ahead;
    enum answer step = NO;
    while ((step = db_step(&store->db, row, error)) == YES)
        if (ahead->count < set->count)
            row_place(row, &ahead->rows[ahead->count++]);
    return step == NO;
}

/* The first of two equal rows is found by a search or it is not: only one stays. */
static void sort(struct rows_ahead *ahead) {
    size_t kept = 0;
    if (ahead->count)
        qsort(ahead->rows, ahead->count, sizeof *ahead->rows, by_id);
    for (size_t i = 0; i < ahead->count; i++)
        if (kept == 0 || ahead->rows[kept - 1].id != ahead->rows[i].id)
            ahead->rows[kept++] = ahead->rows[i];
    ahead->count = kept;
}

bool row_want(struct store *store, struct ids ids, bool placeless, struct error *error) {
    struct rows_ahead *ahead = &store->ahead;
    row_want_end(store);
    if (!store->engine->sets || ids.count < 2)
        return true;
    ahead->rows = calloc(ids.count, sizeof *ahead->rows);
    ahead->placeless = placeless;
    struct set set = {.kind = placeless ? SET_ROWS_PLACELESS : SET_ROWS,
                      .columns = {ids.list},
                      .count = ids.count,
                      .read = read_rows};
    bool done =
        ahead->rows ? store->engine->set(store, &set, error) : db_no_memory(&store->db, error);
    if (done)
        sort(ahead);
    else
        row_want_end(store);
    return done;
}

const struct txn_hook row_hook = {.committed = row_want_end, .drop = row_want_end};
