/* joblog.c - the job log (rules §16): what is told of jobs, newest first. Nobody writes it as such:
 * `ended` has successes and deletions, `attempt` failures; a creation is read from the job's row,
 * or from what its end has kept of it.
 *
 * Each of these arms has an order of its own that grows with time, and gives no more rows than the
 * page needs, so that a page costs its own length and not the store's. Where a clock was set back
 * the order of writing counts: `edge` is the time of an entry as far as its arm has come. */
#include "store/rules/ask/joblog.h"
#include "base/json.h"
#include "store/rules/ask/entry.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"
#include "store/rules/record/history.h"
#include <stdlib.h>
#include <string.h>

#define LOG_COLUMNS                                                                                \
    "job, outcome, at, executor, started, attempt, retries, due, priority, reason, message,"       \
    " result, stream, batch, removal, " BELONGS

/* A creation, of a row named `r` and the job's first failure `a`, whose values are older. */
#define LOG_BIRTH(id, root)                                                                        \
    "SELECT " id " AS job, 'created' AS outcome, r.created AS at, " LOG_NONE " AS executor,"       \
    " " LOG_NONE " AS started, 1 AS attempt, coalesce(a.retries, r.retries) AS retries,"           \
    " CASE WHEN a.job IS NULL THEN r.due ELSE a.due END AS due,"                                   \
    " coalesce(a.priority, r.priority) AS priority, " LOG_NONE " AS reason, NULL AS message,"      \
    " NULL AS result, r.stream, r.batch, " LOG_NONE " AS removal, r.instance, r." root             \
    " AS root_instance, r.activity, r.tenant, r.lane_key, r.schedule, 1 AS rank, " id              \
    " AS place FROM "

#define LOG_FIRST(id) " LEFT JOIN attempt a ON a.job=" id " AND a.n=1"

/* To the tails belongs a parameter: the last seq that is filed. */
static const char *const log_arms[ARMS] = {
    [ARM_ENDED] = LOG_END "ended e",
    [ARM_ENDED_FILED] = LOG_END "ended_by_job b JOIN ended e ON e.seq=b.seq AND e.job=b.job",
    [ARM_ENDED_TAIL] = LOG_END "ended e WHERE e.seq>",
    [ARM_FAILED] =
        "SELECT job, 'failed' AS outcome, at, executor, started, n AS attempt, retries, due,"
        " priority, reason, message, NULL AS result, stream, batch, " LOG_NONE
        " AS removal, " BELONGS ", 2 AS rank, n AS place"
        " FROM attempt",
    [ARM_SNOOZED] =
        "SELECT job, 'snoozed' AS outcome, at, executor, started, n AS attempt, retries,"
        " until AS due, priority, " LOG_NONE " AS reason, message, NULL AS result, stream, batch,"
        " " LOG_NONE " AS removal, " BELONGS ", 2 AS rank, seq AS place FROM snooze",
    [ARM_CREATED] = LOG_BIRTH("r.id", "root") "live r" LOG_FIRST("r.id"),
    [ARM_CREATED_FILED] =
        LOG_BIRTH("b.job", "root_instance") "ended_by_job b JOIN ended r ON r.seq=b.seq" LOG_FIRST(
            "b.job") " WHERE r.created IS NOT NULL",
    [ARM_CREATED_TAIL] = LOG_BIRTH("r.job", "root_instance") "ended r" LOG_FIRST(
        "r.job") " WHERE r.created IS NOT NULL AND r.seq>",
};

/* What is filed of certain instances. */
#define LOG_INSTANCE_ENDED                                                                         \
    LOG_END "ended_by_instance b JOIN ended e ON e.seq=b.seq AND e.instance=b.instance"
#define LOG_INSTANCE_CREATED                                                                       \
    LOG_BIRTH("r.job", "root_instance")                                                            \
    "ended_by_instance b JOIN ended r ON r.seq=b.seq AND r.instance=b.instance" LOG_FIRST(         \
        "r.job") " WHERE r.created IS NOT NULL"

/* How far a walk has come in an arm: its last entry. */
struct log_reached {
    int64_t nth; /* its number in the arm; 0: none yet */
    int64_t edge, at, job, place;
};

