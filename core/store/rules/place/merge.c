#include "store/rules/place/merge.h"
#include "store/rules/ground/row.h"
#include "store/rules/ground/serves.h"
#include "store/rules/place/mark.h"
#include "store/rules/place/rate_limit.h"
#include <stdlib.h>

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

static bool merge_stream(struct merge *merge, struct store *store,
                         const struct catalog_stream *stream, struct error *error) {
    struct cursor cursor = cursor_of(merge->order, stream);
    int64_t rank = cursor.rank_min;
    enum answer found = NO;
    while ((found = cursor_first(store, &cursor, rank, error)) == YES) {
        if (!merge_add(merge, &cursor))
            return db_no_memory(&store->db, error);
        if (!cursor.level || cursor.head.rank == INT64_MAX)
            return true;
        rank = cursor.head.rank + 1;
    }
    return found == NO;
}

/* ---- many streams at once ---- */

/* A page that becomes cursors. */
struct merge_page {
    struct ready_page page; /* first */
    struct merge *merge;
    struct ready_list *lists;
    size_t at;             /* the list whose rows are read */
    struct cursor *cursor; /* of it; NULL: it has no row yet */
};

/* One that has been asked for all rows but the head. */
static bool page_open(struct merge_page *page, struct store *store, int64_t stream,
                      struct error *error) {
    if (page->cursor && page->cursor->stream == stream)
        return true;
    while (page->at + 1 < page->page.count && page->lists[page->at].stream != stream)
        page->at++;
    struct cursor cursor = cursor_of(page->merge->order, catalog_stream(&store->catalog, stream));
    cursor.placed = store->placed;
    cursor.ask = (int)page->lists[page->at].quota - 1;
    cursor.asked = true;
    store->paged++;
    if (!merge_add(page->merge, &cursor))
        return db_no_memory(&store->db, error);
    page->cursor = &page->merge->cursors[page->merge->count - 1];
    page->cursor->unread = page->cursor->unread && page->page.rows == PAGE_PLACES;
    page->cursor->head = (struct head){INT64_MIN, INT64_MIN, INT64_MIN, .lane = 0};
    return true;
}

static bool head_before(const struct head *a, const struct head *b) {
    if (a->rank != b->rank)
        return a->rank < b->rank;
    return a->place < b->place || (a->place == b->place && a->id < b->id);
}

/* The first row of a list is the head of its cursor. */
static bool page_keep(struct store *store, struct cursor *cursor, const struct ahead *ahead,
                      struct error *error) {
    const struct head *last = cursor->count ? &cursor->read[cursor->count - 1].head : &cursor->head;
    if (!head_before(last, &ahead->head))
        return error_set(error, ERROR_FAILED, "store \"%s\": ready jobs in no order",
                         store->db.name);
    if (cursor->head.id == INT64_MIN) {
        cursor->head = ahead->head;
        cursor->job = ahead->job;
        return true;
    }
    if (!cursor_room(store, cursor, cursor->ask, error))
        return false;
    cursor->read[cursor->count++] = *ahead;
    return true;
}

static bool page_row(struct merge_page *page, struct store *store, struct row *row,
                     struct error *error) {
    struct ahead ahead = {0};
    struct job job;
    const int64_t stream = page_stream(row, page->page.rows);
    if (!catalog_stream(&store->catalog,
                        stream)) /* the row of the job says so: it tells of itself */
        return page_job(store, row, &job, error);
    if (!page_open(page, store, stream, error) ||
        !ahead_read(store, row, page->cursor, page->page.rows, &ahead, error))
        return false;
    if (page_keep(store, page->cursor, &ahead, error))
        return true;
    job_free(ahead.job);
    return false;
}

static bool page_read(struct ready_page *of, struct store *store, struct row *row,
                      struct error *error) {
    struct merge_page *page = (struct merge_page *)of;
    const int64_t begun = clock_monotonic_us();
    enum answer step = db_step(&store->db, row, error);
    const int64_t took = of->waited + clock_monotonic_us() - begun;
    int rows = 0;
    for (; step == YES; step = db_step(&store->db, row, error), rows++)
        if (!page_row(page, store, row, error))
            return row_stop(row);
    marks_judge(store, took, rows);
    return step == NO;
}

