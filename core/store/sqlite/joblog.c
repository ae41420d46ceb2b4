/* joblog.c - the job log (rules §16): what is told of jobs, newest first. Nobody writes it as such:
 * `ended` has successes and deletions, `attempt` failures; a creation is read from the job's row,
 * or from what its end has kept of it.
 *
 * Each of these arms has an order of its own that grows with time, and gives no more rows than the
 * page needs, so that a page costs its own length and not the store's. Where a clock was set back
 * the order of writing counts: `edge` is the time of an entry as far as its arm has come. */
#include "store/sqlite/joblog.h"
#include "base/json.h"
#include "base/outcome.h"
#include "store/sqlite/history.h"
#include "store/sqlite/query.h"
#include <stdio.h>
#include <string.h>

#define LOG_COLUMNS                                                                                \
    "job, outcome, at, executor, started, attempt, retries, due, priority, reason, message,"       \
    " result, stream, batch, removal"

/* Of an ended row `e`. */
#define LOG_END                                                                                    \
    "SELECT e.job, CASE e.outcome WHEN 1 THEN 'successful' WHEN 2 THEN 'deleted' ELSE 'cancelled'" \
    " END AS outcome, e.at, e.executor, e.started, e.attempt, e.retries, e.due, e.priority,"       \
    " NULL AS reason, e.message, e.result, e.stream, e.batch, e.removal, 3 AS rank, e.seq AS "     \
    "place"                                                                                        \
    " FROM "

/* A creation, of a row named `r` and the job's first failure `a`, whose values are older. */
#define LOG_BIRTH(id)                                                                              \
    "SELECT " id " AS job, 'created' AS outcome, r.created AS at, NULL AS executor,"               \
    " NULL AS started, 1 AS attempt, coalesce(a.retries, r.retries) AS retries,"                   \
    " CASE WHEN a.job IS NULL THEN r.due ELSE a.due END AS due,"                                   \
    " coalesce(a.priority, r.priority) AS priority, NULL AS reason, NULL AS message,"              \
    " NULL AS result, r.stream, r.batch, NULL AS removal, 1 AS rank, " id " AS place FROM "

#define LOG_FIRST(id) " LEFT JOIN attempt a ON a.job=" id " AND a.n=1"

enum log_arm {
    ARM_ENDED,       /* all of them */
    ARM_ENDED_FILED, /* those that ended_by_job knows … */
    ARM_ENDED_TAIL,  /* … and those it does not know yet */
    ARM_FAILED,
    ARM_CREATED,       /* of jobs that are there */
    ARM_CREATED_FILED, /* of jobs that have ended, as above */
    ARM_CREATED_TAIL,
    ARMS
};

/* To the tails belongs a parameter: the last seq that is filed. */
static const char *const log_arms[ARMS] = {
    [ARM_ENDED] = LOG_END "ended e",
    [ARM_ENDED_FILED] = LOG_END "ended_by_job b JOIN ended e ON e.seq=b.seq AND e.job=b.job",
    [ARM_ENDED_TAIL] = LOG_END "ended e WHERE e.seq>",
    [ARM_FAILED] =
        "SELECT job, 'failed' AS outcome, at, executor, started, n AS attempt, retries, due,"
        " priority, reason, message, NULL AS result, stream, batch, NULL AS removal, 2 AS rank, n "
        "AS place"
        " FROM attempt",
    [ARM_CREATED] = LOG_BIRTH("r.id") "live r" LOG_FIRST("r.id"),
    [ARM_CREATED_FILED] = LOG_BIRTH("b.job") "ended_by_job b JOIN ended r ON r.seq=b.seq" LOG_FIRST(
        "b.job") " WHERE r.created IS NOT NULL",
    [ARM_CREATED_TAIL] =
        LOG_BIRTH("r.job") "ended r" LOG_FIRST("r.job") " WHERE r.created IS NOT NULL AND r.seq>",
};

struct log_question {
    const json_t *filters;
    struct store_page page; /* limit and offset are those of the whole */
    bool by_job;            /* asked for certain jobs, or in their order */
    bool sort_job;
    int64_t filed;
};

/* ---- which arms ---- */

static bool log_wants(const struct log_question *question, const char *outcome) {
    const json_t *wanted = json_object_get(question->filters, "outcome");
    size_t index = 0;
    json_t *one = NULL;
    if (!json_is_array(wanted))
        return !json_is_string(wanted) || strcmp(json_string_value(wanted), outcome) == 0;
    json_array_foreach(wanted, index, one) {
        if (json_is_string(one) && strcmp(json_string_value(one), outcome) == 0)
            return true;
    }
    return false;
}

