/* stats.c - counts: how many jobs wait where, who serves them, what was done
 * (rules §16). */
#include "base/json.h"
#include "store/rules/ask/job_counts.h"
#include "store/rules/fleet/unserved.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"
#include "store/rules/process/stuck_instance.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW_MAX 10000    /* incidents are counted no further */
#define LEVELS_MAX 10000 /* streams and ranks whose oldest job is looked for one by one */
#define TEXT_OF(number) #number
#define AT_MOST(number) " LIMIT " TEXT_OF(number)

/* What there is of a definition in an object by their ids; else `nothing`: a new reference. */
static json_t *stats_of(const json_t *all, int64_t definition, json_t *(*nothing)(void)) {
    char key[32];
    snprintf(key, sizeof key, "%lld", (long long)definition);
    json_t *found = json_object_get(all, key);
    return found ? json_incref(found) : nothing();
}

/* ---- definitions ---- */

/* Any of the texts. Each stands between the parts of `sql`, which end with NULL. */
static bool filter_parts(struct query *query, const struct filter *filter, const json_t *value,
                         const char *const *sql, struct error *error) {
    query_add(query, "(1=0");
    for (size_t i = 0; i < filter_count(value); i++) {
        const json_t *one = filter_value(value, i);
        if (!json_is_string(one))
            return error_set(error, ERROR_INVALID,
                             "filter \"%s\": expected a text or a list of texts", filter->name);
        query_add(query, " OR (");
        for (const char *const *part = sql; *part; part++) {
            query_add(query, *part);
            if (part[1])
                query_bind(query, one);
        }
        query_add(query, ")");
    }
    query_add(query, ")");
    return true;
}

/* The definitions of a process, "process/KEY/…" and "process/KEY:command". A key may have slashes,
 * an activity has none. */
static bool filter_process(struct query *query, const struct filter *filter, const json_t *value,
                           struct error *error) {
    static const char *const sql[] = {
        "name='process/'||",    "||':command' OR substr(name, 1, length(",
        ")+9)='process/'||",    "||'/' AND substr(name, length(",
        ")+10) NOT LIKE '%/%'", NULL};
    return filter_parts(query, filter, value, sql, error);
}

/* Those of an activity, "process/KEY/ACTIVITY" with what kind of job it is behind a colon. */
static bool filter_activity(struct query *query, const struct filter *filter, const json_t *value,
                            struct error *error) {
    static const char *const sql[] = {
        "substr(name, 1, 8)='process/' AND ("
        "substr(name, length(name)-length(",
        "))='/'||",
        " OR substr(name, length(name)-length(",
        ")-6)='/'||",
        "||':after' OR substr(name, length(name)-length(",
        ")-6)='/'||",
        "||':timer' OR substr(name, length(name)-length(",
        ")-6)='/'||",
        "||':event')",
        NULL,
    };
    return filter_parts(query, filter, value, sql, error);
}

static const struct filter definition_filters[] = {
    {"name", "NAME,…", "these definitions"},
    {"deployment", "ID,…", "of these deployments"},
    {"suspended", "[BOOL]", "suspended", filter_flag, "suspended<>0"},
    {"overridden", "[BOOL]", "with a priority, limit or rate of the store's", filter_flag,
     "coalesce(override_priority, override_limit) IS NOT NULL OR override_rate IS NOT NULL"},
    {"process", NULL, NULL, filter_process},
    {"activity", NULL, NULL, filter_activity},
    {"handler", NULL, NULL, filter_texts, "name"},
    {0},
};