struct log_question {
    const json_t *filters;
    struct store_page page; /* limit and offset are those of the whole */
    bool by_job;            /* asked for certain jobs, or in their order */
    bool by_instance;       /* asked for certain instances, and no jobs */
    bool sort_job;
    int64_t filed;                    /* the last seq that is; of a walk: when it began */
    const struct joblog_tail *tail;   /* only what is new since then; NULL: all */
    bool walks;                       /* a page of a walk: the entries behind these: */
    struct log_reached reached[ARMS]; /* of each arm */
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
    bool full = store->rules->history == HISTORY_FULL;
    if (question->tail && arm == ARM_CREATED_FILED)
        return false;
    if (arm >= ARM_CREATED)
        return full && log_wants(question, "created");
    if (arm == ARM_FAILED)
        return log_wants(question, "failed");
    if (arm == ARM_SNOOZED)
        return log_wants(question, "snoozed");
    return (arm == ARM_ENDED) != (question->by_job || question->by_instance) &&
           (log_wants(question, "successful") || log_wants(question, "deleted") ||
            log_wants(question, "cancelled") || log_wants(question, "skipped"));
}

static bool log_any(const struct store *store, const struct log_question *question) {
    for (int arm = 0; arm < ARMS; arm++)
        if (log_has(store, question, (enum log_arm)arm))
            return true;
    return false;
}

/* ---- from a question to SQL ---- */

/* The arm's own order: by its key where it can be, else by what makes it the same. */
static void log_order(struct query *query, const struct log_question *question, enum log_arm arm) {
    const char *way = question->page.descending ? " DESC" : "";
    if (question->sort_job)
        text_add(&query->sql, " ORDER BY g.job%s, g.place%s", way, way);
    else if (arm == ARM_FAILED || arm == ARM_SNOOZED)
        text_add(&query->sql, " ORDER BY g.at%s, g.job%s, g.place%s", way, way, way);
    else
        text_add(&query->sql, " ORDER BY g.place%s", way);
    text_add(&query->sql, " LIMIT %lld", (long long)(question->page.offset + question->page.limit));
}

static void log_tail(struct query *query, const struct log_question *question, enum log_arm arm) {
    const struct joblog_tail *tail = question->tail;
    const char *joint = json_object_size(question->filters) ? "AND" : "WHERE";
    if (arm == ARM_ENDED)
        text_add(&query->sql, " %s g.place>%lld AND g.place<=%lld", joint, (long long)tail->seq,
                 (long long)tail->upto);
    else if (arm == ARM_FAILED || arm == ARM_SNOOZED)
        text_add(&query->sql, " %s g.at>=%lld", joint, (long long)tail->failed);
    else
        text_add(&query->sql, " %s g.place>%lld", joint, (long long)tail->id);
}

/* Only what stands behind the entry that the walk has reached. */
static void log_go_on(struct query *query, const struct log_question *question, enum log_arm arm) {
    const struct log_reached *reached = &question->reached[arm];
    const char *joint = json_object_size(question->filters) ? "AND" : "WHERE";
    const char *than = question->page.descending ? "<" : ">";
    if (question->tail)
        log_tail(query, question, arm);
    if (!reached->nth)
        return;
    if (question->sort_job)
        text_add(&query->sql, " %s (g.job, g.place)%s(%lld, %lld)", joint, than,
                 (long long)reached->job, (long long)reached->place);
    else if (arm == ARM_FAILED || arm == ARM_SNOOZED)
        text_add(&query->sql, " %s (g.at, g.job, g.place)%s(%lld, %lld, %lld)", joint, than,
                 (long long)reached->at, (long long)reached->job, (long long)reached->place);
    else
        text_add(&query->sql, " %s g.place%s%lld", joint, than, (long long)reached->place);
}

/* How far the arm has come in time. */
static void log_edge(struct query *query, const struct log_question *question, enum log_arm arm) {
    const struct log_reached *reached = &question->reached[arm];
    const char *most = question->page.descending ? "min" : "max";
    text_add(&query->sql, "SELECT *, ");
    if (reached->nth)
        text_add(&query->sql, "CASE WHEN %s(at) OVER (ORDER BY nth)%s%lld THEN %lld ELSE ", most,
                 question->page.descending ? ">" : "<", (long long)reached->edge,
                 (long long)reached->edge);
    text_add(&query->sql, "%s(at) OVER (ORDER BY nth)%s", most, reached->nth ? " END" : "");
    text_add(&query->sql, " AS edge");
}

