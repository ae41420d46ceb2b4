#include "base/json.h"
#include "store/rules/ground/query.h"
#include "store/sqlite/db/engine.h"
#include <stdlib.h>
#include <string.h>

/* Their ids are put into one temporary list: about 20 ms. */
#define FEW "100000"
#define COUNT_OF(what) "(SELECT count(*) FROM (SELECT 1 FROM " what " LIMIT " FEW "+1))"
#define STREAMS "stream IN (SELECT value FROM json_each(?1))"

/* YES: few. `streams` may be NULL. */
static enum answer is_few(struct store *store, const char *sql, const char *streams,
                          struct error *error) {
    int64_t few = 0;
    enum answer found = db_value(&store->db, error, &few, sql, "t", streams);
    return found == YES && !few ? NO : found;
}

static bool wants_state(const json_t *wanted, const char *name) {
    const char *state = json_string_value(json_object_get(wanted, "state"));
    return state && strcmp(state, name) == 0;
}

static bool wants_suspended(const json_t *wanted) {
    return wants_state(wanted, "suspended") || json_is_true(json_object_get(wanted, "suspended")) ||
           json_object_get(wanted, "suspended_by");
}

static bool add_suspended(struct store *store, struct query *query, struct error *error) {
    enum answer few =
        is_few(store, "SELECT " COUNT_OF("job WHERE suspended<>0") "<=" FEW " AND ?1 IS NULL", NULL,
               error);
    if (few == YES)
        query_add(query, " AND j.id IN (SELECT id FROM job WHERE suspended<>0)");
    return few != FAILED;
}

/* Those that run are few, as those are that stand behind their lanes. */
static bool add_locked(struct query *query) {
    query_add(query, " AND j.id IN (SELECT id FROM locked)");
    return true;
}

#define BEHIND_LANE " WHERE lane IN (SELECT id FROM lane)"

/* A queue is read for those whose lane runs only if one does. */
static bool add_waiting(struct store *store, struct query *query, struct error *error) {
    int64_t runs = 0;
    enum answer few =
        is_few(store, "SELECT coalesce(sum(parked), 0)<=" FEW " AND ?1 IS NULL FROM occupancy",
               NULL, error);
    if (few != YES)
        return few == NO;
    if (db_value(&store->db, error, &runs, "SELECT 1 FROM lane LIMIT 1", "") == FAILED)
        return false;
    query_add(query, " AND j.id IN (SELECT id FROM parked");
    if (runs)
        query_add(query, " UNION ALL SELECT id FROM ready" BEHIND_LANE
                         " UNION ALL SELECT id FROM timer" BEHIND_LANE);
    query_add(query, ")");
    return true;
}

/* None of the first jobs is in the place: it is dearer to pass over all before the first that is
 * than to look for that, as rows of places are small. */
#define FIRST "(SELECT id, stream, priority, place, due FROM job ORDER BY id LIMIT 10000) j"
#define NONE_FIRST(place, same)                                                                    \
    "SELECT NOT EXISTS(SELECT 1 FROM " FIRST " JOIN " place " p ON " same                          \
    " AND p.id=j.id) AND ?1 IS NULL"

static bool add_first(struct store *store, struct query *query, const char *decides,
                      const char *first, struct error *error) {
    enum answer elsewhere = is_few(store, decides, NULL, error);
    query_add(query, elsewhere == YES ? first : "");
    return elsewhere != FAILED;
}

static bool add_scheduled(struct store *store, struct query *query, struct error *error) {
    enum answer few =
        is_few(store, "SELECT coalesce(sum(timer), 0)<=" FEW " AND ?1 IS NULL FROM occupancy", NULL,
               error);
    if (few == YES)
        query_add(query, " AND j.id IN (SELECT id FROM timer)");
    return few == YES || (few == NO && add_first(store, query, NONE_FIRST("timer", "p.due=j.due"),
                                                 " AND j.id>=(SELECT min(id) FROM timer)", error));
}

