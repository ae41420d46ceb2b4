#include "store/postgres/turn/lock_page.h"
#include "store/postgres/db/array.h"
#include "store/postgres/db/connection.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST = 64, /* fewer locks get rows of their own */
    ALONE = 4,  /* locks of a page that are ended by themselves; with more of them it is no use */
    REST = 16
};

/* Bits, streams and lanes stand in the order of the ids. One stream is that of all. */
#define STREAM "coalesce(u.stream, p.streams[1])"
#define EACH_LOCK                                                                                  \
    " CROSS JOIN LATERAL ROWS FROM(unnest(p.ids), unnest(p.streams), unnest(p.lanes))"             \
    " WITH ORDINALITY AS u(id, stream, lane, n) WHERE get_bit(p.held, (u.n-1)::int)=1"

const char lock_page_schema[] =
    "CREATE TABLE lock_page(token bigint PRIMARY KEY, owner bigint NOT NULL,"
    " ids bigint[] NOT NULL, streams bigint[] NOT NULL, lanes bigint[], held bit varying NOT NULL)"
    " WITH (fillfactor=50);\n"
    "ALTER TABLE lock_page ALTER ids SET STORAGE EXTERNAL;\n"
    "CREATE OR REPLACE VIEW locks AS"
    " SELECT id, token, owner, stream, lane, until, edited FROM locked UNION ALL"
    " SELECT u.id, p.token+u.n-1, p.owner, " STREAM ", u.lane, NULL::bigint, 0::bigint"
    " FROM lock_page p" EACH_LOCK ";\n";

/* Moves the locks of some pages into rows of their own. */
#define SPREAD(which)                                                                              \
    "WITH p AS (DELETE FROM lock_page" which " RETURNING *)"                                       \
    " INSERT INTO locked(id, token, owner, stream, lane)"                                          \
    " SELECT u.id, p.token+u.n-1, p.owner, " STREAM ", u.lane FROM p" EACH_LOCK

static struct lock_pages *pages_of(const struct store *store) {
    return &postgres_of(store)->lock_pages;
}

/* ---- writing ---- */

/* Commands look for the locks of the lane of an instance. */
static bool lock_fits(const struct job *job) {
    return !(job->lane_id & JOB_LANE_OF_INSTANCE) && !job->instance_id && !job->crashes;
}

bool lock_page_fits(struct store *store, const struct bulk *bulk) {
    struct lock_pages *pages = pages_of(store);
    if (store->self.remote || /* the locks of a page end with a lease */
        bulk->to - bulk->from < LEAST || pages->count == LOCK_PAGES_ROOM ||
        (pages->rest && pages->rest--))
        return false;
    int64_t token = bulk->rows[bulk->from].job->token;
    for (size_t i = bulk->from; i < bulk->to; i++, token++)
        if (bulk->rows[i].job->token != token || !lock_fits(bulk->rows[i].job))
            return false;
    return true;
}

static bool page_spread(struct store *store, struct lock_page *page, struct error *error) {
    page->gone = true;
    return db_run(&store->db, error, SPREAD(" WHERE token=?1 AND owner=?2"), "ii", page->token,
                  store->self.id);
}

/* There are never many: the locks of the oldest get rows of their own. */
static bool pages_thin(struct store *store, struct error *error) {
    struct lock_pages *pages = pages_of(store);
    struct lock_page *oldest = NULL;
    int count = 0;
    for (int at = pages->count - 1; at >= 0; at--) {
        count += !pages->list[at].gone;
        oldest = pages->list[at].gone ? oldest : &pages->list[at];
    }
    return count < LOCK_PAGES || page_spread(store, oldest, error);
}

static bool page_has_one_stream(const struct bulk *bulk) {
    for (size_t i = bulk->from + 1; i < bulk->to; i++)
        if (bulk->rows[i].job->stream != bulk->rows[bulk->from].job->stream)
            return false;
    return true;
}

static bool page_has_lanes(const struct bulk *bulk) {
    for (size_t i = bulk->from; i < bulk->to; i++)
        if (bulk->rows[i].job->lane_id)
            return true;
    return false;
}

enum { IDS, STREAMS, LANES, COLUMNS };

static void page_fill(const struct bulk *bulk, struct array columns[COLUMNS]) {
    bool one = page_has_one_stream(bulk);
    for (size_t i = bulk->from; i < bulk->to; i++) {
        const struct job *job = bulk->rows[i].job;
        array_add_int(&columns[IDS], job->id);
        if (!one || i == bulk->from)
            array_add_int(&columns[STREAMS], job->stream);
        if (job->lane_id)
            array_add_int(&columns[LANES], job->lane_id);
        else
            array_add_null(&columns[LANES]);
    }
}

