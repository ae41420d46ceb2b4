#include "store/sqlite/gap.h"
#include "base/json.h"
#include <stdlib.h>
#include <string.h>

const char *gap_kind(enum serves_stage stage) {
    static const char *const names[] = {"handler", "category", "deployment", "range"};
    return names[stage];
}

void gap_add_range(struct text *words, int64_t min, int64_t max) {
    if (min == INT64_MIN && max == INT64_MAX)
        text_add(words, "any priority");
    else if (min == max)
        text_add(words, "priority %lld", (long long)min);
    else if (min == INT64_MIN)
        text_add(words, "priority %lld and below", (long long)max);
    else if (max == INT64_MAX)
        text_add(words, "priority %lld and above", (long long)min);
    else
        text_add(words, "priority %lld to %lld", (long long)min, (long long)max);
}

void gap_add_missing(struct text *words, enum serves_stage stage,
                     const struct catalog_stream *stream, int64_t min, int64_t max) {
    if (stage == SERVES_NOTHING)
        text_add(words, "handler \"%s\"", stream->definition->name);
    else if (stage == SERVES_HANDLER && stream->category)
        text_add(words, "category \"%s\"", stream->category);
    else if (stage == SERVES_HANDLER)
        text_add(words, "jobs without a category");
    else if (stage == SERVES_CATEGORY)
        text_add(words, "deployment %lld", (long long)stream->deployment);
    else
        gap_add_range(words, min, max);
}

/* ---- where the holes are ---- */

struct hole { /* of one stream, in priority */
    const struct catalog_stream *stream;
    enum serves_stage stage;
    int64_t min, max;
    bool undated; /* only of jobs without a due date */
    size_t gap;   /* of the list below */
};

struct gap {
    char *text;
    const char *kind;
    const struct hole *first; /* what the facts are taken from */
    int64_t count;
};

struct gaps {
    struct hole *holes;
    struct gap *list;
    size_t hole_count, hole_room, count;
};

static bool hole_add(struct gaps *gaps, struct hole hole) {
    if (gaps->hole_count == gaps->hole_room) {
        size_t room = gaps->hole_room ? gaps->hole_room * 2 : 64;
        struct hole *holes = realloc(gaps->holes, room * sizeof *holes);
        if (!holes)
            return false;
        gaps->holes = holes;
        gaps->hole_room = room;
    }
    gaps->holes[gaps->hole_count++] = hole;
    return true;
}

/* The lowest begin, and with it the highest end, of what reaches `from` or lies above it.
 * `undated`: of executors that take jobs without a due date. */
static bool next_range(const struct census *census, const struct catalog_stream *stream,
                       bool undated, int64_t from, int64_t *min, int64_t *max) {
    bool found = false;
    for (size_t i = 0; i < census->count; i++) {
        const struct citizen *citizen = &census->list[i];
        const struct acquire *acquire = &citizen->acquire;
        if (citizen->standing != STANDING_LIVE || acquire->priority_max < from ||
            (undated && acquire->ensure_due_date) || !serves_stream(&citizen->serves, stream))
            continue;
        int64_t begin = acquire->priority_min > from ? acquire->priority_min : from;
        if (!found || begin < *min || (begin == *min && acquire->priority_max > *max)) {
            *min = begin;
            *max = acquire->priority_max;
        }
        found = true;
    }
    return found;
}

/* What is left between the ranges of those who serve the stream. */
static bool holes_between(struct gaps *gaps, const struct census *census,
                          const struct catalog_stream *stream) {
    struct hole hole = {stream, SERVES_STREAM, INT64_MIN, INT64_MAX, false, 0};
    int64_t from = INT64_MIN, min = 0, max = 0;
    while (next_range(census, stream, false, from, &min, &max)) {
        hole.min = from;
        hole.max = min - (min > INT64_MIN);
        if (min > from && !hole_add(gaps, hole))
            return false;
        if (max == INT64_MAX)
            return true;
        from = max + 1;
    }
    hole.min = from;
    hole.max = INT64_MAX;
    return hole_add(gaps, hole);
}