/* What is due stands in `timer` until it is promoted. */
static bool add_ready(struct store *store, struct query *query, struct error *error) {
    return add_first(store, query,
                     NONE_FIRST("ready", "p.stream=j.stream AND p.rank=~j.priority"
                                         " AND p.place=j.place"),
                     " AND j.id>=(SELECT coalesce(min(id), 0) FROM (SELECT min(id) AS id FROM ready"
                     " UNION ALL SELECT min(id) FROM timer WHERE due<=n.now))",
                     error);
}

#define STREAMS_OF(condition)                                                                      \
    "SELECT json_group_array(s.id) FROM stream s JOIN definition d ON d.id=s.definition "          \
    "WHERE " condition
#define GIVEN "(SELECT value FROM json_each(?1))"

/* The streams of the names or numbers as a JSON array; *streams NULL: it cannot be said so. */
static bool find_streams(struct store *store, bool by_name, const json_t *value, char **streams,
                         struct error *error) {
    static const char names[] = STREAMS_OF("d.name IN " GIVEN);
    static const char either[] = STREAMS_OF("d.name IN " GIVEN " OR d.id IN " GIVEN);
    json_t *list = json_is_array(value) ? json_incref(json_unchanged(value))
                                        : json_pack("[O]", json_unchanged(value));
    char *text = list ? json_write(list, NULL) : NULL;
    json_decref(list);
    *streams = NULL;
    if (!text)
        return error_no_memory(error);
    struct row *row = db_query(&store->db, error, by_name ? names : either, "t", text);
    enum answer step = db_step(&store->db, row, error);
    if (step == YES && row_text(row, 0))
        *streams = strdup(row_text(row, 0));
    if (step == YES)
        row_done(row);
    free(text);
    return step != FAILED;
}

static bool add_streams(struct store *store, struct query *query, const char *streams,
                        struct error *error) {
    static const char *const arms[] = {"SELECT id FROM ready WHERE ",
                                       "SELECT id FROM timer WHERE ",
                                       "SELECT id FROM parked WHERE ",
                                       "SELECT id FROM locked WHERE ",
                                       "SELECT id FROM job WHERE retries=0 AND ",
                                       "SELECT id FROM job WHERE suspended<>0 AND "};
    enum answer few =
        is_few(store,
               "SELECT (SELECT coalesce(sum(ready+timer+parked), 0) FROM occupancy WHERE " STREAMS
               ")+" COUNT_OF("job WHERE retries=0") "<=" FEW,
               streams, error);
    for (size_t i = 0; few == YES && i < sizeof arms / sizeof *arms; i++) {
        query_add(query, i ? " UNION ALL " : " AND j.id IN (");
        query_add(query, arms[i]);
        query_add(query, "stream IN (SELECT value FROM json_each(");
        query_bind_new(query, json_string(streams));
        query_add(query, "))");
    }
    query_add(query, few == YES ? ")" : "");
    return few != FAILED;
}

bool few_add(struct store *store, struct query *query, const json_t *wanted, struct error *error) {
    const json_t *handler = json_object_get(wanted, "handler");
    const json_t *value = handler ? handler : json_object_get(wanted, "definition");
    char *streams = NULL;
    if (wants_suspended(wanted))
        return add_suspended(store, query, error);
    if (wants_state(wanted, "locked") || json_is_true(json_object_get(wanted, "locked")))
        return add_locked(query);
    if (wants_state(wanted, "waiting"))
        return add_waiting(store, query, error);
    if (wants_state(wanted, "scheduled"))
        return add_scheduled(store, query, error);
    if (wants_state(wanted, "ready") && !value)
        return add_ready(store, query, error);
    if (!value || json_object_get(wanted, "id") || json_object_get(wanted, "batch"))
        return true;
    bool done = find_streams(store, handler != NULL, value, &streams, error) &&
                (!streams || add_streams(store, query, streams, error));
    free(streams);
    return done;
}