static bool page_insert(struct store *store, const struct bulk *bulk, struct array columns[COLUMNS],
                        struct error *error) {
    const int64_t count = (int64_t)(bulk->to - bulk->from);
    const struct job *first = bulk->rows[bulk->from].job;
    const bool lanes = page_has_lanes(bulk);
    struct row *row = db_query(&store->db, error,
                               "INSERT INTO lock_page(token, owner, held, ids, streams, lanes)"
                               " VALUES(?1, ?2, repeat('1', ?3::int)::varbit, ?4, ?5, ?6)",
                               "iii", first->token, first->owner, count);
    bool bound = row != NULL;
    for (int at = 0; at < COLUMNS; at++)
        array_begin(&columns[at], ARRAY_INT8);
    page_fill(bulk, columns);
    for (int at = 0; bound && at < COLUMNS; at++) {
        array_end(&columns[at]);
        bound = (at == LANES && !lanes) || statement_bind_array(row, 3 + at, &columns[at]);
    }
    return bound ? db_run_row(&store->db, row, error) : row && db_no_memory(&store->db, error);
}

bool lock_page_write(struct store *store, const struct bulk *bulk, struct error *error) {
    struct lock_pages *pages = pages_of(store);
    struct array columns[COLUMNS];
    if (!pages_thin(store, error))
        return false;
    bool done = page_insert(store, bulk, columns, error);
    for (int at = 0; at < COLUMNS; at++)
        array_clear(&columns[at]);
    pages->list[pages->count++] = (struct lock_page){.token = bulk->rows[bulk->from].job->token,
                                                     .count = (int)(bulk->to - bulk->from),
                                                     .fresh = true};
    pages->none = false;
    return done;
}

/* ---- settling ---- */

/* Tells which of the bits were set, and clears them. A page without bits goes. */
#define LEFT "h.held & ~h.bits"
static const char fence_sql[] =
    "WITH k AS (SELECT unnest(?1) AS token, unnest(?2) AS bits), h AS MATERIALIZED"
    " (SELECT p.spot, p.token, p.held, k.bits::varbit AS bits FROM k CROSS JOIN LATERAL"
    " (SELECT ctid AS spot, token, held FROM lock_page WHERE token=k.token AND owner=?3 OFFSET 0)"
    " AS p), less AS (UPDATE lock_page p SET held=" LEFT " FROM h WHERE p.ctid=h.spot"
    " AND position(B'1' IN " LEFT ")>0), gone AS (DELETE FROM lock_page p USING h"
    " WHERE p.ctid=h.spot AND position(B'1' IN " LEFT ")=0)"
    " SELECT token, (held & bits)::text, position(B'1' IN " LEFT ")>0 FROM h";

/* What is asked for: of some pages a text of bits. Then: those that were set. */
struct asked {
    struct {
        struct lock_page *page;
        char *bits;
    } list[LOCK_PAGES_ROOM];
    size_t count;
};

static struct lock_page *page_of(struct lock_pages *pages, int64_t token) {
    for (int at = 0; at < pages->count; at++) {
        struct lock_page *page = &pages->list[at];
        if (!page->gone && token >= page->token && token < page->token + page->count)
            return page;
    }
    return NULL;
}

/* The bit of this token; NULL: none of its page is asked for. */
static char *asked_bit(const struct asked *asked, int64_t token) {
    for (size_t i = 0; i < asked->count; i++) {
        int64_t at = token - asked->list[i].page->token;
        if (at >= 0 && at < asked->list[i].page->count)
            return &asked->list[i].bits[at];
    }
    return NULL;
}

static bool asked_add(struct asked *asked, struct lock_page *page) {
    char *bits = malloc((size_t)page->count + 1);
    if (!bits)
        return false;
    memset(bits, '0', (size_t)page->count);
    bits[page->count] = 0;
    asked->list[asked->count].page = page;
    asked->list[asked->count++].bits = bits;
    return true;
}

static bool asked_fill(struct asked *asked, struct lock_pages *pages, const struct set *set) {
    for (size_t i = 0; i < set->count; i++) {
        int64_t token = set->columns[1][i];
        char *bit = asked_bit(asked, token);
        struct lock_page *page = bit ? NULL : page_of(pages, token);
        if (page && !asked_add(asked, page))
            return false;
        bit = page ? asked_bit(asked, token) : bit;
        if (bit)
            *bit = '1';
    }
    return true;
}

static void asked_clear(struct asked *asked) {
    for (size_t i = 0; i < asked->count; i++)
        free(asked->list[i].bits);
}

/* A page without an answer is gone: a command has given its locks rows. */
static bool asked_read(struct asked *asked, struct store *store, struct row *row,
                       struct error *error) {
    enum answer step = NO;
    for (size_t i = 0; i < asked->count; i++) {
        asked->list[i].page->gone = true;
        memset(asked->list[i].bits, '0', (size_t)asked->list[i].page->count);
    }
    while ((step = db_step(&store->db, row, error)) == YES)
        for (size_t i = 0; i < asked->count; i++) {
            struct lock_page *page = asked->list[i].page;
            if (page->token != row_int(row, 0))
                continue;
            snprintf(asked->list[i].bits, (size_t)page->count + 1, "%s", row_text(row, 1));
            page->gone = row_int(row, 2) == 0;
        }
    return step == NO;
}

