#include "store/rules/fleet/unserved.h"
#include "base/json.h"
#include "base/list.h"
#include "store/rules/ground/kinds.h"
#include <stdlib.h>
#include <string.h>

const char *unserved_kind(enum serves_stage stage, const struct catalog_stream *stream) {
    static const char *const names[] = {"handler", "category", "deployment", "range"};
    if (stage == SERVES_NOTHING && stream->topic)
        return "topic";
    return stage == SERVES_NOTHING && stream->definition->process ? "process" : names[stage];
}

void unserved_add_range(struct text *words, int64_t min, int64_t max) {
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

void unserved_add_missing(struct text *words, enum serves_stage stage,
                          const struct catalog_stream *stream, int64_t min, int64_t max) {
    if (stage == SERVES_NOTHING && stream->topic)
        text_add(words, "topic \"%s\", nor has a worker asked for it within an hour",
                 stream->topic);
    else if (stage == SERVES_NOTHING && stream->definition->process)
        text_add(words, "process \"%s\"", stream->definition->process);
    else if (stage == SERVES_NOTHING)
        text_add(words, "handler \"%s\"", stream->definition->name);
    else if (stage == SERVES_HANDLER && stream->category)
        text_add(words, "category \"%s\"", stream->category);
    else if (stage == SERVES_HANDLER)
        text_add(words, "jobs without a category");
    else if (stage == SERVES_CATEGORY)
        text_add(words, "deployment %lld", (long long)stream->deployment);
    else
        unserved_add_range(words, min, max);
}

/* ---- where the holes are ---- */

struct hole { /* of one stream, in priority */
    const struct catalog_stream *stream;
    enum serves_stage stage;
    int64_t min, max;
    bool undated;    /* only of jobs without a due date */
    size_t unserved; /* of the list below */
};

struct unserved_jobs {
    char *text;
    const char *kind;
    const struct hole *first; /* what the facts are taken from */
    int64_t count;
};

struct unserved_list {
    struct hole *holes;
    struct unserved_jobs *list;
    size_t hole_count, count;
};

static bool hole_add(struct unserved_list *all, struct hole hole) {
    struct hole *holes = list_room(all->holes, all->hole_count, sizeof *holes);
    if (!holes)
        return false;
    all->holes = holes;
    holes[all->hole_count++] = hole;
    return true;
}

/* The lowest begin, and with it the highest end, of what reaches `from` or lies above it.
 * `undated`: of executors that take jobs without a due date. */
static bool next_range(const struct executor_list *executors, const struct catalog_stream *stream,
                       bool undated, int64_t from, int64_t *min, int64_t *max) {
    bool found = false;
    for (size_t i = 0; i < executors->count; i++) {
        const struct executor_info *info = &executors->list[i];
        const struct acquire *acquire = &info->acquire;
        if (info->standing != STANDING_LIVE || acquire->priority_max < from ||
            (undated && acquire->ensure_due_date) || !serves_stream(&info->serves, stream))
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

/* The parts of a range that are served, but not to jobs without a due date. */
static bool undated_between(struct unserved_list *all, const struct executor_list *executors,
                            struct hole hole) {
    int64_t from = hole.min, end = hole.max;
    while (next_range(executors, hole.stream, false, from, &hole.min, &hole.max) &&
           hole.min <= end) {
        hole.max = hole.max < end ? hole.max : end;
        if (!hole_add(all, hole))
            return false;
        if (hole.max == end)
            return true;
        from = hole.max + 1;
    }
    return true;
}

static bool hole_found(struct unserved_list *all, const struct executor_list *executors,
                       struct hole hole) {
    return hole.undated ? undated_between(all, executors, hole) : hole_add(all, hole);
}

/* What is left between the ranges of those who serve the stream; `undated`: of those who take jobs
 * without a due date, as far as others serve it. */
static bool holes_between(struct unserved_list *all, const struct executor_list *executors,
                          const struct catalog_stream *stream, bool undated) {
    struct hole hole = {stream, SERVES_STREAM, INT64_MIN, INT64_MAX, undated, 0};
    int64_t from = INT64_MIN, min = 0, max = 0;
    while (next_range(executors, stream, undated, from, &min, &max)) {
        hole.min = from;
        hole.max = min - (min > INT64_MIN);
        if (min > from && !hole_found(all, executors, hole))
            return false;
        if (max == INT64_MAX)
            return true;
        from = max + 1;
    }
    hole.min = from;
    hole.max = INT64_MAX;
    return hole_found(all, executors, hole);
}

static bool is_dating(const struct executor_list *executors) {
    for (size_t i = 0; i < executors->count; i++)
        if (executors->list[i].standing == STANDING_LIVE &&
            executors->list[i].acquire.ensure_due_date)
            return true;
    return false;
}

static bool holes_find(struct unserved_list *all, const struct store *store,
                       const struct executor_list *executors) {
    bool dating = is_dating(executors);
    for (size_t i = 0; i < store->catalog.stream_count; i++) {
        const struct catalog_stream *stream = &store->catalog.streams[i];
        enum serves_stage stage = executor_list_stage(executors, STANDING_LIVE, stream);
        struct hole whole = {stream, stage, INT64_MIN, INT64_MAX, false, 0};
        bool served = stage == SERVES_STREAM;
        bool done = served ? holes_between(all, executors, stream, false) : hole_add(all, whole);
        if (!done || (served && dating && !holes_between(all, executors, stream, true)))
            return false;
    }
    return true;
}

/* ---- naming them ---- */

static char *hole_text(const struct hole *hole, const char *nobody) {
    struct text words = {0};
    if (nobody && !hole->stream->topic)
        text_add(&words, "%s", nobody);
    else if (hole->undated)
        text_add(&words, "no live executor takes jobs without a due date (setting "
                         "ensure_due_date)");
    else {
        text_add(&words, "no live executor serves ");
        unserved_add_missing(&words, hole->stage, hole->stream, hole->min, hole->max);
    }
    return words.data;
}

/* Holes that are told with the same words are one entry. */
static bool unserved_of(struct unserved_list *all, struct hole *hole, const char *nobody) {
    char *text = hole_text(hole, nobody);
    if (!text)
        return false;
    for (hole->unserved = 0; hole->unserved < all->count; hole->unserved++)
        if (strcmp(all->list[hole->unserved].text, text) == 0) {
            free(text);
            return true;
        }
    struct unserved_jobs *list = realloc(all->list, (all->count + 1) * sizeof *list);
    if (!list) {
        free(text);
        return false;
    }
    all->list = list;
    const char *kind = hole->undated ? "due_date" : unserved_kind(hole->stage, hole->stream);
    list[all->count++] =
        (struct unserved_jobs){text, nobody && !hole->stream->topic ? "executor" : kind, hole, 0};
    return true;
}

/* ---- counting, never further than GAP_MAX ---- */

/* Jobs that nobody takes gather at the head of their priority: the first ones are looked at. */
#define READY_IN_HOLE                                                                              \
    "SELECT count(*) FROM (SELECT id FROM ready WHERE stream=?1"                                   \
    " AND rank BETWEEN ?2 AND ?3 LIMIT ?4) r"
#define UNDATED " WHERE EXISTS(SELECT 1 FROM job j WHERE j.id=r.id AND j.due IS NULL)"

static bool count_ready(struct store *store, struct unserved_list *all, const struct hole *hole,
                        struct error *error) {
    int64_t found = 0;
    struct unserved_jobs *unserved = &all->list[hole->unserved];
    if (db_value(&store->db, error, &found, hole->undated ? READY_IN_HOLE UNDATED : READY_IN_HOLE,
                 "iiii", hole->stream->id, ~hole->max, ~hole->min,
                 (int64_t)UNSERVED_MAX + 1 - unserved->count) == FAILED)
        return false;
    unserved->count += found;
    return true;
}

static void count_timer(struct unserved_list *all, int64_t stream, int64_t priority) {
    for (size_t i = 0; i < all->hole_count; i++) {
        const struct hole *hole = &all->holes[i];
        if (!hole->undated && hole->stream->id == stream && priority >= hole->min &&
            priority <= hole->max) {
            all->list[hole->unserved].count += all->list[hole->unserved].count <= UNSERVED_MAX;
            return;
        }
    }
}

/* What is due next; those behind it will be met in time. */
static bool count_timers(struct store *store, struct unserved_list *all, struct error *error) {
    struct row *rows =
        db_query(&store->db, error, "SELECT stream, rank FROM timer ORDER BY due LIMIT ?1", "n",
                 UNSERVED_MAX);
    enum answer step = NO;
    while ((step = db_step(&store->db, rows, error)) == YES)
        count_timer(all, row_int(rows, 0), ~row_int(rows, 1));
    return step == NO;
}

/* ---- the list ---- */

static bool unserved_put_facts(json_t *object, const struct unserved_jobs *unserved) {
    const struct hole *hole = unserved->first;
    if (strcmp(unserved->kind, "range") == 0)
        return json_put(object, "priority_min",
                        hole->min == INT64_MIN ? NULL : json_integer(hole->min)) &&
               json_put(object, "priority_max",
                        hole->max == INT64_MAX ? NULL : json_integer(hole->max));
    if (strcmp(unserved->kind, "process") == 0)
        return json_put_text(object, "process", hole->stream->definition->process);
    if (strcmp(unserved->kind, "topic") == 0)
        return json_put_text(object, "topic", hole->stream->topic);
    if (strcmp(unserved->kind, "handler") == 0)
        return json_put_text(object, "handler", hole->stream->definition->name);
    if (strcmp(unserved->kind, "category") == 0)
        return json_put_text(object, "category", hole->stream->category);
    return strcmp(unserved->kind, "deployment") != 0 ||
           json_put(object, "deployment", json_integer(hole->stream->deployment));
}

static json_t *unserved_to_json(const struct unserved_jobs *unserved) {
    json_t *object = json_object();
    bool more = unserved->count > UNSERVED_MAX;
    return json_kept(object, json_put_text(object, "kind", unserved->kind) &&
                                 json_put_text(object, "text", unserved->text) &&
                                 json_put(object, "count",
                                          json_integer(more ? UNSERVED_MAX : unserved->count)) &&
                                 json_put(object, "more", json_boolean(more)) &&
                                 unserved_put_facts(object, unserved));
}

static json_t *list_to_json(const struct unserved_list *all) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < all->count; i++)
        if (all->list[i].count && json_array_append_new(list, unserved_to_json(&all->list[i])) != 0)
            return json_kept(list, false);
    return list;
}

static void list_clear(struct unserved_list *all) {
    for (size_t i = 0; i < all->count; i++)
        free(all->list[i].text);
    free(all->list);
    free(all->holes);
}

/* NULL: somebody is there. */
static const char *unserved_by_all(const struct executor_list *executors) {
    if (executor_list_count(executors, STANDING_LIVE))
        return NULL;
    return executor_list_count(executors, STANDING_DRAINING) ? "every executor is draining"
                                                             : "no executor runs";
}

json_t *unserved_list(struct store *store, const struct executor_list *executors,
                      struct error *error) {
    struct unserved_list all = {0};
    json_t *list = NULL;
    const char *nobody = unserved_by_all(executors);
    bool fine = true;
    bool named = holes_find(&all, store, executors);
    for (size_t i = 0; named && i < all.hole_count; i++)
        named = unserved_of(&all, &all.holes[i], nobody);
    for (size_t i = 0; named && fine && i < all.hole_count; i++)
        fine = count_ready(store, &all, &all.holes[i], error);
    fine = named && fine && (!all.hole_count || count_timers(store, &all, error));
    if (!named || (fine && !(list = list_to_json(&all))))
        db_no_memory(&store->db, error);
    list_clear(&all);
    return list;
}

static const struct ask_column unserved_columns[] = {
    {"kind", ASK_TEXT, NULL, ASK_SHOW},
    {"text", ASK_TEXT, NULL, ASK_SHOW},
    {"count", ASK_INTEGER, NULL, ASK_SHOW},
    {"more", ASK_FLAG, NULL, ASK_SHOW},
    {"priority_min", ASK_INTEGER, NULL, ASK_SHOW},
    {"priority_max", ASK_INTEGER, NULL, ASK_SHOW},
    {"handler", ASK_TEXT, NULL, ASK_SHOW},
    {"process", ASK_TEXT, NULL, ASK_SHOW},
    {"topic", ASK_TEXT, NULL, ASK_SHOW},
    {"category", ASK_TEXT, NULL, ASK_SHOW},
    {"deployment", ASK_INTEGER, NULL, ASK_SHOW},
    {0},
};

const struct ask_table unserved_table = {"unserved", unserved_columns};

json_t *store_unserved(struct store *store, time_ms now, struct error *error) {
    bool own = false;
    struct executor_list executors;
    json_t *list = NULL;
    if (!look_begin(store, &own, error))
        return NULL;
    if (executor_list_take(&executors, store, false, now, error))
        list = unserved_list(store, &executors, error);
    executor_list_clear(&executors);
    look_end(store, own);
    return list;
}