/* Behind `counts`: what its file says, see lua/moonshift/definition.lua. */
static const struct ask_column definition_columns[] = {
    {"name", ASK_TEXT, "name", ASK_BOTH},
    {"id", ASK_INTEGER, "id", ASK_BOTH},
    {"deployment", ASK_INTEGER, "deployment", ASK_BOTH},
    {"suspended", ASK_FLAG, "suspended", ASK_SORT},
    {"override_priority", ASK_INTEGER, "override_priority", ASK_SORT, "OVERRIDE"},
    {"override_limit", ASK_VALUE, NULL, ASK_SHOW, "LIMIT"},
    {"override_rate", ASK_TEXT, NULL, ASK_SHOW, "RATE"},
    {"counts", ASK_OBJECT, NULL, ASK_SHOW, "JOBS"},
    {"file", ASK_TEXT, NULL, ASK_SHOW},
    {"priority", ASK_VALUE, NULL, ASK_SHOW},
    {"retries", ASK_INTEGER, NULL, ASK_SHOW},
    {"retry", ASK_VALUE, NULL, ASK_SHOW},
    {"timeout", ASK_TEXT, NULL, ASK_SHOW},
    {"category", ASK_TEXT, NULL, ASK_SHOW},
    {"limit", ASK_INTEGER, NULL, ASK_SHOW},
    {"rate", ASK_VALUE, NULL, ASK_SHOW},
    {"backlog", ASK_INTEGER, NULL, ASK_SHOW},
    {"lane_backlog", ASK_INTEGER, NULL, ASK_SHOW},
    {"unique", ASK_VALUE, NULL, ASK_SHOW},
    {"unique_for", ASK_VALUE, NULL, ASK_SHOW},
    {"on_conflict", ASK_TEXT, NULL, ASK_SHOW},
    {"properties", ASK_OBJECT, NULL, ASK_SHOW},
    {0},
};

const struct ask_table definition_table = {
    "definitions", definition_columns, definition_filters,
    .shown =
        "id,name,priority=?,override_priority?,override_limit?,override_rate?,suspended=,counts?"};

/* As a file says it: 5, { cluster = 5 }; and "none". */
static json_t *limit_override(struct row *row, int column) {
    if (row_null(row, column))
        return json_null();
    int64_t limit = row_int(row, column);
    if (limit < 0)
        return json_pack("{sI}", "cluster", (json_int_t)-limit);
    return limit ? json_integer(limit) : json_string("none");
}

static json_t *definition_read(struct store *store, struct row *row, struct error *error) {
    const char *text = row_text(row, 3);
    json_t *object = json_read(text, strlen(text), "definition", NULL);
    if (!json_is_object(object)) {
        json_decref(object);
        object = json_object();
    }
    if (json_put(object, "id", query_column(row, 0)) &&
        json_put(object, "name", query_column(row, 1)) &&
        json_put(object, "deployment", query_column(row, 2)) &&
        json_put(object, "override_priority", query_column(row, 4)) &&
        json_put(object, "override_limit", limit_override(row, 6)) &&
        json_put(object, "override_rate", query_column(row, 7)) &&
        json_put(object, "suspended", json_boolean(row_int32(row, 5))))
        return object;
    return json_kept(object, db_no_memory(&store->db, error));
}

static json_t *definitions_list(struct store *store, const json_t *filters,
                                const struct store_page *page, struct error *error) {
    struct query query = {0};
    json_t *rows = NULL;
    query_add(&query, "SELECT id, name, deployment, properties, override_priority, suspended,"
                      " override_limit, override_rate FROM definition");
    if (query_where(&query, filters, &definition_table, error) &&
        query_page(&query, page, &definition_table, error))
        rows = query_rows(&query, store, "definitions", definition_read, error);
    query_clear(&query);
    return rows;
}

json_t *store_definitions(struct store *store, const json_t *filters, const struct store_page *page,
                          time_ms now, struct error *error) {
    bool own = false;
    size_t index = 0;
    json_t *definition = NULL, *places = NULL, *list = NULL, *total = NULL;
    if (!look_begin(store, &own, error))
        return NULL;
    store->db.question = "definitions";
    if ((total = job_counts_zero()) && (places = job_counts(store, total, now, NULL, error)))
        list = definitions_list(store, filters, page, error);
    look_end(store, own);
    json_decref(total);
    json_array_foreach(list, index, definition)
        json_put(definition, "counts",
                 stats_of(places, json_int(definition, "id"), job_counts_zero));
    json_decref(places);
    return list;
}