static bool log_has(const struct store *store, const struct log_question *question,
                    enum log_arm arm) {
    bool full = store->settings->history == HISTORY_FULL;
    if (arm >= ARM_CREATED)
        return full && log_wants(question, "created");
    if (arm == ARM_FAILED)
        return log_wants(question, "failed");
    return (arm == ARM_ENDED) != question->by_job &&
           (log_wants(question, "successful") || log_wants(question, "deleted") ||
            log_wants(question, "cancelled"));
}

/* ---- from a question to SQL ---- */

static bool filter_outcome(struct query *query, const struct filter *filter, const json_t *value,
                           struct error *error) {
    static const char *const names[] = {"created", "successful", "failed", "deleted", "cancelled"};
    size_t count = json_is_array(value) ? json_array_size(value) : 1;
    for (size_t i = 0; i < count; i++) {
        const char *name =
            json_string_value(json_is_array(value) ? json_array_get(value, i) : value);
        size_t at = 0;
        while (name && at < 5 && strcmp(names[at], name) != 0)
            at++;
        if (!name || at == 5)
            return error_set(error, ERROR_INVALID,
                             "filter \"outcome\": \"%s\" (expected created, successful, failed, "
                             "deleted or cancelled)",
                             name ? name : "?");
    }
    return filter_texts(query, filter, value, error);
}

#define LOG_STREAM                                                                                 \
    "g.stream IN (SELECT s.id FROM stream s JOIN definition d ON d.id=s.definition WHERE "

static const struct filter log_filters[] = {
    {"job", filter_numbers, "g.job", NULL},
    {"handler", filter_texts, LOG_STREAM "d.name", ")"},
    {"definition", filter_numbers, LOG_STREAM "d.id", ")"},
    {"batch", filter_numbers, "g.batch", NULL},
    {"outcome", filter_outcome, "g.outcome", NULL},
    {"after", filter_time, "g.at>=", NULL},
    {"before", filter_time, "g.at<", NULL},
    {NULL, NULL, NULL, NULL},
};

static const char *const log_sorts[] = {"at", "edge", "job", "job", NULL};

/* The arm's own order: by its key where it can be, else by what makes it the same. */
static void log_order(struct query *query, const struct log_question *question, enum log_arm arm) {
    const char *way = question->page.descending ? " DESC" : "";
    if (question->sort_job)
        text_add(&query->sql, " ORDER BY g.job%s, g.place%s", way, way);
    else if (arm == ARM_FAILED)
        text_add(&query->sql, " ORDER BY g.at%s, g.job%s, g.place%s", way, way, way);
    else
        text_add(&query->sql, " ORDER BY g.place%s", way);
    text_add(&query->sql, " LIMIT %lld", (long long)(question->page.offset + question->page.limit));
}

/* Numbered in their order: the numbers stand for it further out. */
static bool log_add_arm(struct query *query, const struct log_question *question, enum log_arm arm,
                        struct error *error) {
    text_add(&query->sql,
             "SELECT *, %s(at) OVER (ORDER BY nth) AS edge FROM (SELECT " LOG_COLUMNS
             ", rank, row_number() OVER () AS nth FROM (SELECT * FROM (",
             question->page.descending ? "min" : "max");
    query_add(query, log_arms[arm]);
    if (arm == ARM_ENDED_TAIL || arm == ARM_CREATED_TAIL)
        query_bind_new(query, json_integer(question->filed));
    query_add(query, ") g");
    if (!query_where(query, question->filters, log_filters, error))
        return false;
    log_order(query, question, arm);
    query_add(query, "))");
    return true;
}

static void log_page(struct query *query, const struct log_question *question) {
    const char *way = question->page.descending ? " DESC" : "";
    text_add(&query->sql, " ORDER BY %s%s%s, rank%s, nth", question->sort_job ? "job" : "edge", way,
             question->sort_job ? (*way ? ", edge DESC" : ", edge") : "", way);
}

/* Names and lines are looked up for what is left. A creation is no run: it said nothing. */
#define LOG_NAMED                                                                                  \
    "SELECT g.*, d.id, d.name, s.deployment, e.name, (SELECT json_group_array(text) FROM"          \
    " (SELECT text FROM line WHERE job=g.job AND n=g.attempt AND g.outcome<>'created'"             \
    " ORDER BY seq)) FROM (SELECT " LOG_COLUMNS ", rank, nth, edge FROM ("
