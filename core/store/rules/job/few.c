#include "store/rules/job/few.h"
#include "base/json.h"
#include <string.h>

/* Their ids are put into one temporary list: about 20 ms. */
#define FEW "100000"
#define COUNT_OF(what) "(SELECT count(*) FROM (SELECT 1 FROM " what " LIMIT " FEW "+1) AS w)"
#define DEAD "job x WHERE x.retries=0"
#define SUSPENDED "job x WHERE x.suspended<>0"

/* YES: it is true. `sql` asks for a number. */
static enum answer is_true(struct store *store, const char *sql, struct error *error) {
    int64_t is = 0;
    const enum answer found = db_value(&store->db, error, &is, sql, "");
    return found == YES && !is ? NO : found;
}

/* Narrows the question if the first is true. */
static bool add_if(struct store *store, struct query *query, const char *sql, const char *narrow,
                   struct error *error) {
    const enum answer is = is_true(store, sql, error);
    query_add(query, is == YES ? narrow : "");
    return is != FAILED;
}

/* ---- by state ---- */

static bool wants_state(const json_t *wanted, const char *name) {
    const char *state = json_string_value(json_object_get(wanted, "state"));
    return state && strcmp(state, name) == 0;
}

static bool wants_suspended(const json_t *wanted) {
    return wants_state(wanted, "suspended") || json_is_true(json_object_get(wanted, "suspended")) ||
           json_object_get(wanted, "suspended_by");
}

/* The limit is never reached, and has a server look for them first. */
static bool add_suspended(struct store *store, struct query *query, struct error *error) {
    return add_if(store, query,
                  "SELECT CASE WHEN " COUNT_OF(SUSPENDED) "<=" FEW " THEN 1 ELSE 0 END",
                  " AND j.id IN (SELECT x.id FROM " SUSPENDED " LIMIT 1000000)", error);
}

/* Those that run are few, as those are that stand behind their lanes. */
static bool add_locked(struct query *query) {
    query_add(query, " AND j.id IN (SELECT id FROM locks)");
    return true;
}

#define FEW_IN(place)                                                                              \
    "SELECT CASE WHEN coalesce(sum(" place "), 0)<=" FEW " THEN 1 ELSE 0 END FROM occupancy"
#define BEHIND_LANE " WHERE lane IN (SELECT id FROM lane)"

/* A queue is read for those whose lane runs only if one does. */
static bool add_waiting(struct store *store, struct query *query, struct error *error) {
    const enum answer few = is_true(store, FEW_IN("parked"), error);
    if (few != YES)
        return few == NO;
    query_add(query, " AND j.id IN (SELECT id FROM parked");
    const bool done = add_if(store, query, "SELECT 1 FROM lane LIMIT 1",
                             " UNION ALL SELECT id FROM ready" BEHIND_LANE
                             " UNION ALL SELECT id FROM timer" BEHIND_LANE,
                             error);
    query_add(query, ")");
    return done;
}

/* None of the first jobs is in the place: it is dearer to pass over all before the first that is
 * than to look for that, as rows of places are small. */
#define FIRST "(SELECT id, stream, priority, place, due FROM job ORDER BY id LIMIT 10000) j"
#define NONE_FIRST(place, same)                                                                    \
    "SELECT CASE WHEN EXISTS(SELECT 1 FROM " FIRST " JOIN " place " p ON " same                    \
    " AND p.id=j.id) THEN 0 ELSE 1 END"

static bool add_scheduled(struct store *store, struct query *query, struct error *error) {
    const enum answer few = is_true(store, FEW_IN("timer"), error);
    if (few == NO)
        return add_if(store, query, NONE_FIRST("timer", "p.due=j.due"),
                      " AND j.id>=(SELECT coalesce(min(id), 0) FROM timer)", error);
    query_add(query, " AND j.id IN (SELECT id FROM timer)");
    return few == YES;
}

/* What is due stands in `timer` until it is promoted. */
static bool add_ready(struct store *store, struct query *query, struct error *error) {
    return add_if(store, query,
                  NONE_FIRST("ready", "p.stream=j.stream AND p.rank= ~j.priority"
                                      " AND p.place=j.place"),
                  " AND j.id>=(SELECT coalesce(min(f.id), 0) FROM (SELECT min(id) AS id FROM ready"
                  " UNION ALL SELECT min(id) FROM timer WHERE due<=n.now) AS f)",
                  error);
}

/* ---- by what streams have ---- */