/* What is filed while a walk goes on was in a tail as it began. */
static void log_bound(struct query *query, const struct log_question *question, enum log_arm arm) {
    if (arm == ARM_ENDED_TAIL || arm == ARM_CREATED_TAIL)
        query_bind_new(query, json_integer(question->filed));
    if (question->tail && arm == ARM_CREATED_TAIL)
        text_add(&query->sql, " AND r.seq<=%lld", (long long)question->tail->upto);
    else if (question->walks && (arm == ARM_ENDED_FILED || arm == ARM_CREATED_FILED))
        text_add(&query->sql, " %s b.seq<=%lld", arm == ARM_ENDED_FILED ? "WHERE" : "AND",
                 (long long)question->filed);
}

static const char *log_arm_text(const struct log_question *question, enum log_arm arm) {
    if (question->by_instance && arm == ARM_ENDED_FILED)
        return LOG_INSTANCE_ENDED;
    if (question->by_instance && arm == ARM_CREATED_FILED)
        return LOG_INSTANCE_CREATED;
    return log_arms[arm];
}

/* Numbered in their order: the numbers stand for it further out. */
static bool log_add_arm(struct query *query, const struct log_question *question, enum log_arm arm,
                        struct error *error) {
    log_edge(query, question, arm);
    text_add(&query->sql,
             " FROM (SELECT " LOG_COLUMNS
             ", rank, row_number() OVER () + %lld AS nth, %d AS arm, place FROM (SELECT * FROM (",
             (long long)question->reached[arm].nth, (int)arm);
    query_add(query, log_arm_text(question, arm));
    log_bound(query, question, arm);
    query_add(query, ") g");
    if (!query_where(query, question->filters, &log_table, error))
        return false;
    log_go_on(query, question, arm);
    log_order(query, question, arm);
    query_add(query, ") AS s) AS n");
    return true;
}

static void log_page(struct query *query, const struct log_question *question) {
    const char *way = question->page.descending ? " DESC" : "";
    text_add(&query->sql, " ORDER BY %s%s", question->sort_job ? "job" : "edge", way);
    if (question->sort_job)
        text_add(&query->sql, ", edge%s", way);
    text_add(&query->sql, ", rank%s, nth", way);
}

/* Names and lines are looked up for what is left. A creation is no run: it said nothing. */
#define LOG_NAMED                                                                                  \
    "SELECT g.*, d.id, d.name, s.deployment, nullif(s.category, ''), e.name, (SELECT "             \
    "json_group_array(lines) FROM"                                                                 \
    " (SELECT lines FROM line WHERE job=g.job AND n=g.attempt AND g.outcome NOT IN ('created', "   \
    "'snoozed')"                                                                                   \
    " ORDER BY seq) AS s) FROM (SELECT " LOG_COLUMNS ", rank, nth, edge, arm, place FROM ("
#define LOG_NAMES                                                                                  \
    ") g LEFT JOIN stream s ON s.id=g.stream LEFT JOIN definition d ON d.id=s.definition"          \
    " LEFT JOIN executor e ON e.id=g.executor"

static bool log_add_arms(struct store *store, struct query *query,
                         const struct log_question *question, struct error *error) {
    const char *joint = "";
    for (int arm = 0; arm < ARMS; arm++) {
        if (!log_has(store, question, (enum log_arm)arm))
            continue;
        query_add(query, joint);
        if (!log_add_arm(query, question, (enum log_arm)arm, error))
            return false;
        joint = " UNION ALL ";
    }
    return true;
}

static bool log_build(struct store *store, struct query *query, const struct log_question *question,
                      struct error *error) {
    query_add(query, LOG_NAMED);
    if (!log_add_arms(store, query, question, error))
        return false;
    query_add(query, ") AS a");
    log_page(query, question);
    text_add(&query->sql, " LIMIT %d OFFSET %lld",
             question->tail ? ARMS * question->page.limit : question->page.limit,
             (long long)question->page.offset);
    query_add(query, LOG_NAMES);
    log_page(query, question);
    return true;
}

/* ---- a walk: pages by key ---- */

#define LOG_KEY JOBLOG_KEY