#define LOG_NAMES                                                                                  \
    ") g LEFT JOIN stream s ON s.id=g.stream LEFT JOIN definition d ON d.id=s.definition"          \
    " LEFT JOIN executor e ON e.id=g.executor"

static bool log_build(struct store *store, struct query *query, const struct log_question *question,
                      struct error *error) {
    const char *joint = "";
    query_add(query, LOG_NAMED);
    for (int arm = 0; arm < ARMS; arm++) {
        if (!log_has(store, question, (enum log_arm)arm))
            continue;
        query_add(query, joint);
        if (!log_add_arm(query, question, (enum log_arm)arm, error))
            return false;
        joint = " UNION ALL ";
    }
    query_add(query, ")");
    log_page(query, question);
    text_add(&query->sql, " LIMIT %d OFFSET %lld", question->page.limit,
             (long long)question->page.offset);
    query_add(query, LOG_NAMES);
    log_page(query, question);
    return true;
}

/* ---- from a row to an entry ---- */

static json_t *log_executor(sqlite3_stmt *row) {
    const char *name = db_column_text(row, 21);
    if (sqlite3_column_type(row, 3) == SQLITE_NULL)
        return NULL;
    return json_sprintf("%s/%lld", name ? name : "?", (long long)sqlite3_column_int64(row, 3));
}

static json_t *log_duration(sqlite3_stmt *row) {
    time_ms started = db_column_time(row, 4);
    return started == TIME_NONE
               ? NULL
               : json_real((double)(sqlite3_column_int64(row, 2) - started) / 1000);
}

static const char *log_reason(sqlite3_stmt *row) {
    int reason = sqlite3_column_int(row, 9);
    if (sqlite3_column_type(row, 9) == SQLITE_NULL || reason < 0 || reason > REASON_WORKER_DIED)
        return NULL;
    return failure_reason_name((enum failure_reason)reason);
}

/* What the handler returned, as JSON. */
static json_t *log_result(sqlite3_stmt *row) {
    const char *text = db_column_text(row, 11);
    return text ? json_read(text, strlen(text), "result", NULL) : NULL;
}

/* NULL where the run said nothing. */
static json_t *log_lines(sqlite3_stmt *row) {
    const char *text = db_column_text(row, 22);
    json_t *lines = text ? json_read(text, strlen(text), "lines", NULL) : NULL;
    if (json_array_size(lines) > 0)
        return lines;
    json_decref(lines);
    return NULL;
}

/* Of an end: when it goes, as far as that is known. */
static bool log_put_removal(const struct store *store, json_t *object, sqlite3_stmt *row) {
    time_ms removal = db_column_time(row, 14), ttl = store->settings->history_ttl;
    if (sqlite3_column_int(row, 15) != 3)
        return true;
    if (removal == TIME_NEVER)
        return json_put_text(object, "removal_time", "never");
    if (removal == TIME_NONE && ttl)
        removal = sqlite3_column_int64(row, 2) + ttl;
    return json_put_time(object, "removal_time", removal);
}

static json_t *log_read(struct store *store, sqlite3_stmt *row, struct error *error) {
    json_t *object = json_object();
    bool done =
        json_put(object, "job", query_column(row, 0)) &&
        json_put(object, "outcome", query_column(row, 1)) && query_put_time(object, "at", row, 2) &&
        json_put(object, "executor", log_executor(row)) &&
        query_put_time(object, "started", row, 4) &&
        json_put(object, "duration", log_duration(row)) &&
        json_put(object, "attempt", query_column(row, 5)) &&
        json_put(object, "retries", query_column(row, 6)) &&
        query_put_time(object, "due", row, 7) &&
        json_put(object, "priority", query_column(row, 8)) &&
        json_put_text(object, "reason", log_reason(row)) &&
        json_put(object, "message", query_column(row, 10)) &&
        json_put(object, "result", log_result(row)) && json_put(object, "lines", log_lines(row)) &&
        json_put(object, "batch", query_column(row, 13)) &&
        json_put(object, "definition", query_column(row, 18)) &&
        json_put(object, "handler", query_column(row, 19)) &&
        json_put(object, "deployment",
                 sqlite3_column_int64(row, 20) ? query_column(row, 20) : NULL) &&
        log_put_removal(store, object, row);
    if (done)
        return object;
    json_decref(object);
    error_set(error, ERROR_FAILED, "store \"%s\": out of memory", store->db.name);
    return NULL;
}

