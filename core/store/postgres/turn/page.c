/* page.c - the first ready jobs of many streams, in one statement.
 *
 * The lists come one behind the other, each in the order of its index: what is asked
 * for each depends on what stands before it, so the planner has no other way than loops. To sort
 * them would cost a third of the whole. */
#include "store/postgres/db/array.h"
#include "store/postgres/turn/reader.h"
#include "store/rules/ground/row.h"
#include "store/rules/record/bulk.h"

#define LISTS " FROM unnest(?, ?, ?, ?, ?, ?) AS s(stream, quota, rank, place, id, most)"
#define READY                                                                                      \
    " CROSS JOIN LATERAL (SELECT ctid, rank, place, id, lane, plain FROM ready"                    \
    " WHERE stream=s.stream AND (rank, place, id)>(s.rank, s.place, s.id) AND rank<=s.most"        \
    " ORDER BY rank, place, id LIMIT s.quota) AS r"

/* Depends on what stands before it: no other order of the loops is possible. */
#define JOBS " LEFT JOIN LATERAL (SELECT * FROM job WHERE id=r.id OFFSET 0) AS j ON true"

/* A place whose lane runs comes without its job. */
#define LANE " LEFT JOIN LATERAL (SELECT owner FROM lane WHERE id=r.lane OFFSET 0) AS l ON true"
#define FREE_JOBS                                                                                  \
    " LEFT JOIN LATERAL (SELECT * FROM job WHERE l.owner IS NULL AND id=r.id OFFSET 0) AS j"       \
    " ON true LEFT JOIN LATERAL"                                                                   \
    " (SELECT 1 AS parks FROM parked WHERE l.owner IS NULL AND lane=r.lane LIMIT 1) AS p ON true"

enum { COLUMNS = 6 };

static const char *const page_sql[] = {
    [PAGE_PLACES] = "SELECT r.rank, r.place, r.id, r.lane, r.plain, s.stream, r.ctid" LISTS READY,
    [PAGE_JOBS] = "SELECT " ROW_COLUMNS ", r.place, r.id, r.rank, r.ctid, r.plain" LISTS READY JOBS,
    [PAGE_LANES] = "SELECT " ROW_COLUMNS ", r.place, r.id, r.rank, r.ctid, r.lane, s.stream,"
                   " l.owner, p.parks" LISTS READY LANE FREE_JOBS,
};

static void fill(struct array arrays[COLUMNS], const struct ready_page *page) {
    for (int at = 0; at < COLUMNS; at++)
        array_begin(&arrays[at], ARRAY_INT8);
    for (size_t i = 0; i < page->count; i++) {
        const struct ready_list *list = &page->lists[i];
        const int64_t columns[COLUMNS] = {list->stream, list->quota, list->rank,
                                          list->place,  list->id,    list->rank_max};
        for (int at = 0; at < COLUMNS; at++)
            array_add_int(&arrays[at], columns[at]);
    }
    for (int at = 0; at < COLUMNS; at++)
        array_end(&arrays[at]);
}

/* NULL: error. */
static struct row *page_ask(struct db *db, const struct ready_page *page, struct error *error) {
    struct array arrays[COLUMNS];
    struct row *row = db_query(db, error, page_sql[page->rows], "nnnnnn", 0, 0, 0, 0, 0, 0);
    bool bound = row != NULL;
    fill(arrays, page);
    for (int at = 0; bound && at < COLUMNS; at++)
        bound = statement_bind_array(row, at, &arrays[at]) || db_no_memory(db, error);
    for (int at = 0; at < COLUMNS; at++)
        array_clear(&arrays[at]);
    return bound ? row : NULL;
}

/* Sends the question to the second connection. NULL: it cannot be asked. */
static struct row *ask_beside(struct store *store, const struct ready_page *page) {
    struct db *db = reader_fits(store, page) ? reader_begin(store) : NULL;
    if (!db)
        return NULL;
    struct row *row = page_ask(db, page, NULL);
    bool sent = row && statement_send_ahead(row, NULL);
    if (!sent)
        reader_close(store);
    return sent && reader_send(store) ? row : NULL;
}

/* What a turn writes in any case goes to the first connection meanwhile. NO: nothing was read. */
static enum answer read_beside(struct store *store, struct ready_page *page, struct error *error) {
    struct row *row = ask_beside(store, page);
    if (!row)
        return NO;
    if (!bulk_settled_ahead(store, error)) {
        reader_close(store);
        return FAILED;
    }
    session_push(&postgres_of(store)->session);
    const int64_t begun = clock_monotonic_us();
    if (!reader_land(store))
        return NO;
    page->waited = clock_monotonic_us() - begun;
    return page->read(page, store, row, error) ? YES : FAILED;
}

bool postgres_ready_page(struct store *store, struct ready_page *page, struct error *error) {
    enum answer beside = read_beside(store, page, error);
    if (beside != NO)
        return beside == YES;
    struct row *row = page_ask(&store->db, page, error);
    return row && page->read(page, store, row, error);
}
