/* list.c - questions about schedules. */
#include "base/json.h"
#include "store/rules/create/cycle.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"
#include "time/repeat.h"

static const struct ask_column schedule_columns[] = {
    {"name", ASK_TEXT, NULL, ASK_SHOW, "SCHEDULE"},
    {"handler", ASK_TEXT, NULL, ASK_SHOW},
    {"cycle", ASK_TEXT, NULL, ASK_SHOW},
    {"zone", ASK_TEXT, NULL, ASK_SHOW},
    {"misfire", ASK_TEXT, NULL, ASK_SHOW},
    {"overlap", ASK_TEXT, NULL, ASK_SHOW},
    {"jitter", ASK_VALUE, NULL, ASK_SHOW},
    {"catch_up", ASK_VALUE, NULL, ASK_SHOW},
    {"paused", ASK_FLAG, NULL, ASK_SHOW},
    {"last", ASK_TIME, NULL, ASK_SHOW},
    {"outcome", ASK_TEXT, NULL, ASK_SHOW},
    {"next", ASK_TIME, NULL, ASK_SHOW},
    {"next_local", ASK_TEXT, NULL, ASK_SHOW, "LOCAL"},
    {"job", ASK_INTEGER, NULL, ASK_SHOW},
    {"source", ASK_TEXT, NULL, ASK_SHOW},
    {0},
};

const struct ask_table schedule_table = {
    "schedules", schedule_columns,
    .shown = "name=,cycle=,outcome!?,last?,next,paused=,zone=,handler,misfire=,overlap=,"
             "next_local=?,job"};

static const struct ask_column date_columns[] = {
    {"local", ASK_TEXT, NULL, ASK_SHOW},
    {"utc", ASK_TIME, NULL, ASK_SHOW},
    {0},
};

const struct ask_table date_table = {"dates", date_columns, .shown = "local=,utc="};

/* How the newest of its runs has ended that is known. */
#define OUTCOME_OF                                                                                 \
    "(SELECT r.outcome FROM (SELECT * FROM (SELECT CASE outcome WHEN 1 THEN 'successful'"          \
    " WHEN 4 THEN 'skipped' ELSE 'cancelled' END AS outcome, at, 1 AS rank FROM ended"             \
    " WHERE schedule=s.name AND started IS NOT NULL ORDER BY seq DESC LIMIT 1) AS e"               \
    " UNION ALL SELECT * FROM (SELECT 'failed' AS outcome, at, 0 AS rank FROM attempt"             \
    " WHERE schedule=s.name ORDER BY at DESC, job DESC LIMIT 1) AS a) AS r"                        \
    " ORDER BY r.at DESC, r.rank DESC LIMIT 1)"

static bool put_member(json_t *object, const json_t *spec, const char *key, const char *otherwise) {
    const char *text = json_string_value(json_object_get(spec, key));
    return json_put_text(object, key, text ? text : otherwise);
}

/* The next date as its zone has it; absent if the zone is not known here. */
static bool put_local(json_t *object, const json_t *spec, time_ms next) {
    char text[LOCAL_TEXT_SIZE] = "";
    const struct zone *zone = zone_find(json_string_value(json_object_get(spec, "zone")), NULL);
    if (zone && next != TIME_NONE)
        repeat_local(zone, next, text);
    return json_put_text(object, "next_local", *text ? text : NULL);
}

static bool schedule_fill(json_t *object, const json_t *spec, struct row *row) {
    return object && spec && json_put(object, "name", query_column(row, 0)) &&
           put_member(object, spec, "handler", NULL) && put_member(object, spec, "cycle", NULL) &&
           put_member(object, spec, "zone", "UTC") && put_member(object, spec, "misfire", "once") &&
           put_member(object, spec, "overlap", "skip") &&
           json_put(object, "jitter", json_copy(json_object_get(spec, "jitter"))) &&
           json_put(object, "catch_up", json_copy(json_object_get(spec, "catch_up"))) &&
           json_put(object, "paused", json_boolean(row_int32(row, 3))) &&
           query_put_time(object, "last", row, 4) &&
           json_put(object, "outcome", query_column(row, 7)) &&
           query_put_time(object, "next", row, 6) && put_local(object, spec, row_time(row, 6)) &&
           json_put(object, "job", query_column(row, 5)) &&
           json_put(object, "source", query_column(row, 1));
}

static json_t *schedule_read(struct store *store, struct row *row, struct error *error) {
    json_t *object = json_object(), *spec = json_loads(row_text(row, 2), 0, NULL);
    bool done = schedule_fill(object, spec, row);
    json_decref(spec);
    if (done)
        return object;
    json_decref(object);
    return error_null(db_no_memory(&store->db, error));
}

json_t *ask_schedules(struct store *store, const struct question *question, struct error *error) {
    const char *name = question->name;
    struct query query = {0};
    query_add(&query, "SELECT s.name, s.source, s.spec, s.paused, s.last, j.id, j.due, " OUTCOME_OF
                      " FROM schedule s LEFT JOIN live j ON j.id=s.job");
    if (name) {
        query_add(&query, " WHERE s.name=");
        query_bind_new(&query, json_string(name));
    }
    query_add(&query, " ORDER BY s.name");
    json_t *rows = query_rows(&query, store, "schedules", schedule_read, error);
    query_clear(&query);
    if (!rows || !name || json_array_size(rows))
        return rows;
    json_decref(rows);
    return error_null(error_set(error, ERROR_NOT_FOUND, "no schedule \"%s\"", name));
}

/* NO: no such schedule; *job 0: its cycle is over. */
static enum answer schedule_job(struct store *store, const char *name, int64_t *job,
                                struct error *error) {
    enum answer found = db_value(&store->db, error, job,
                                 "SELECT coalesce(job, 0) FROM schedule WHERE name=?1", "t", name);
    if (found == NO)
        error_set(error, ERROR_NOT_FOUND, "no schedule \"%s\"", name);
    return found;
}

json_t *ask_dates(struct store *store, const struct question *question, struct error *error) {
    int count = (int)json_integer_value(json_object_get(question->object, "count"));
    bool own = false;
    int64_t job = 0;
    json_t *dates = json_array();
    if (!look_begin(store, &own, error))
        return json_kept(dates, false);
    bool done = dates && schedule_job(store, question->name, &job, error) == YES &&
                (!job || cycle_dates(store, job, count, dates, error));
    look_end(store, own);
    return json_kept(dates, done);
}
