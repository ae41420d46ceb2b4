#include "store/rules/cursor.h"
#include "store/rules/fleet/serves.h"
#include "store/rules/rate_limit.h"
#include "store/rules/row.h"
#include <stdlib.h>

#define CURSOR_AHEAD 64 /* rows read ahead at most */

static bool merge_levels(const struct acquire *order) {
    return !order->by_priority || order->aging > 0;
}

static struct sort_key cursor_sort_key(const struct cursor *cursor) {
    return (struct sort_key){~cursor->head.rank, cursor->head.place, cursor->head.id,
                             cursor->timer};
}

static bool cursor_before(const struct acquire *order, const struct cursor *a,
                          const struct cursor *b) {
    struct sort_key left = cursor_sort_key(a), right = cursor_sort_key(b);
    return acquire_before(order, &left, &right);
}

static void merge_sink(struct merge *merge, size_t at) {
    for (size_t child = at * 2 + 1; child < merge->count; child = at * 2 + 1) {
        if (child + 1 < merge->count &&
            cursor_before(merge->order, &merge->cursors[child + 1], &merge->cursors[child]))
            child++;
        if (!cursor_before(merge->order, &merge->cursors[child], &merge->cursors[at]))
            return;
        struct cursor moved = merge->cursors[at];
        merge->cursors[at] = merge->cursors[child];
        merge->cursors[child] = moved;
        at = child;
    }
}

static void merge_rise(struct merge *merge, size_t at) {
    for (size_t above = (at - 1) / 2; at > 0; at = above, above = (at - 1) / 2) {
        if (!cursor_before(merge->order, &merge->cursors[at], &merge->cursors[above]))
            return;
        struct cursor moved = merge->cursors[at];
        merge->cursors[at] = merge->cursors[above];
        merge->cursors[above] = moved;
    }
}

static struct head cursor_head(struct row *row) {
    return (struct head){row_int(row, 0), row_int(row, 1), row_int(row, 2), row_int(row, 3)};
}

/* With ensure_due_date jobs without a date are read past inside the database: no row of theirs is
 * taken up, no lane touched. */
#define DATED " AND EXISTS(SELECT 1 FROM job WHERE job.id=ready.id AND job.due IS NOT NULL)"

static struct row *cursor_query_dated(struct store *store, const struct cursor *cursor,
                                      struct error *error) {
    const struct head *head = &cursor->head;
    if (cursor->level)
        return db_query(&store->db, error,
                        "SELECT rank, place, id, lane FROM ready WHERE stream=?1 AND rank=?2"
                        " AND (place, id)>(?3, ?4)" DATED " ORDER BY place, id LIMIT ?5",
                        "iiiin", cursor->stream, head->rank, head->place, head->id, cursor->ask);
    return db_query(&store->db, error,
                    "SELECT rank, place, id, lane FROM ready WHERE stream=?1"
                    " AND (rank, place, id)>(?2, ?3, ?4)" DATED
                    " ORDER BY rank, place, id LIMIT ?5",
                    "iiiin", cursor->stream, head->rank, head->place, head->id, cursor->ask);
}

/* With their jobs. */
static struct row *cursor_query_whole(struct store *store, const struct cursor *cursor,
                                      struct error *error) {
    const struct head *head = &cursor->head;
    if (cursor->level)
        return db_query(&store->db, error,
                        "SELECT " ROW_COLUMNS ", r.place FROM ready r"
                        " CROSS JOIN job j WHERE j.id=r.id AND r.stream=?1 AND r.rank=?2"
                        " AND (r.place, r.id)>(?3, ?4) ORDER BY r.place, r.id LIMIT ?5",
                        "iiiin", cursor->stream, head->rank, head->place, head->id, cursor->ask);
    return db_query(&store->db, error,
                    "SELECT " ROW_COLUMNS ", r.place FROM ready r"
                    " CROSS JOIN job j WHERE j.id=r.id AND r.stream=?1"
                    " AND (r.rank, r.place, r.id)>(?2, ?3, ?4)"
                    " ORDER BY r.rank, r.place, r.id LIMIT ?5",
                    "iiiin", cursor->stream, head->rank, head->place, head->id, cursor->ask);
}