/* [arm, nth, edge, at, job, place] of an entry. */
static json_t *log_key(struct row *row) {
    return json_pack("[I, I, I, I, I, I]", (json_int_t)row_int(row, ENTRY_ARM),
                     (json_int_t)row_int(row, ENTRY_NTH), (json_int_t)row_int(row, ENTRY_EDGE),
                     (json_int_t)row_int(row, 2), (json_int_t)row_int(row, 0),
                     (json_int_t)row_int(row, ENTRY_PLACE));
}

static json_t *log_read_walked(struct store *store, struct row *row, struct error *error) {
    json_t *object = entry_read(store, row, error), *key = object ? log_key(row) : NULL;
    if (!object || (key && json_object_set_new(object, LOG_KEY, key) == 0))
        return object;
    json_decref(object);
    return error_null(db_no_memory(&store->db, error));
}

static bool log_reach(struct log_question *question, const json_t *key) {
    int64_t numbers[6];
    bool fine = json_array_size(key) == 6;
    for (size_t i = 0; fine && i < 6; i++) {
        fine = json_is_integer(json_array_get(key, i));
        numbers[i] = json_integer_value(json_array_get(key, i));
    }
    if (!fine || numbers[0] < 0 || numbers[0] >= ARMS)
        return false;
    question->reached[numbers[0]] =
        (struct log_reached){numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
    return true;
}

/* { filed, arms = [keys] } */
static bool log_walk_on(struct log_question *question, const json_t *key, struct error *error) {
    const json_t *filed = json_object_get(key, "filed"), *arms = json_object_get(key, "arms"), *arm;
    size_t i;
    question->walks = true;
    if (!key)
        return true;
    bool fine = json_is_integer(filed) && json_is_array(arms);
    question->filed = json_integer_value(filed);
    json_array_foreach(arms, i, arm)
        fine = fine && log_reach(question, arm);
    return fine || error_set(error, ERROR_INVALID, "key: not one of a page of the log");
}

#define LOG_STEP 10000 /* entries that are skipped at once */

/* The last entry of each arm among the next ones, and how many those are. */
static bool log_build_skip(struct store *store, struct query *query,
                           const struct log_question *question, struct error *error) {
    query_add(query, "SELECT arm, max(nth), edge, at, job, place, count(*) FROM"
                     " (SELECT arm, nth, edge, at, job, place FROM (");
    if (!log_add_arms(store, query, question, error))
        return false;
    query_add(query, ")");
    log_page(query, question);
    text_add(&query->sql, " LIMIT %d) GROUP BY arm", question->page.limit);
    return true;
}

static json_t *log_read_skipped(struct store *store, struct row *row, struct error *error) {
    json_t *key = json_array();
    for (int column = 0; key && column < 7; column++)
        json_array_append_new(key, json_integer(row_int(row, column)));
    if (!key)
        db_no_memory(&store->db, error);
    return key;
}

/* Goes on by so many entries at most; *count of them. */
static bool log_skip(struct store *store, struct log_question *question, int64_t *count,
                     struct error *error) {
    struct log_question step = *question;
    struct query query = {0};
    json_t *rows = NULL, *row;
    size_t i;
    step.page.limit = (int)*count;
    step.page.offset = *count = 0;
    if (log_build_skip(store, &query, &step, error))
        rows = query_rows(&query, store, "the log", log_read_skipped, error);
    query_clear(&query);
    json_array_foreach(rows, i, row) {
        *count += json_integer_value(json_array_get(row, 6));
        json_array_remove(row, 6);
        log_reach(question, row);
    }
    json_decref(rows);
    return rows != NULL;
}

/* A page far out is reached in steps. */
static bool log_skip_all(struct store *store, struct log_question *question, struct error *error) {
    int64_t count = LOG_STEP;
    bool fine = true;
    while (fine && count == LOG_STEP && question->page.offset > LOG_STEP) {
        fine = log_skip(store, question, &count, error);
        question->page.offset -= LOG_STEP;
    }
    return fine;
}

/* Where the next page begins; the entries lose their keys. NULL: no memory. */
static json_t *log_walked(struct log_question *question, json_t *rows) {
    size_t i;
    json_t *row, *arms = json_array();
    json_array_foreach(rows, i, row) {
        log_reach(question, json_object_get(row, LOG_KEY));
        json_object_del(row, LOG_KEY);
    }
    for (int arm = 0; arms && arm < ARMS; arm++) {
        const struct log_reached *reached = &question->reached[arm];
        if (reached->nth)
            json_array_append_new(arms,
                                  json_pack("[i, I, I, I, I, I]", arm, (json_int_t)reached->nth,
                                            (json_int_t)reached->edge, (json_int_t)reached->at,
                                            (json_int_t)reached->job, (json_int_t)reached->place));
    }
    return arms ? json_pack("{sI so}", "filed", (json_int_t)question->filed, "arms", arms) : NULL;
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
    bool jobs = json_object_get(question->filters, "job") != NULL;
    const json_t *instance = json_object_get(question->filters, "instance");
    question->by_instance = !jobs && instance && !json_is_null(instance);
    question->by_job = jobs || (question->sort_job && !question->by_instance);
    bool fine = query_where(&check, question->filters, &log_table, error) &&
                query_page(&check, &question->page, &log_table, error);
    query_clear(&check);
    return fine && history_filed(store, &question->filed, error);
}

/* In one state of the store: what is filed by job, and what is not yet, must fit. */
static json_t *log_ask(struct store *store, const struct log_question *question,
                       struct error *error) {
    struct query query = {0};
    json_t *rows = NULL;
    if (!log_any(store, question))
        return json_array();
    if (log_build(store, &query, question, error))
        rows = query_rows(&query, store, "the log", question->walks ? log_read_walked : entry_read,
                          error);
    query_clear(&query);
    return rows;
}

/* In one state of the store. *far: the page is too deep for that, nothing was asked yet. */
static json_t *log_near(struct store *store, struct log_question *question,
                        const struct store_page *page, bool *far, struct error *error) {
    bool own = false;
    json_t *rows = NULL;
    if (!look_begin(store, &own, error))
        return NULL;
    bool read = log_read_question(store, question, page, error);
    *far = read && question->page.offset > LOG_STEP;
    if (read && !*far)
        rows = log_ask(store, question, error);
    look_end(store, own);
    return rows;
}

json_t *store_log(struct store *store, const json_t *filters, const struct store_page *page,
                  struct error *error) {
    struct log_question question = {.filters = filters};
    bool far = false;
    json_t *rows = log_near(store, &question, page, &far, error);
    if (!far)
        return rows;
    question.walks = true; /* each step is a question of its own */
    if (log_any(store, &question) && !log_skip_all(store, &question, error))
        return NULL;
    rows = log_ask(store, &question, error);
    json_decref(rows ? log_walked(&question, rows) : NULL);
    return rows;
}

/* The rows, and instead of *key the one of the next page. */
static json_t *walk_page(struct store *store, const struct question *asked, json_t **key,
                         struct error *error) {
    bool own = false;
    if (!look_begin(store, &own, error))
        return NULL;
    struct log_question question = {.filters = asked->filters};
    json_t *rows = NULL;
    if (log_read_question(store, &question, &asked->page, error) &&
        log_walk_on(&question, *key, error))
        rows = log_ask(store, &question, error);
    json_t *next = rows ? log_walked(&question, rows) : NULL;
    look_end(store, own);
    json_decref(*key);
    *key = next;
    return rows;
}

json_t *ask_walk(struct store *store, const struct question *question, struct error *error) {
    const char *text = json_string_value(json_object_get(question->object, "key"));
    json_t *key = text ? json_read(text, strlen(text), "key", error) : NULL;
    if (text && !key)
        return NULL;
    json_t *rows = walk_page(store, question, &key, error);
    char *next = key ? json_write(key, NULL) : NULL;
    json_t *answer = next ? json_pack("{sO,ss}", "rows", rows, "key", next) : NULL;
    if (rows && !answer)
        db_no_memory(&store->db, error);
    free(next);
    json_decref(rows);
    json_decref(key);
    return answer;
}

json_t *joblog_since(struct store *store, const json_t *filters, const struct joblog_tail *tail,
                     struct error *error) {
    struct log_question question = {
        .filters = filters,
        .page = {.sort = "at", .limit = JOBLOG_TAIL},
        .filed = tail->seq,
        .tail = tail,
        .walks = true,
    };
    return log_ask(store, &question, error);
}
