/* cursor.c - reads the ready jobs of one stream ahead. */
#include "store/rules/place/cursor.h"
#include "store/rules/ground/row.h"
#include "store/rules/place/places.h"
#include "store/rules/place/rate_limit.h"
#include <stdlib.h>

enum { CURSOR_ROOM = 64 }; /* rows that there is room for at least */

/* Some of its jobs are passed over inside the database. */
static bool cursor_sifts(const struct cursor *cursor) {
    return cursor->dated || cursor->tenant;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* A higher priority is a lower rank. */
static void cursor_range(struct cursor *cursor, const struct acquire *order,
                         const struct wanted_topic *wanted) {
    const int64_t most = wanted ? wanted->priority_max : INT64_MAX;
    const int64_t fewest = wanted ? wanted->priority_min : INT64_MIN;
    cursor->rank_min = ~least(order->priority_max, most);
    cursor->rank_max = least(~order->priority_min, ~fewest);
}

struct cursor cursor_of(const struct acquire *order, const struct catalog_stream *stream) {
    struct cursor cursor = {.stream = stream->id, .timer = stream->type == JOB_TIMER, .ask = 2};
    const struct wanted_topic *wanted = acquire_wanted(order, stream->topic);
    cursor_range(&cursor, order, wanted);
    cursor.tenant = wanted ? wanted->tenant : NULL;
    cursor.level = order_has_levels(order);
    cursor.dated = order->ensure_due_date;
    cursor.paced = stream->definition->rate.count != 0;
    cursor.limited = stream->definition->limit || stream->definition->cluster_limit;
    cursor.unread = order->unread && !cursor_sifts(&cursor) && !cursor.paced && !cursor.limited;
    return cursor;
}

static struct head cursor_head(struct row *row) {
    return (struct head){.rank = row_int(row, 0),
                         .place = row_int(row, 1),
                         .id = row_int(row, 2),
                         .lane = row_int(row, 3)};
}

/* With ensure_due_date jobs without a date, and jobs of other tenants than a fetch asks for, are
 * read past inside the database: no row of theirs is taken up, no lane touched. */
#define SIFTED(dated, tenant)                                                                      \
    " AND EXISTS(SELECT 1 FROM job WHERE job.id=ready.id AND (" dated "=0 OR job.due IS NOT NULL)" \
    " AND (CAST(" tenant " AS TEXT) IS NULL OR job.tenant=CAST(" tenant " AS TEXT)))"

static struct row *cursor_query_sifted(struct store *store, const struct cursor *cursor,
                                       struct error *error) {
    const struct head *head = &cursor->head;
    if (cursor->level)
        return db_query(&store->db, error,
                        "SELECT rank, place, id, lane FROM ready WHERE stream=?1 AND rank=?2"
                        " AND (place, id)>(?3, ?4)" SIFTED("?6", "?7") " ORDER BY place, id"
                                                                       " LIMIT ?5",
                        "iiiinnt", cursor->stream, head->rank, head->place, head->id, cursor->ask,
                        (int)cursor->dated, cursor->tenant);
    return db_query(&store->db, error,
                    "SELECT rank, place, id, lane FROM ready WHERE stream=?1"
                    " AND (rank, place, id)>(?2, ?3, ?4)" SIFTED(
                        "?6", "?7") " ORDER BY rank, place, id LIMIT ?5",
                    "iiiinnt", cursor->stream, head->rank, head->place, head->id, cursor->ask,
                    (int)cursor->dated, cursor->tenant);
}

/* With their jobs. */
static struct row *cursor_query_whole(struct store *store, const struct cursor *cursor,
                                      struct error *error) {
    const struct head *head = &cursor->head;
    if (cursor->level)
        return db_query(&store->db, error,
                        "SELECT " ROW_COLUMNS ", r.place, r.id, r.rank FROM ready r"
                        " LEFT JOIN job j ON j.id=r.id WHERE r.stream=?1 AND r.rank=?2"
                        " AND (r.place, r.id)>(?3, ?4) ORDER BY r.place, r.id LIMIT ?5",
                        "iiiin", cursor->stream, head->rank, head->place, head->id, cursor->ask);
    return db_query(&store->db, error,
                    "SELECT " ROW_COLUMNS ", r.place, r.id, r.rank FROM ready r"
                    " LEFT JOIN job j ON j.id=r.id WHERE r.stream=?1"
                    " AND (r.rank, r.place, r.id)>(?2, ?3, ?4)"
                    " ORDER BY r.rank, r.place, r.id LIMIT ?5",
                    "iiiin", cursor->stream, head->rank, head->place, head->id, cursor->ask);
}

/* With what there is of jobs that are bare. */
static struct row *cursor_query_bare(struct store *store, const struct cursor *cursor,
                                     struct error *error) {
    const struct head *head = &cursor->head;
    return db_query(&store->db, error,
                    "SELECT " ROW_BARE " FROM ready r LEFT JOIN job j ON j.id=r.id"
                    " WHERE r.stream=?1 AND (r.rank, r.place, r.id)>(?2, ?3, ?4)"
                    " ORDER BY r.rank, r.place, r.id LIMIT ?5",
                    "iiiin", cursor->stream, head->rank, head->place, head->id, cursor->ask);
}

static struct row *cursor_query(struct store *store, const struct cursor *cursor,
                                struct error *error) {
    const struct head *head = &cursor->head;
    if (cursor_sifts(cursor))
        return cursor_query_sifted(store, cursor, error);
    if (cursor->level)
        return db_query(&store->db, error,
                        "SELECT rank, place, id, lane, plain FROM ready WHERE stream=?1"
                        " AND rank=?2 AND (place, id)>(?3, ?4) ORDER BY place, id LIMIT ?5",
                        "iiiin", cursor->stream, head->rank, head->place, head->id, cursor->ask);
    return db_query(&store->db, error,
                    "SELECT rank, place, id, lane, plain FROM ready WHERE stream=?1"
                    " AND (rank, place, id)>(?2, ?3, ?4) ORDER BY rank, place, id LIMIT ?5",
                    "iiiin", cursor->stream, head->rank, head->place, head->id, cursor->ask);
}

/* What the place of a job says of it. The owner's text is the store's. */
static struct job *unread_new(const struct store *store, const struct cursor *cursor,
                              const struct head *head) {
    struct job *job = calloc(1, sizeof *job);
    const struct catalog_stream *stream = catalog_stream(&store->catalog, cursor->stream);
    if (!job || !stream) {
        free(job);
        return NULL;
    }
    *job = (struct job){.id = head->id,
                        .stream = cursor->stream,
                        .definition = stream->definition->id,
                        .type = stream->type,
                        .priority = ~head->rank,
                        .created = head->place,
                        .due = TIME_NONE,
                        .unread = true};
    row_locked(store, job);
    return job;
}

/* Behind a row that is not plain the next ones are read along again. */
static bool ahead_unread(struct store *store, struct row *row, struct cursor *cursor,
                         struct ahead *ahead, struct error *error) {
    *ahead = (struct ahead){.head = cursor_head(row)};
    if (!cursor->unread)
        return true;
    cursor->unread = !row_null(row, 4);
    if (cursor->unread)
        ahead->job = unread_new(store, cursor, &ahead->head);
    return !cursor->unread || ahead->job || db_no_memory(&store->db, error);
}

/* The columns of a page; those of a job are behind it, or nothing is. */
enum { PLACES_STREAM = 5, PLACES_SPOT };
enum {
    JOBS_PLACE = ROW_COLUMN_COUNT,
    JOBS_ID,
    JOBS_RANK,
    JOBS_SPOT,
    JOBS_PLAIN,
    LANES_LANE = JOBS_PLAIN,
    LANES_STREAM,
    LANES_OWNER,
    LANES_PARKS
};

bool page_missing(struct store *store, struct row *row, struct error *error) {
    return row_missing(store, row_int(row, JOBS_ID), error);
}

bool page_job(struct store *store, struct row *row, struct job *job, struct error *error) {
    return row_null(row, ROW_id) ? page_missing(store, row, error)
                                 : row_read(store, row, job, error);
}

bool head_keep(struct store *store, struct head *head, struct job *job, struct job **kept,
               struct error *error) {
    head->alone = job->repeat || job->batch;
    if (head->alone)
        return true;
    row_locked(store, job);
    *kept = job_copy(job);
    return *kept || db_no_memory(&store->db, error);
}

/* Where the columns stand that tell all of a bare job: alone, or among those of a page of jobs. */
static const int bare_alone[] = {BARE_ID,  BARE_PLACE,   BARE_RANK,    BARE_PLAIN,  BARE_STREAM,
                                 BARE_REV, BARE_CREATED, BARE_RETRIES, BARE_PAYLOAD};
static const int bare_of_page[] = {JOBS_ID, JOBS_PLACE,  JOBS_RANK,   JOBS_PLAIN, ROW_stream,
                                   ROW_rev, ROW_created, ROW_retries, ROW_payload};

static bool ahead_bare(struct store *store, struct row *row, const int at[BARE_COUNT],
                       struct ahead *ahead, struct error *error) {
    struct job job;
    if (!row_read_bare(store, row, at, &job, error))
        return false;
    *ahead = (struct ahead){.head = {.rank = row_int(row, at[BARE_RANK]),
                                     .place = row_int(row, at[BARE_PLACE]),
                                     .id = job.id}};
    return head_keep(store, &ahead->head, &job, &ahead->job, error);
}

static bool ahead_whole(struct store *store, struct row *row, struct ahead *ahead,
                        struct error *error) {
    struct job job;
    if (!page_job(store, row, &job, error))
        return false;
    *ahead = (struct ahead){.head = {.rank = row_int(row, JOBS_RANK),
                                     .place = row_int(row, JOBS_PLACE),
                                     .id = job.id,
                                     .lane = job.lane_id}};
    return head_keep(store, &ahead->head, &job, &ahead->job, error);
}

int64_t page_stream(struct row *row, enum page_rows rows) {
    if (rows == PAGE_PLACES)
        return row_int(row, PLACES_STREAM);
    return row_int(row, rows == PAGE_LANES ? (int)LANES_STREAM : (int)ROW_stream);
}

/* Its job cannot be taken, so it was not read. */
static bool ahead_runs(struct row *row, struct ahead *ahead) {
    *ahead = (struct ahead){.head = {.rank = row_int(row, JOBS_RANK),
                                     .place = row_int(row, JOBS_PLACE),
                                     .id = row_int(row, JOBS_ID),
                                     .lane = row_int(row, LANES_LANE),
                                     .seen = LANE_RUNS,
                                     .owner = row_int(row, LANES_OWNER)}};
    return true;
}

static bool ahead_lanes(struct store *store, struct row *row, struct ahead *ahead,
                        struct error *error) {
    if (!row_null(row, LANES_OWNER))
        return ahead_runs(row, ahead);
    bool done = ahead_whole(store, row, ahead, error);
    ahead->head.seen = row_null(row, LANES_PARKS) ? LANE_EMPTY : LANE_PARKS;
    return done;
}

/* True if the engine reads a page of its own: it has none of one level, or of jobs that are sifted.
 */
static bool has_page(const struct store *store, const struct cursor *cursor) {
    return store->engine->sets && !cursor->level && !cursor_sifts(cursor);
}

static bool ahead_jobs(struct store *store, struct row *row, const struct cursor *cursor,
                       struct ahead *ahead, struct error *error) {
    if (has_page(store, cursor) && row_int(row, JOBS_PLAIN) == PLACE_BARE)
        return ahead_bare(store, row, bare_of_page, ahead, error);
    return ahead_whole(store, row, ahead, error);
}

static bool ahead_rows(struct store *store, struct row *row, struct cursor *cursor,
                       enum page_rows rows, struct ahead *ahead, struct error *error) {
    switch (rows) {
    case PAGE_PLACES:
        return ahead_unread(store, row, cursor, ahead, error);
    case PAGE_JOBS:
        return ahead_jobs(store, row, cursor, ahead, error);
    case PAGE_LANES:
        break;
    }
    return ahead_lanes(store, row, ahead, error);
}

bool ahead_read(struct store *store, struct row *row, struct cursor *cursor, enum page_rows rows,
                struct ahead *ahead, struct error *error) {
    if (!ahead_rows(store, row, cursor, rows, ahead, error))
        return false;
    if (has_page(store, cursor))
        ahead->head.spot = row_int(row, rows == PAGE_PLACES ? (int)PLACES_SPOT : (int)JOBS_SPOT);
    return true;
}

bool ahead_parked(struct store *store, struct row *row, struct ahead *ahead, struct error *error) {
    bool done = ahead_whole(store, row, ahead, error);
    ahead->head.spot = row_int(row, JOBS_SPOT);
    return done;
}

static bool cursor_rows(struct store *store, struct cursor *cursor, struct row *row,
                        enum page_rows rows, struct error *error) {
    enum answer step = row ? YES : FAILED;
    while (step == YES && (step = db_step(&store->db, row, error)) == YES) {
        if (!ahead_read(store, row, cursor, rows, &cursor->read[cursor->count], error))
            return row_stop(row);
        cursor->count++;
    }
    return step == NO;
}

/* The rows up to the first that is not bare: the page ends there, and the next ones are read whole.
 * NO: the first row is that one. */
static enum answer cursor_rows_bare(struct store *store, struct cursor *cursor,
                                    struct error *error) {
    struct row *row = cursor_query_bare(store, cursor, error);
    enum answer step = row ? YES : FAILED;
    while (step == YES && (step = db_step(&store->db, row, error)) == YES) {
        cursor->bare = row_int(row, BARE_PLAIN) == PLACE_BARE;
        if (!cursor->bare ||
            !ahead_bare(store, row, bare_alone, &cursor->read[cursor->count], error))
            break;
        cursor->count++;
    }
    if (step != YES)
        return answer_not(step);
    row_done(row);
    if (cursor->bare)
        return FAILED;
    cursor->ask = cursor->count ? cursor->count : cursor->ask;
    return cursor->count ? YES : NO;
}

/* A page of one stream, behind the head. */
struct cursor_page {
    struct ready_page page; /* first */
    struct cursor *cursor;
};

static bool cursor_page_read(struct ready_page *page, struct store *store, struct row *row,
                             struct error *error) {
    return cursor_rows(store, ((struct cursor_page *)page)->cursor, row, page->rows, error);
}

static bool cursor_page(struct store *store, struct cursor *cursor, enum page_rows rows,
                        struct error *error) {
    const struct head *head = &cursor->head;
    const struct ready_list list = {cursor->stream, cursor->ask, head->rank,
                                    head->place,    head->id,    cursor->rank_max};
    struct cursor_page page = {{&list, 1, rows, .read = cursor_page_read}, cursor};
    return store->engine->ready_page(store, &page.page, error);
}

/* Jobs behind one that is in no lane are read along. Behind others nothing comes of it where most
 * lanes run, unless lanes are asked for together. */
static bool cursor_reads(struct store *store, struct cursor *cursor, int wanted,
                         struct error *error) {
    bool whole = wanted > 1 && !cursor_sifts(cursor) && !cursor->unread &&
                 (!cursor->head.lane || store->engine->sets || !store->lanes_run);
    cursor->placed = store->placed;
    cursor->asked = true;
    cursor->at = cursor->count = 0;
    enum page_rows rows = whole ? PAGE_JOBS : PAGE_PLACES;
    if (has_page(store, cursor))
        return cursor_page(store, cursor, whole && store->laned ? PAGE_LANES : rows, error);
    enum answer read = whole && cursor->bare ? cursor_rows_bare(store, cursor, error) : NO;
    if (read != NO)
        return read == YES;
    struct row *row =
        whole ? cursor_query_whole(store, cursor, error) : cursor_query(store, cursor, error);
    return cursor_rows(store, cursor, row, rows, error);
}

bool cursor_room(struct store *store, struct cursor *cursor, int count, struct error *error) {
    if (count <= cursor->room)
        return true;
    struct ahead *read = realloc(cursor->read, (size_t)count * sizeof *read);
    if (!read)
        return db_no_memory(&store->db, error);
    cursor->read = read;
    cursor->room = count;
    return true;
}

/* What is parked, with its jobs. */
static bool cursor_reads_parked(struct store *store, struct cursor *cursor, struct error *error) {
    const struct head *head = &cursor->head;
    cursor->asked = true;
    cursor->at = cursor->count = 0;
    struct row *row = db_query(&store->db, error,
                               "SELECT " ROW_COLUMNS ", p.place, p.id, p.rank FROM parked p"
                               " LEFT JOIN job j ON j.id=p.id WHERE p.lane=?1 AND p.stream=?2"
                               " AND p.rank=?3 AND (p.place, p.id)>(?4, ?5)"
                               " ORDER BY p.place, p.id LIMIT ?6",
                               "iiiiin", cursor->lane, cursor->stream, head->rank, head->place,
                               head->id, cursor->ask);
    return cursor_rows(store, cursor, row, PAGE_JOBS, error);
}

/* Reads on behind the head: first a few rows, then more, so that a long queue costs few searches
 * and a short look reads little. */
static bool cursor_read(struct store *store, struct cursor *cursor, int wanted,
                        struct error *error) {
    const int most = store->engine->ahead;
    cursor->ask = cursor->ask < 1 ? 2 : cursor->ask * 2;
    if (cursor->ask > most)
        cursor->ask = most;
    if (cursor->ask > wanted)
        cursor->ask = wanted > 1 ? wanted : 1;
    if (cursor->lane && cursor->ask > cursor->left)
        cursor->ask = cursor->left > 1 ? cursor->left : 1;
    cursor->left -= cursor->ask;
    return cursor_room(store, cursor, cursor->ask < CURSOR_ROOM ? CURSOR_ROOM : cursor->ask,
                       error) &&
           (cursor->lane ? cursor_reads_parked(store, cursor, error)
                         : cursor_reads(store, cursor, wanted, error));
}

void cursor_clear(struct cursor *cursor) {
    job_free(cursor->job);
    for (; cursor->at < cursor->count; cursor->at++)
        job_free(cursor->read[cursor->at].job);
    free(cursor->read);
}

/* Behind what a set has read ahead: one row at a time, without its job. */
static enum answer cursor_next_parked(struct store *store, struct cursor *cursor,
                                      struct error *error) {
    const struct head *head = &cursor->head;
    struct row *row =
        db_query(&store->db, error,
                 "SELECT rank, place, id, lane FROM parked WHERE lane=?1"
                 " AND stream=?2 AND rank=?3 AND (place, id)>(?4, ?5)"
                 " ORDER BY place, id LIMIT 1",
                 "iiiii", cursor->lane, cursor->stream, head->rank, head->place, head->id);
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step;
    cursor->head = cursor_head(row);
    row_done(row);
    return YES;
}

enum answer cursor_next(struct store *store, struct cursor *cursor, int wanted,
                        struct error *error) {
    job_free(cursor->job);
    cursor->job = NULL;
    const bool all = cursor->asked && cursor->count < cursor->ask;
    if (cursor->lane && store->engine->sets && cursor->at == cursor->count)
        return all ? NO : cursor_next_parked(store, cursor, error);
    if (cursor->at == cursor->count) {
        if (all && (cursor->lane || cursor->placed == store->placed))
            return NO;
        if (!cursor_read(store, cursor, wanted, error))
            return FAILED;
        if (!cursor->count)
            return NO;
    }
    cursor->head = cursor->read[cursor->at].head;
    cursor->job = cursor->read[cursor->at++].job;
    return YES;
}

enum answer cursor_first(struct store *store, struct cursor *cursor, int64_t rank,
                         struct error *error) {
    struct row *row =
        cursor_sifts(cursor)
            ? db_query(
                  &store->db, error,
                  "SELECT rank, place, id, lane FROM ready WHERE stream=?1 AND"
                  " rank BETWEEN ?2 AND ?3" SIFTED("?4", "?5") " ORDER BY rank, place, id LIMIT 1",
                  "iiint", cursor->stream, rank, cursor->rank_max, (int)cursor->dated,
                  cursor->tenant)
            : db_query(&store->db, error,
                       "SELECT rank, place, id, lane, plain FROM ready"
                       " WHERE stream=?1 AND rank>=?2 ORDER BY rank, place, id LIMIT 1",
                       "ii", cursor->stream, rank);
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step;
    cursor->head = cursor_head(row);
    cursor->bare = !cursor_sifts(cursor) && !cursor->level && row_int(row, 4) == PLACE_BARE;
    row_done(row);
    return cursor->head.rank <= cursor->rank_max;
}