/* The parts of a range that are served, but not to jobs without a due date. */
static bool undated_between(struct gaps *gaps, const struct census *census, struct hole hole) {
    int64_t from = hole.min, end = hole.max;
    while (next_range(census, hole.stream, false, from, &hole.min, &hole.max) && hole.min <= end) {
        hole.max = hole.max < end ? hole.max : end;
        if (!hole_add(gaps, hole))
            return false;
        if (hole.max == end)
            return true;
        from = hole.max + 1;
    }
    return true;
}

/* What is left between the ranges of those who take jobs without a due date. */
static bool holes_undated(struct gaps *gaps, const struct census *census,
                          const struct catalog_stream *stream) {
    struct hole hole = {stream, SERVES_STREAM, INT64_MIN, INT64_MAX, true, 0};
    int64_t from = INT64_MIN, min = 0, max = 0;
    while (next_range(census, stream, true, from, &min, &max)) {
        hole.min = from;
        hole.max = min - (min > INT64_MIN);
        if (min > from && !undated_between(gaps, census, hole))
            return false;
        if (max == INT64_MAX)
            return true;
        from = max + 1;
    }
    hole.min = from;
    hole.max = INT64_MAX;
    return undated_between(gaps, census, hole);
}

static bool is_dating(const struct census *census) {
    for (size_t i = 0; i < census->count; i++)
        if (census->list[i].standing == STANDING_LIVE && census->list[i].acquire.ensure_due_date)
            return true;
    return false;
}

static bool holes_find(struct gaps *gaps, const struct store *store, const struct census *census) {
    bool nobody = census_count(census, STANDING_LIVE) == 0, dating = is_dating(census);
    for (size_t i = 0; i < store->catalog.stream_count; i++) {
        const struct catalog_stream *stream = &store->catalog.streams[i];
        enum serves_stage stage = census_stage(census, STANDING_LIVE, stream);
        struct hole whole = {stream, stage, INT64_MIN, INT64_MAX, false, 0};
        bool served = stage == SERVES_STREAM && !nobody;
        bool done = served ? holes_between(gaps, census, stream) : hole_add(gaps, whole);
        if (!done || (served && dating && !holes_undated(gaps, census, stream)))
            return false;
    }
    return true;
}

/* ---- naming them ---- */

static char *hole_text(const struct hole *hole, const char *nobody) {
    struct text words = {0};
    if (nobody)
        text_add(&words, "%s", nobody);
    else if (hole->undated)
        text_add(&words, "no live executor takes jobs without a due date (setting "
                         "ensure_due_date)");
    else {
        text_add(&words, "no live executor serves ");
        gap_add_missing(&words, hole->stage, hole->stream, hole->min, hole->max);
    }
    return words.data;
}

/* Holes that are told with the same words are one gap. */
static bool gap_of(struct gaps *gaps, struct hole *hole, const char *nobody) {
    char *text = hole_text(hole, nobody);
    if (!text)
        return false;
    for (hole->gap = 0; hole->gap < gaps->count; hole->gap++)
        if (strcmp(gaps->list[hole->gap].text, text) == 0) {
            free(text);
            return true;
        }
    struct gap *list = realloc(gaps->list, (gaps->count + 1) * sizeof *list);
    if (!list) {
        free(text);
        return false;
    }
    gaps->list = list;
    const char *kind = hole->undated ? "due_date" : gap_kind(hole->stage);
    list[gaps->count++] = (struct gap){text, nobody ? "executor" : kind, hole, 0};
    return true;
}

/* ---- counting, never further than GAP_MAX ---- */

/* Jobs that nobody takes gather at the head of their priority: the first ones are looked at. */
#define READY_IN_HOLE                                                                              \
    "SELECT count(*) FROM (SELECT id FROM ready WHERE stream=?1"                                   \
    " AND rank BETWEEN ?2 AND ?3 LIMIT ?4) r"
#define UNDATED " WHERE EXISTS(SELECT 1 FROM job j WHERE j.id=r.id AND j.due IS NULL)"

static bool count_ready(struct store *store, struct gaps *gaps, const struct hole *hole,
                        struct error *error) {
    int64_t found = 0;
    struct gap *gap = &gaps->list[hole->gap];
    if (db_value(&store->db, error, &found, hole->undated ? READY_IN_HOLE UNDATED : READY_IN_HOLE,
                 "iiii", hole->stream->id, ~hole->max, ~hole->min,
                 (int64_t)GAP_MAX + 1 - gap->count) < 0)
        return false;
    gap->count += found;
    return true;
}