static bool asked_ask(struct asked *asked, struct store *store, struct error *error) {
    struct array tokens, texts;
    if (!asked->count)
        return true;
    array_begin(&tokens, ARRAY_INT8);
    array_begin(&texts, ARRAY_TEXT);
    for (size_t i = 0; i < asked->count; i++) {
        array_add_int(&tokens, asked->list[i].page->token);
        array_add_bytes(&texts, asked->list[i].bits, strlen(asked->list[i].bits));
    }
    array_end(&tokens);
    array_end(&texts);
    struct row *row = db_query(&store->db, error, fence_sql, "nni", 0, 0, store->self.id);
    bool done =
        row && ((statement_bind_array(row, 0, &tokens) && statement_bind_array(row, 1, &texts)) ||
                db_no_memory(&store->db, error));
    done = done && asked_read(asked, store, row, error);
    array_clear(&tokens);
    array_clear(&texts);
    return done;
}

/* Those whose bits were not set may have rows of their own. */
static bool rest_fill(struct set *set, const struct asked *asked, struct set *rest) {
    int64_t *all = malloc(3 * set->count * sizeof *all);
    if (!all)
        return false;
    for (int at = 0; at < 3; at++)
        rest->columns[at] = all + (size_t)at * set->count;
    for (size_t i = 0; i < set->count; i++) {
        const char *bit = asked_bit(asked, set->columns[1][i]);
        if (bit && *bit == '1') {
            set->found(set, set->columns[1][i]);
            continue;
        }
        for (int at = 0; at < 3; at++)
            all[(size_t)at * set->count + rest->count] = set->columns[at][i];
        rest->count++;
    }
    return true;
}

void lock_page_rest_clear(struct set *rest) {
    free((int64_t *)rest->columns[0]);
    rest->columns[0] = NULL;
}

bool lock_page_fence(struct store *store, struct set *set, struct set *rest, struct error *error) {
    struct asked asked = {.count = 0};
    bool done = asked_fill(&asked, pages_of(store), set) || db_no_memory(&store->db, error);
    done = done && asked_ask(&asked, store, error);
    *rest = (struct set){.kind = set->kind};
    done = done && (rest_fill(set, &asked, rest) || db_no_memory(&store->db, error));
    asked_clear(&asked);
    return done;
}

/* ---- rows of their own ---- */

/* The lock of one job. A page without bits goes. */
#define CLEARED "set_bit(m.held, m.n, 0)"
static const char own_sql[] =
    "WITH m AS MATERIALIZED (SELECT * FROM (SELECT ctid AS spot, token, owner, streams, lanes, "
    "held,"
    " array_position(ids, ?1)-1 AS n FROM lock_page WHERE ?1=ANY(ids)) AS a WHERE"
    " get_bit(held, n)=1), less AS (UPDATE lock_page p SET held=" CLEARED " FROM m"
    " WHERE p.ctid=m.spot AND position(B'1' IN " CLEARED ")>0), gone AS (DELETE FROM lock_page p"
    " USING m WHERE p.ctid=m.spot AND position(B'1' IN " CLEARED ")=0)"
    " INSERT INTO locked(id, token, owner, stream, lane)"
    " SELECT ?1, token+n, owner, coalesce(streams[n+1], streams[1]), lanes[n+1] FROM m";

bool postgres_lock_own(struct store *store, int64_t id, struct error *error) {
    return pages_of(store)->none || db_run(&store->db, error, own_sql, "i", id);
}

bool postgres_lock_settles(struct store *store, const struct job *job, struct error *error) {
    struct lock_pages *pages = pages_of(store);
    struct lock_page *page = page_of(pages, job->token);
    if (!page)
        return true;
    if (++page->alone <= ALONE)
        return postgres_lock_own(store, job->id, error);
    pages->rest = REST;
    return page_spread(store, page, error);
}

bool lock_page_none(struct store *store, struct error *error) {
    struct lock_pages *pages = pages_of(store);
    if (!db_run(&store->db, error, SPREAD(""), ""))
        return false;
    for (int at = 0; at < pages->count; at++)
        pages->list[at].gone = true;
    return pages->none = true;
}

/* ---- the transaction ---- */

/* Forgets the pages that are gone, or those that were never written. */
static void pages_over(struct store *store, bool committed) {
    struct lock_pages *pages = pages_of(store);
    int kept = 0;
    for (int at = 0; at < pages->count; at++) {
        const struct lock_page *page = &pages->list[at];
        if (committed ? !page->gone : !page->fresh)
            pages->list[kept++] = (struct lock_page){
                .token = page->token, .count = page->count, .alone = page->alone};
    }
    pages->count = kept;
    pages->none = false;
}

static void pages_committed(struct store *store) {
    pages_over(store, true);
}

static void pages_rolled_back(struct store *store) {
    pages_over(store, false);
}

const struct txn_hook lock_page_hook = {.committed = pages_committed, .drop = pages_rolled_back};