enum { WASTE = 4 }; /* rows read for each that is wanted, at most */
enum { LANED = 2 }; /* the part of a page with lanes that is read first: many of them may run */
enum { LANED_LEAST = 1000 }; /* rows; fewer are read at once */

/* What it gave last, if that was about as long an acquisition. */
static bool page_knows(const struct store *store, int64_t wanted) {
    return store->catalog.used > 0 && store->catalog.used >= wanted / 2;
}

/* A little more than that; else as much as if all that had rows last gave the same, but not too
 * much in all. One row more than is wanted tells that some are left. */
static int64_t page_quota(const struct store *store, const struct catalog_stream *stream,
                          int64_t wanted) {
    const bool knows = page_knows(store, wanted);
    const int64_t bound = WASTE * wanted / ((int64_t)store->catalog.stream_count + 1) + 1;
    const int64_t share = wanted / (store->paged > 0 ? store->paged : 1);
    const int64_t guess = knows ? stream->used * wanted / store->catalog.used : share;
    int64_t quota = guess + guess / 4 + 8;
    if (quota > bound && (!knows || guess < bound))
        quota = bound;
    quota = quota <= wanted ? quota : wanted + 1;
    return store->laned && quota >= LANED_LEAST ? quota / LANED : quota;
}

static void page_forget(struct store *store) {
    store->paged = store->catalog.used = 0;
    for (size_t i = 0; i < store->catalog.stream_count; i++)
        store->catalog.streams[i].used = 0;
}

static struct ready_list page_from(const struct store *store, const struct merge *merge,
                                   const struct catalog_stream *stream, int64_t quota) {
    const struct cursor cursor = cursor_of(merge->order, stream);
    const struct mark *mark = marks_find(store, stream->id);
    struct ready_list list = {stream->id, quota,     cursor.rank_min,
                              INT64_MIN,  INT64_MIN, cursor.rank_max};
    if (mark && mark->rank >= cursor.rank_min) {
        list.rank = mark->rank;
        list.place = mark->place;
        list.id = mark->id;
    }
    return list;
}

static bool page_list(struct merge_page *page, struct store *store, const struct serves *serves,
                      struct error *error) {
    const struct catalog *catalog = &store->catalog;
    const struct merge *merge = page->merge;
    const int64_t wanted = merge->wanted > 0 ? merge->wanted : 1;
    for (size_t i = 0; i < catalog->stream_count; i++) {
        const struct catalog_stream *stream = &catalog->streams[i];
        enum answer open = serves_stream(serves, stream)
                               ? limits_open(&page->merge->limits, store, stream, error)
                               : NO;
        if (open == FAILED)
            return false;
        if (open == YES)
            page->lists[page->page.count++] =
                page_from(store, merge, stream, page_quota(store, stream, wanted));
    }
    return true;
}

static bool merge_page(struct merge *merge, struct store *store, const struct serves *serves,
                       struct error *error) {
    struct merge_page page = {.merge = merge, .page = {.read = page_read}};
    page.lists = malloc((store->catalog.stream_count + 1) * sizeof *page.lists);
    page.page.lists = page.lists;
    page.page.rows = merge->order->unread ? PAGE_PLACES : PAGE_JOBS;
    if (store->laned)
        page.page.rows = PAGE_LANES;
    bool done =
        (page.lists || db_no_memory(&store->db, error)) && page_list(&page, store, serves, error);
    page_forget(store);
    done = done && (!page.page.count || store->engine->ready_page(store, &page.page, error));
    free(page.lists);
    return done;
}

/* ---- beginning ---- */

enum { FIRST_WEIGHT = 64 << 10 }; /* bytes of a job, before any was taken */

int merge_wanted(const struct store *store, int most, int64_t bytes) {
    const int64_t weight = store->weight ? store->weight : FIRST_WEIGHT;
    const int64_t fit = bytes > weight ? bytes / weight : 1;
    return store->engine->sets && fit < most ? (int)fit : most;
}