/* ---- the whole store ---- */

static json_t *metrics_zero(void) {
    json_t *metrics = json_object();
    for (int i = 0; metrics && i < METRIC_COUNT; i++)
        json_put(metrics, metric_name((enum metric)i), json_integer(0));
    return metrics;
}

/* { definition id as text = { name = sum } }, 0: of all. */
static json_t *stats_metrics(struct store *store, struct error *error) {
    json_t *all = json_object();
    struct row *rows = db_query(&store->db, error,
                                "SELECT definition, name, CAST(sum(value) AS BIGINT) FROM metric"
                                " GROUP BY definition, name",
                                "");
    enum answer step = rows && all ? YES : FAILED;
    while (step == YES && (step = db_step(&store->db, rows, error)) == YES) {
        char key[32];
        snprintf(key, sizeof key, "%lld", (long long)row_int(rows, 0));
        if (!json_object_get(all, key))
            json_put(all, key, metrics_zero());
        if (row_int32(rows, 1) >= 0 && row_int32(rows, 1) < METRIC_COUNT)
            json_put(json_object_get(all, key), metric_name((enum metric)row_int32(rows, 1)),
                     json_integer(row_int(rows, 2)));
    }
    return json_kept(all, step == NO);
}

/* Unlike json_put: no value is a failure. */
static bool stats_put(json_t *stats, const char *key, json_t *value) {
    return value && json_put(stats, key, value);
}

static json_t *stats_definitions(struct store *store, const json_t *places, const json_t *metrics) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < store->catalog.definition_count; i++) {
        const struct catalog_definition *definition = &store->catalog.definitions[i];
        json_t *object = json_object();
        if (!stats_put(object, "metrics", stats_of(metrics, definition->id, metrics_zero)) ||
            !json_put(object, "id", json_integer(definition->id)) ||
            !json_put_text(object, "name", definition->name) ||
            !stats_put(object, "counts", stats_of(places, definition->id, job_counts_zero)) ||
            json_array_append(list, object) != 0) {
            json_decref(object);
            json_decref(list);
            return NULL;
        }
        json_decref(object);
    }
    return list;
}

static bool stats_census(struct store *store, json_t *stats, time_ms now, struct error *error) {
    struct executor_list executors;
    bool done = executor_list_take(&executors, store, false, now, error) &&
                stats_put(stats, "executors", executor_list_to_json(&executors, store, now)) &&
                stats_put(stats, "gaps", unserved_list(store, &executors, error));
    executor_list_clear(&executors);
    return done;
}

/* The oldest ready job of the next (stream, rank) behind this one. */
static enum answer stats_level(struct store *store, int64_t *stream, int64_t *rank, int64_t *place,
                               struct error *error) {
    return db_read(&store->db, error,
                   "SELECT stream, rank, place FROM ready"
                   " WHERE (stream, rank, place, id)>(?1, ?2, ?3, ?3)"
                   " ORDER BY stream, rank, place, id LIMIT 1",
                   "iii<iii", stream, rank, place, *stream, *rank, INT64_MAX);
}

/* Each level has its oldest in front: as long as there are not too many levels, few rows are read.
 * Under fair share a place is no time. */
static bool stats_oldest_ready(struct store *store, int64_t *oldest, struct error *error) {
    int64_t stream = INT64_MIN, rank = INT64_MIN, place = 0;
    enum answer step = store->meta.fair ? NO : YES;
    for (int i = 0; i < LEVELS_MAX && step == YES; i++) {
        step = stats_level(store, &stream, &rank, &place, error);
        if (step == YES && (*oldest == TIME_NONE || place < *oldest))
            *oldest = place;
    }
    if (step != YES && !store->meta.fair)
        return step == NO;
    return db_value(&store->db, error, oldest,
                    store->meta.fair ? "SELECT min(coalesce(j.due, j.created)) FROM ready r"
                                       " JOIN job j ON j.id=r.id HAVING count(*)>0"
                                     : "SELECT min(place) FROM ready",
                    "") != FAILED;
}