static struct row *cursor_query(struct store *store, const struct cursor *cursor,
                                struct error *error) {
    const struct head *head = &cursor->head;
    if (cursor->dated)
        return cursor_query_dated(store, cursor, error);
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

static bool ahead_whole(struct store *store, struct row *row, struct ahead *ahead,
                        struct error *error) {
    struct job job;
    if (!row_read(store, row, &job, error))
        return false;
    *ahead = (struct ahead){
        .head = {~job.priority, row_int(row, ROW_COLUMN_COUNT), job.id, job.lane_id}};
    if (job.repeat || job.batch)
        return true;
    row_locked(store, &job);
    ahead->job = job_copy(&job);
    return ahead->job || db_no_memory(&store->db, error);
}

/* Jobs behind one that is in no lane are read along; behind others mostly nothing comes of it. */
static bool cursor_reads(struct store *store, struct cursor *cursor, int wanted,
                         struct error *error) {
    bool whole = wanted > 1 && !cursor->dated && !cursor->head.lane && !cursor->unread;
    struct row *rows =
        whole ? cursor_query_whole(store, cursor, error) : cursor_query(store, cursor, error);
    enum answer step = rows ? YES : FAILED;
    cursor->placed = store->placed;
    cursor->at = cursor->count = 0;
    while (step == YES && (step = db_step(&store->db, rows, error)) == YES) {
        struct ahead *ahead = &cursor->read[cursor->count];
        if (whole ? !ahead_whole(store, rows, ahead, error)
                  : !ahead_unread(store, rows, cursor, ahead, error)) {
            row_done(rows);
            return false;
        }
        cursor->count++;
    }
    return step == NO;
}

/* Reads on behind the head: first a few rows, then more, so that a long queue costs few searches
 * and a short look reads little. */
static bool cursor_read(struct store *store, struct cursor *cursor, int wanted,
                        struct error *error) {
    if (!cursor->read && !(cursor->read = malloc(CURSOR_AHEAD * sizeof *cursor->read)))
        return db_no_memory(&store->db, error);
    cursor->ask = cursor->ask < CURSOR_AHEAD / 2 ? cursor->ask * 2 : CURSOR_AHEAD;
    if (cursor->ask > wanted)
        cursor->ask = wanted > 1 ? wanted : 1;
    return cursor_reads(store, cursor, wanted, error);
}

static void cursor_clear(struct cursor *cursor) {
    job_free(cursor->job);
    for (; cursor->at < cursor->count; cursor->at++)
        job_free(cursor->read[cursor->at].job);
    free(cursor->read);
}

/* One row at a time: an item takes few. */
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

/* YES: moved; NO: at the end. */
static enum answer cursor_next(struct store *store, struct cursor *cursor,
                               const struct merge *merge, struct error *error) {
    job_free(cursor->job);
    cursor->job = NULL;
    if (cursor->lane)
        return cursor_next_parked(store, cursor, error);
    if (cursor->at == cursor->count) {
        if (cursor->read && cursor->count < cursor->ask)
            return NO;
        if (!cursor_read(store, cursor, merge->wanted, error))
            return FAILED;
        if (!cursor->count)
            return NO;
    }
    cursor->head = cursor->read[cursor->at].head;
    cursor->job = cursor->read[cursor->at++].job;
    return cursor->head.rank <= merge->rank_max;
}

static bool merge_add(struct merge *merge, const struct cursor *cursor) {
    if (merge->count == merge->room) {
        size_t room = merge->room ? merge->room * 2 : 16;
        struct cursor *cursors = realloc(merge->cursors, room * sizeof *cursors);
        if (!cursors)
            return false;
        merge->cursors = cursors;
        merge->room = room;
    }
    merge->cursors[merge->count++] = *cursor;
    return true;
}

/* The first row of the stream from a rank on; NO: none in range. */
static enum answer merge_first(const struct merge *merge, struct store *store,
                               struct cursor *cursor, int64_t rank, struct error *error) {
    struct row *row =
        cursor->dated
            ? db_query(&store->db, error,
                       "SELECT rank, place, id, lane FROM ready WHERE stream=?1 AND"
                       " rank BETWEEN ?2 AND ?3" DATED " ORDER BY rank, place, id LIMIT 1",
                       "iii", cursor->stream, rank, merge->rank_max)
            : db_query(&store->db, error,
                       "SELECT rank, place, id, lane FROM ready WHERE stream=?1 AND"
                       " rank>=?2 ORDER BY rank, place, id LIMIT 1",
                       "ii", cursor->stream, rank);
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step;
    cursor->head = cursor_head(row);
    row_done(row);
    return cursor->head.rank <= merge->rank_max;
}

static bool merge_stream(struct merge *merge, struct store *store,
                         const struct catalog_stream *stream, struct error *error) {
    struct cursor cursor = {.stream = stream->id, .timer = stream->type == JOB_TIMER, .ask = 2};
    int64_t rank = merge->rank_min;
    enum answer found = NO;
    cursor.level = merge_levels(merge->order);
    cursor.dated = merge->order->ensure_due_date;
    cursor.paced = stream->definition->rate.count != 0;
    cursor.limited = stream->definition->limit || stream->definition->cluster_limit;
    cursor.unread = merge->order->unread && !cursor.dated && !cursor.paced && !cursor.limited;
    while ((found = merge_first(merge, store, &cursor, rank, error)) == YES) {
        if (!merge_add(merge, &cursor))
            return db_no_memory(&store->db, error);
        if (!cursor.level || cursor.head.rank == INT64_MAX)
            return true;
        rank = cursor.head.rank + 1;
    }
    return found == NO;
}

bool merge_begin(struct merge *merge, struct store *store, const struct acquire *acquire,
                 struct error *error) {
    *merge = (struct merge){
        .own = *acquire, .rank_min = ~acquire->priority_max, .rank_max = ~acquire->priority_min};
    merge->order = &merge->own;
    merge->wanted = acquire->want;
    merge->own.by_due_date |= store->meta.fair != FAIR_OFF;
    struct serves serves = {0};
    int64_t id = INT64_MIN;
    store->met = (struct store_acquire_stats){0};
    enum answer step = serves_begin(&serves, store, acquire, error) ? YES : FAILED;
    while (step == YES &&
           (step = db_value(&store->db, error, &id,
                            "SELECT stream FROM ready WHERE stream>?1 ORDER BY stream LIMIT 1", "i",
                            id)) == YES) {
        const struct catalog_stream *stream = catalog_stream(&store->catalog, id);
        enum answer open = stream && serves_stream(&serves, stream)
                               ? limits_open(&merge->limits, store, stream, error)
                               : NO;
        if (open == FAILED || (open == YES && !merge_stream(merge, store, stream, error)))
            step = FAILED;
    }
    serves_end(&serves);
    store->met.levels = merge_levels(acquire) ? (int)merge->count : 0;
    for (size_t i = merge->count / 2; i-- > 0;)
        merge_sink(merge, i);
    return step == NO;
}

bool merge_before(const struct merge *merge, const struct cursor *other) {
    return merge->count && cursor_before(merge->order, &merge->cursors[0], other);
}

bool merge_next(struct merge *merge, struct store *store, struct error *error) {
    enum answer step = cursor_next(store, &merge->cursors[0], merge, error);
    if (step == NO)
        return merge_drop(merge);
    merge_sink(merge, 0);
    return step == YES;
}

struct job *merge_job(struct merge *merge) {
    struct job *job = merge->cursors[0].job;
    merge->cursors[0].job = NULL;
    return job;
}

bool merge_drop(struct merge *merge) {
    cursor_clear(&merge->cursors[0]);
    merge->cursors[0] = merge->cursors[--merge->count];
    merge_sink(merge, 0);
    return true;
}

static bool merge_is_of(const struct merge *merge, size_t at, const struct store *store,
                        const struct catalog_definition *definition) {
    const struct catalog_stream *stream =
        catalog_stream(&store->catalog, merge->cursors[at].stream);
    return stream && stream->definition == definition;
}

bool merge_took_limited(struct merge *merge, struct store *store, const struct cursor *taken,
                        int places, struct error *error) {
    const struct catalog_stream *of = catalog_stream(&store->catalog, taken->stream);
    if (!of || !limits_take(&merge->limits, of, places))
        return true;
    merge_leave(merge, store, taken->stream);
    return limits_full(store, of, error);
}

void merge_leave(struct merge *merge, struct store *store, int64_t stream) {
    const struct catalog_stream *of = catalog_stream(&store->catalog, stream);
    for (size_t i = merge->count; of && i-- > 0;)
        if (merge_is_of(merge, i, store, of->definition)) {
            cursor_clear(&merge->cursors[i]);
            merge->cursors[i] = merge->cursors[--merge->count];
        }
    for (size_t i = merge->count / 2; i-- > 0;)
        merge_sink(merge, i);
}

static bool merge_follows(const struct merge *merge, const struct cursor *taken) {
    for (size_t i = 0; i < merge->count; i++)
        if (merge->cursors[i].lane == taken->head.lane &&
            merge->cursors[i].stream == taken->stream &&
            merge->cursors[i].head.rank == taken->head.rank)
            return true;
    return false;
}

bool merge_follow(struct merge *merge, struct store *store, const struct cursor *taken,
                  struct error *error) {
    struct cursor cursor = {.stream = taken->stream,
                            .lane = taken->head.lane,
                            .timer = taken->timer,
                            .paced = taken->paced,
                            .limited = taken->limited};
    if (taken->lane || merge_follows(merge, taken))
        return true;
    cursor.head = (struct head){taken->head.rank, INT64_MIN, INT64_MIN, cursor.lane};
    enum answer step = cursor_next_parked(store, &cursor, error);
    if (step != YES)
        return step == NO;
    if (!merge_add(merge, &cursor))
        return db_no_memory(&store->db, error);
    merge_rise(merge, merge->count - 1);
    return true;
}

bool merge_left(const struct merge *merge, struct sort_key *best) {
    const struct cursor *first = NULL;
    for (size_t i = 0; i < merge->count; i++) {
        const struct cursor *cursor = &merge->cursors[i];
        if (!cursor->lane && (!first || cursor_before(merge->order, cursor, first)))
            first = cursor;
    }
    if (first)
        *best = cursor_sort_key(first);
    return first != NULL;
}

void merge_end(struct merge *merge) {
    for (size_t i = 0; i < merge->count; i++)
        cursor_clear(&merge->cursors[i]);
    free(merge->cursors);
    limits_clear(&merge->limits);
    *merge = (struct merge){0};
}