/* One stream after the other that has ready jobs. */
static bool merge_streams(struct merge *merge, struct store *store, const struct serves *serves,
                          struct error *error) {
    int64_t id = INT64_MIN;
    enum answer step = YES;
    while (step == YES &&
           (step = db_value(&store->db, error, &id,
                            "SELECT stream FROM ready WHERE stream>?1 ORDER BY stream LIMIT 1", "i",
                            id)) == YES) {
        const struct catalog_stream *stream = catalog_stream(&store->catalog, id);
        enum answer open = stream && serves_stream(serves, stream)
                               ? limits_open(&merge->limits, store, stream, error)
                               : NO;
        if (open == FAILED || (open == YES && !merge_stream(merge, store, stream, error)))
            step = FAILED;
    }
    return step == NO;
}

bool merge_begin(struct merge *merge, struct store *store, const struct acquire *acquire,
                 struct error *error) {
    *merge = (struct merge){.own = *acquire};
    merge->order = &merge->own;
    merge->wanted = merge_wanted(store, acquire->want, acquire_bytes(acquire));
    merge->own.by_due_date |= store->meta.fair != FAIR_OFF;
    struct serves serves = {0};
    bool paged = store->engine->sets && !order_has_levels(merge->order) && !acquire_sifts(acquire);
    store->met = (struct store_acquire_stats){0};
    bool done = serves_begin(&serves, store, acquire, error) &&
                (paged ? merge_page(merge, store, &serves, error)
                       : merge_streams(merge, store, &serves, error));
    serves_end(&serves);
    store->met.levels = order_has_levels(acquire) ? (int)merge->count : 0;
    for (size_t i = merge->count / 2; i-- > 0;)
        merge_sink(merge, i);
    return done;
}

bool merge_before(const struct merge *merge, const struct cursor *other) {
    return merge->count && cursor_before(merge->order, &merge->cursors[0], other);
}

/* A page is made by what the one before was good for. */
static void count_used(struct store *store, const struct cursor *cursor) {
    const struct catalog *catalog = &store->catalog;
    const struct catalog_stream *of =
        cursor->lane || !store->engine->sets ? NULL : catalog_stream(catalog, cursor->stream);
    if (!of)
        return;
    store->catalog.used++;
    catalog->streams[of - catalog->streams].used++;
}

bool merge_next(struct merge *merge, struct store *store, struct error *error) {
    count_used(store, &merge->cursors[0]);
    enum answer step = cursor_next(store, &merge->cursors[0], merge->wanted, error);
    if (step == NO || (step == YES && merge->cursors[0].head.rank > merge->cursors[0].rank_max))
        return merge_drop(merge);
    merge_sink(merge, 0);
    return step == YES;
}

/* ---- heads that came without their jobs ---- */

struct lacking {
    struct head *head;
    struct job **job;
};

struct fill {
    struct set set; /* first */
    struct lacking *list;
    size_t at;
};

static bool lacks_job(const struct head *head, const struct job *job) {
    return !job && !head->alone && head->seen != LANE_RUNS;
}

static void fill_note(struct fill *fill, struct head *head, struct job **job) {
    if (lacks_job(head, *job))
        fill->list[fill->set.count++] = (struct lacking){head, job};
}

static void fill_collect(struct fill *fill, const struct merge *merge) {
    for (size_t i = 0; i < merge->count; i++) {
        struct cursor *cursor = &merge->cursors[i];
        if (cursor->lane)
            continue;
        fill_note(fill, &cursor->head, &cursor->job);
        for (int k = cursor->at; k < cursor->count; k++)
            fill_note(fill, &cursor->read[k].head, &cursor->read[k].job);
    }
}

/* One that has no row is asked for by itself: then it is said. */
static bool fill_row(struct fill *fill, struct store *store, struct row *row, struct error *error) {
    struct job job;
    if (!row_read(store, row, &job, error))
        return false;
    while (fill->at < fill->set.count && fill->list[fill->at].head->id != job.id)
        fill->list[fill->at++].head->alone = true;
    if (fill->at == fill->set.count)
        return error_set(error, ERROR_FAILED, "store \"%s\": jobs in no order", store->db.name);
    const struct lacking *one = &fill->list[fill->at++];
    return head_keep(store, one->head, &job, one->job, error);
}