/* How long the oldest job that could run has been waiting, in seconds; due timers included. */
static bool stats_oldest(struct store *store, json_t *stats, time_ms now, struct error *error) {
    int64_t oldest = TIME_NONE, timer = TIME_NONE;
    if (!stats_oldest_ready(store, &oldest, error) ||
        db_value(&store->db, error, &timer,
                 "SELECT due FROM timer WHERE due<=?1 ORDER BY due LIMIT 1", "i", now) == FAILED)
        return false;
    if (oldest == TIME_NONE || (timer != TIME_NONE && timer < oldest))
        oldest = timer;
    bool waits = oldest != TIME_NONE && now > oldest;
    double age = waits ? (double)(now - oldest) / 1000 : 0;
    return json_put_time(stats, "oldest_ready", oldest) &&
           json_put(stats, "oldest_ready_age", oldest == TIME_NONE ? NULL : json_real(age));
}

/* { type = how many are open }, and their sum. */
static bool stats_incidents(struct store *store, json_t *stats, struct error *error) {
    int64_t sum = 0;
    json_t *types = json_object();
    struct row *rows =
        db_query(&store->db, error,
                 "SELECT type, count(*) FROM (SELECT type FROM incident"
                 " WHERE ended IS NULL" AT_MOST(FEW_MAX) ") AS open"
                                                         " GROUP BY type ORDER BY type",
                 "");
    enum answer step = rows && types ? YES : FAILED;
    while (step == YES && (step = db_step(&store->db, rows, error)) == YES) {
        json_put(types, row_text(rows, 0), json_integer(row_int(rows, 1)));
        sum += row_int(rows, 1);
    }
    if (step != NO) {
        json_decref(types);
        return false;
    }
    return json_put(stats, "incidents", types) &&
           json_put(stats, "open_incidents", json_integer(sum));
}

static bool stats_fill(struct store *store, json_t *stats, time_ms now, struct error *error) {
    json_t *total = job_counts_zero();
    bool done = stats_put(stats, "jobs", total);
    json_t *places = done ? job_counts(store, total, now, NULL, error) : NULL;
    json_t *metrics = places ? stats_metrics(store, error) : NULL;
    done = metrics && stats_put(stats, "definitions", stats_definitions(store, places, metrics)) &&
           stats_put(stats, "metrics", stats_of(metrics, 0, metrics_zero)) &&
           stats_oldest(store, stats, now, error) && stats_incidents(store, stats, error);
    int64_t stuck = 0;
    done = done &&
           db_value(&store->db, error, &stuck,
                    "SELECT count(*) FROM incident WHERE ended IS NULL"
                    " AND job IS NULL AND type='" INCIDENT_INSTANCE_STUCK "' AND cause IS NULL",
                    "") != FAILED;
    done = done && json_put(stats, "stuck_instances", json_integer(stuck)) &&
           stats_census(store, stats, now, error);
    json_decref(places);
    json_decref(metrics);
    return done;
}

/* In one state of the store. */
static bool stats_look(struct store *store, json_t *stats, time_ms now, struct error *error) {
    bool own = false;
    if (!look_begin(store, &own, error))
        return false;
    store->db.question = "statistics";
    bool done = stats_fill(store, stats, now, error);
    look_end(store, own);
    return done;
}

bool store_stalled(struct store *store, struct error *why) {
    return store->engine->stalled && store->engine->stalled(store, why);
}

json_t *store_stats(struct store *store, time_ms now, struct error *error) {
    struct error why = {0};
    json_t *stats = json_object();
    json_t *log = stats ? store->engine->log(store, error) : NULL;
    const char *stalled = stats && store_stalled(store, &why) ? why.text : NULL;
    return json_kept(stats, stats_put(stats, "log", log) &&
                                json_put_text(stats, "stalled", stalled) &&
                                stats_look(store, stats, now, error));
}