/* ---- the question ---- */

static bool log_read_question(struct store *store, struct log_question *question,
                              const struct store_page *page, struct error *error) {
    static const struct store_page all = {.limit = 10000};
    struct query check = {0};
    question->page = page ? *page : all;
    if (!question->page.sort)
        question->page.descending = true;
    question->sort_job = question->page.sort && strcmp(question->page.sort, "job") == 0;
    question->by_job = question->sort_job || json_object_get(question->filters, "job");
    bool fine = query_where(&check, question->filters, log_filters, error) &&
                query_page(&check, &question->page, log_sorts, error);
    query_clear(&check);
    return fine && history_filed(store, &question->filed, error);
}

/* In one state of the store: what is filed by job, and what is not yet, must fit. */
static json_t *log_ask(struct store *store, const json_t *filters, const struct store_page *page,
                       struct error *error) {
    struct log_question question = {.filters = filters};
    struct query query = {0};
    json_t *rows = NULL;
    bool any = false;
    if (!log_read_question(store, &question, page, error))
        return NULL;
    for (int arm = 0; arm < ARMS; arm++)
        any = any || log_has(store, &question, (enum log_arm)arm);
    if (!any)
        return json_array();
    if (log_build(store, &query, &question, error))
        rows = query_rows(&query, store, "the log", log_read, error);
    query_clear(&query);
    return rows;
}

json_t *store_log(struct store *store, const json_t *filters, const struct store_page *page,
                  struct error *error) {
    bool own = false;
    if (!look_begin(store, &own, error))
        return NULL;
    json_t *rows = log_ask(store, filters, page, error);
    look_end(store, own);
    return rows;
}

/* ---- what a verb means ---- */

static json_t *step_row(struct store *store, sqlite3_stmt *row, struct error *error) {
    (void)store, (void)error;
    return json_pack("[I, I]", (json_int_t)sqlite3_column_int64(row, 0),
                     (json_int_t)sqlite3_column_int64(row, 1));
}

static json_t *step_rows(struct store *store, const struct step *step, const struct order *order,
                         struct error *error) {
    struct query query = {0};
    json_t *rows = NULL;
    query_add(&query, "SELECT g.job, g.place FROM (" LOG_END "ended e) g");
    if (query_where(&query, order->query, log_filters, error)) {
        query_add(&query, json_object_size(order->query) ? " AND g.place>" : " WHERE g.place>");
        query_bind_new(&query, json_integer(order->after));
        query_add(&query, " AND g.place<=");
        query_bind_new(&query, json_integer(step_end(step, order)));
        text_add(&query.sql, " ORDER BY g.place LIMIT %d", VERB_IDS + 1);
        rows = query_rows(&query, store, "ended jobs", step_row, error);
    }
    query_clear(&query);
    return rows;
}

static int64_t step_number(const json_t *rows, size_t row, size_t column) {
    return json_integer_value(json_array_get(json_array_get(rows, row), column));
}

bool joblog_step(struct store *store, struct step *step, struct order *order, struct error *error) {
    json_t *rows = step_rows(store, step, order, error);
    int64_t end = step_end(step, order);
    size_t count = json_array_size(rows);
    if (!rows)
        return false;
    if (count > VERB_IDS) {
        count = VERB_IDS;
        end = step_number(rows, count - 1, 1);
    }
    step->ids = (struct ids){step->list, count};
    for (size_t i = 0; i < count; i++)
        step->list[i] = step_number(rows, i, 0);
    order->after = end;
    step->more = end < order->upto;
    json_decref(rows);
    return true;
}

static json_t *count_row(struct store *store, sqlite3_stmt *row, struct error *error) {
    (void)store, (void)error;
    return json_integer(sqlite3_column_int64(row, 0));
}

bool joblog_count(struct store *store, const struct order *order, int64_t *count,
                  struct error *error) {
    struct query query = {0};
    json_t *rows = NULL;
    query_add(&query, "SELECT count(*) FROM (" LOG_END "ended e) g");
    if (query_where(&query, order->query, log_filters, error))
        rows = query_rows(&query, store, "ended jobs", count_row, error);
    query_clear(&query);
    *count = json_integer_value(json_array_get(rows, 0));
    json_decref(rows);
    return rows != NULL;
}