static bool fill_read(struct set *set, struct store *store, struct row *row, struct error *error) {
    struct fill *fill = (struct fill *)set;
    enum answer step = NO;
    while ((step = db_step(&store->db, row, error)) == YES)
        if (!fill_row(fill, store, row, error))
            return row_stop(row);
    for (; step == NO && fill->at < set->count; fill->at++)
        fill->list[fill->at].head->alone = true;
    return step == NO;
}

static bool fill_ask(struct fill *fill, struct store *store, struct error *error) {
    int64_t *ids = malloc(fill->set.count * sizeof *ids);
    fill->set.columns[0] = ids;
    for (size_t i = 0; ids && i < fill->set.count; i++)
        ids[i] = fill->list[i].head->id;
    bool done =
        ids ? store->engine->set(store, &fill->set, error) : db_no_memory(&store->db, error);
    free(ids);
    return done;
}

bool merge_fill(struct merge *merge, struct store *store, struct error *error) {
    const struct cursor *best = &merge->cursors[0];
    struct fill fill = {.set = {.kind = SET_JOBS, .read = fill_read}};
    size_t room = 0;
    if (!store->engine->sets || best->lane || !lacks_job(&best->head, best->job))
        return true;
    for (size_t i = 0; i < merge->count; i++)
        room += 1 + (size_t)(merge->cursors[i].count - merge->cursors[i].at);
    fill.list = malloc(room * sizeof *fill.list);
    if (!fill.list)
        return db_no_memory(&store->db, error);
    fill_collect(&fill, merge);
    bool done = fill_ask(&fill, store, error);
    free(fill.list);
    return done;
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

/* What has been read of the parked jobs becomes the cursor's. */
static void follow_known(struct cursor *cursor, struct parked *known) {
    cursor->read = known->rows;
    cursor->count = cursor->room = known->count;
    cursor->ask = known->asked;
    cursor->asked = true;
    known->rows = NULL;
    known->count = 0;
}

bool merge_follow(struct merge *merge, struct store *store, const struct cursor *taken,
                  struct parked *known, struct error *error) {
    struct cursor cursor = {.stream = taken->stream,
                            .lane = taken->head.lane,
                            .left = merge->order->lane_run - 1,
                            .rank_max = taken->rank_max,
                            .timer = taken->timer,
                            .paced = taken->paced,
                            .limited = taken->limited};
    if (taken->lane || merge_follows(merge, taken))
        return true;
    cursor.head = (struct head){taken->head.rank, INT64_MIN, INT64_MIN, .lane = cursor.lane};
    if (known)
        follow_known(&cursor, known);
    enum answer step = cursor_next(store, &cursor, merge->wanted, error);
    if (step == YES && merge_add(merge, &cursor)) {
        merge_rise(merge, merge->count - 1);
        return true;
    }
    cursor_clear(&cursor);
    return step == NO || (step == YES && db_no_memory(&store->db, error));
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

static enum answer held_in(const struct merge *merge, struct store *store,
                           const struct catalog_stream *stream, struct error *error) {
    struct cursor cursor = cursor_of(merge->order, stream);
    return cursor_first(store, &cursor, cursor.rank_min, error);
}

bool merge_held(const struct merge *merge, struct store *store, struct error *error) {
    const struct catalog *catalog = &store->catalog;
    struct serves serves = {0};
    if (!merge->own.drains || !merge->limits.count)
        return true;
    enum answer held = serves_begin(&serves, store, merge->order, error) ? NO : FAILED;
    for (size_t i = 0; held == NO && i < catalog->stream_count; i++) {
        const struct catalog_stream *stream = &catalog->streams[i];
        if (limits_closed(&merge->limits, stream->definition->id) && serves_stream(&serves, stream))
            held = held_in(merge, store, stream, error);
    }
    serves_end(&serves);
    store->met.held = held == YES;
    return held != FAILED;
}

void merge_end(struct merge *merge) {
    for (size_t i = 0; i < merge->count; i++)
        cursor_clear(&merge->cursors[i]);
    free(merge->cursors);
    limits_clear(&merge->limits);
    *merge = (struct merge){0};
}