/* That a row `x` is of some streams. */
static const struct filter of_streams[] = {
    {"handler", NULL, NULL, filter_texts, IN_STREAM("x") "d.name", ")"},
    {"definition", NULL, NULL, filter_definition, IN_STREAM("x"), ")"},
    {"topic", NULL, NULL, filter_texts, OF_TOPIC("x"), ")"},
    {"category", NULL, NULL, filter_texts, OF_CATEGORY("x"), ")"},
    {"deployment", NULL, NULL, filter_numbers, OF_DEPLOYMENT("x"), ")"},
    {0}};

/* The first that is wanted; NULL: none is, or others say more. */
static const struct filter *stream_filter(const json_t *wanted) {
    const struct filter *filter = of_streams;
    while (filter->name && !json_object_get(wanted, filter->name))
        filter++;
    const bool more = json_object_get(wanted, "id") || json_object_get(wanted, "batch");
    return filter->name && !more ? filter : NULL;
}

static bool add_of(struct query *query, const struct filter *of, const json_t *wanted,
                   struct error *error) {
    return of->add(query, of, json_object_get(wanted, of->name), error);
}

static json_t *read_number(struct store *store, struct row *row, struct error *error) {
    (void)store;
    (void)error;
    return json_integer(row_int(row, 0));
}

static enum answer are_few(struct store *store, const struct filter *of, const json_t *wanted,
                           struct error *error) {
    struct query query = {.engine = store->engine};
    json_t *count = NULL;
    query_add(&query, "SELECT CASE WHEN coalesce(sum(x.ready+x.timer+x.parked), 0)+" COUNT_OF(
                          DEAD) "<=" FEW " THEN 1 ELSE 0 END FROM occupancy x WHERE ");
    if (add_of(&query, of, wanted, error))
        count = query_rows(&query, store, "the number of jobs", read_number, error);
    query_clear(&query);
    if (!count)
        return FAILED;
    const bool few = json_integer_value(json_array_get(count, 0)) != 0;
    json_decref(count);
    return few;
}

/* Where such jobs may be. No index of `timer` and `parked` knows of whom a row is: they are read
 * only if counters say that there is one. */
static const struct place {
    const char *counted, *rows;
} places[] = {{NULL, "ready x WHERE "},
              {"x.timer>0 AND ", "timer x WHERE "},
              {"x.parked>0 AND ", "parked x WHERE "},
              {NULL, "locks x WHERE "},
              {NULL, DEAD " AND "},
              {NULL, SUSPENDED " AND "}};

static bool add_place(struct query *query, const struct place *place, const struct filter *of,
                      const json_t *wanted, struct error *error) {
    bool done = true;
    query_add(query, "SELECT x.id FROM ");
    if (place->counted) {
        query_add(query, "(SELECT 1 AS one WHERE EXISTS(SELECT 1 FROM occupancy x WHERE ");
        query_add(query, place->counted);
        done = add_of(query, of, wanted, error);
        query_add(query, ")) AS w CROSS JOIN ");
    }
    query_add(query, place->rows);
    return done && add_of(query, of, wanted, error);
}

/* YES: they are few, and the question is narrowed. */
static enum answer add_streams(struct store *store, struct query *query, const json_t *wanted,
                               struct error *error) {
    const struct filter *of = stream_filter(wanted);
    const enum answer few = of ? are_few(store, of, wanted, error) : NO;
    bool done = few == YES;
    for (size_t i = 0; done && i < sizeof places / sizeof *places; i++) {
        query_add(query, i ? " UNION ALL " : " AND j.id IN (");
        done = add_place(query, &places[i], of, wanted, error);
    }
    query_add(query, few == YES ? ")" : "");
    return few == YES && !done ? FAILED : few;
}

static bool wants_locked(const json_t *wanted) {
    return wants_state(wanted, "locked") || json_is_true(json_object_get(wanted, "locked")) ||
           json_object_get(wanted, "owner") || json_object_get(wanted, "worker");
}

bool jobs_few(struct store *store, struct query *query, const json_t *wanted, struct error *error) {
    if (wants_locked(wanted))
        return add_locked(query);
    const enum answer few = add_streams(store, query, wanted, error);
    if (few != NO)
        return few == YES;
    if (wants_suspended(wanted))
        return add_suspended(store, query, error);
    if (wants_state(wanted, "waiting"))
        return add_waiting(store, query, error);
    if (wants_state(wanted, "scheduled"))
        return add_scheduled(store, query, error);
    return !wants_state(wanted, "ready") || add_ready(store, query, error);
}