static void count_timer(struct gaps *gaps, int64_t stream, int64_t priority) {
    for (size_t i = 0; i < gaps->hole_count; i++) {
        const struct hole *hole = &gaps->holes[i];
        if (!hole->undated && hole->stream->id == stream && priority >= hole->min &&
            priority <= hole->max) {
            gaps->list[hole->gap].count += gaps->list[hole->gap].count <= GAP_MAX;
            return;
        }
    }
}

/* What is due next; those behind it will be met in time. */
static bool count_timers(struct store *store, struct gaps *gaps, struct error *error) {
    sqlite3_stmt *rows = db_query(
        &store->db, error, "SELECT stream, rank FROM timer ORDER BY due LIMIT ?1", "n", GAP_MAX);
    int step = rows ? 1 : -1;
    while (rows && (step = db_step(&store->db, rows, error)) > 0)
        count_timer(gaps, sqlite3_column_int64(rows, 0), ~sqlite3_column_int64(rows, 1));
    return step == 0;
}

/* ---- the list ---- */

static bool gap_put_facts(json_t *object, const struct gap *gap) {
    const struct hole *hole = gap->first;
    if (strcmp(gap->kind, "range") == 0)
        return json_put(object, "priority_min",
                        hole->min == INT64_MIN ? NULL : json_integer(hole->min)) &&
               json_put(object, "priority_max",
                        hole->max == INT64_MAX ? NULL : json_integer(hole->max));
    if (strcmp(gap->kind, "handler") == 0)
        return json_put_text(object, "handler", hole->stream->definition->name);
    if (strcmp(gap->kind, "category") == 0)
        return json_put_text(object, "category", hole->stream->category);
    return strcmp(gap->kind, "deployment") != 0 ||
           json_put(object, "deployment", json_integer(hole->stream->deployment));
}

static json_t *gap_to_json(const struct gap *gap) {
    json_t *object = json_object();
    bool more = gap->count > GAP_MAX;
    if (json_put_text(object, "kind", gap->kind) && json_put_text(object, "text", gap->text) &&
        json_put(object, "count", json_integer(more ? GAP_MAX : gap->count)) &&
        json_put(object, "more", json_boolean(more)) && gap_put_facts(object, gap))
        return object;
    json_decref(object);
    return NULL;
}

static json_t *gaps_to_json(const struct gaps *gaps) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < gaps->count; i++)
        if (gaps->list[i].count && json_array_append_new(list, gap_to_json(&gaps->list[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static void gaps_clear(struct gaps *gaps) {
    for (size_t i = 0; i < gaps->count; i++)
        free(gaps->list[i].text);
    free(gaps->list);
    free(gaps->holes);
}

/* NULL: somebody is there. */
static const char *gap_nobody(const struct census *census) {
    if (census_count(census, STANDING_LIVE))
        return NULL;
    return census_count(census, STANDING_DRAINING) ? "every executor is draining"
                                                   : "no executor runs";
}

json_t *gap_list(struct store *store, const struct census *census, struct error *error) {
    struct gaps gaps = {0};
    json_t *list = NULL;
    const char *nobody = gap_nobody(census);
    bool fine = true;
    bool named = holes_find(&gaps, store, census);
    for (size_t i = 0; named && i < gaps.hole_count; i++)
        named = gap_of(&gaps, &gaps.holes[i], nobody);
    for (size_t i = 0; named && fine && i < gaps.hole_count; i++)
        fine = count_ready(store, &gaps, &gaps.holes[i], error);
    fine = named && fine && (!gaps.hole_count || count_timers(store, &gaps, error));
    if (!named || (fine && !(list = gaps_to_json(&gaps))))
        error_set(error, ERROR_FAILED, "store \"%s\": out of memory", store->db.name);
    gaps_clear(&gaps);
    return list;
}

json_t *store_gaps(struct store *store, time_ms now, struct error *error) {
    bool own = false;
    struct census census;
    json_t *list = NULL;
    if (!look_begin(store, &own, error))
        return NULL;
    if (census_take(&census, store, false, now, error))
        list = gap_list(store, &census, error);
    census_clear(&census);
    look_end(store, own);
    return list;
}
