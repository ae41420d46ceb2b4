/* ask.c - the one table of what can be asked, and the one way in for every question (rules §11). */
#include "store/rules/ask/ask.h"
#include "base/json.h"
#include "store/batch.h"
#include "store/rules/ask/query.h"
#include <stdlib.h>
#include <string.h>

/* A question taken apart. Any part may be absent. */
struct question {
    const json_t *object, *filters;
    struct store_page page;
    int64_t id;
    const char *name;
    time_ms now;
};

typedef json_t *ask_answer(struct store *store, const struct question *question,
                           struct error *error);

static bool is_true(const struct question *question, const char *key) {
    return json_is_true(json_object_get(question->object, key));
}

static json_t *jobs(struct store *store, const struct question *question, struct error *error) {
    return store_jobs(store, question->filters, &question->page, question->now, error);
}

static json_t *definitions(struct store *store, const struct question *question,
                           struct error *error) {
    return store_definitions(store, question->filters, &question->page, question->now, error);
}

static json_t *incidents(struct store *store, const struct question *question,
                         struct error *error) {
    return store_incidents(store, question->filters, &question->page, error);
}

static json_t *entries(struct store *store, const struct question *question, struct error *error) {
    return store_log(store, question->filters, &question->page, error);
}

static json_t *operations(struct store *store, const struct question *question,
                          struct error *error) {
    return store_operations(store, question->filters, &question->page, error);
}

static json_t *batches(struct store *store, const struct question *question, struct error *error) {
    return store_batches(store, question->filters, &question->page, error);
}

static json_t *instances(struct store *store, const struct question *question,
                         struct error *error) {
    return store_suspended_instances(store, question->filters, &question->page, error);
}

static json_t *schedules(struct store *store, const struct question *question,
                         struct error *error) {
    return store_schedules(store, question->name, error);
}

static json_t *dates(struct store *store, const struct question *question, struct error *error) {
    int64_t count = json_integer_value(json_object_get(question->object, "count"));
    return store_schedule_dates(store, question->name, (int)count, error);
}

static json_t *deployments(struct store *store, const struct question *question,
                           struct error *error) {
    (void)question;
    return store_deployments(store, error);
}

static json_t *executors(struct store *store, const struct question *question,
                         struct error *error) {
    return store_executors(store, is_true(question, "all"), question->now, error);
}

static json_t *unserved(struct store *store, const struct question *question, struct error *error) {
    return store_unserved(store, question->now, error);
}

static json_t *count(struct store *store, const struct question *question, struct error *error) {
    int64_t number = 0;
    return store_jobs_count(store, question->filters, question->now, &number, error)
               ? json_integer(number)
               : NULL;
}

static json_t *job(struct store *store, const struct question *question, struct error *error) {
    return store_job(store, question->id, question->now, error);
}

static json_t *batch(struct store *store, const struct question *question, struct error *error) {
    return store_batch(store, question->id, error);
}

static json_t *why(struct store *store, const struct question *question, struct error *error) {
    return store_why(store, question->id, question->now, error);
}

static json_t *stats(struct store *store, const struct question *question, struct error *error) {
    return store_stats(store, question->now, error);
}

static json_t *history(struct store *store, const struct question *question, struct error *error) {
    return store_history(store, question->now, error);
}

/* { count, first }; no `first`: none waits. */
static json_t *retries(struct store *store, const struct question *question, struct error *error) {
    int64_t waiting = 0;
    time_ms first = TIME_NEVER;
    (void)question;
    if (!store_retries_wait(store, &waiting, &first, error))
        return NULL;
    json_t *answer = json_pack("{sI}", "count", (json_int_t)waiting);
    if (answer && first != TIME_NEVER)
        json_put_time(answer, "first", first);
    return answer;
}

/* { rows, key } of the log: a page, and the text with which the next one is asked for. */
static json_t *walk(struct store *store, const struct question *question, struct error *error) {
    const char *text = json_string_value(json_object_get(question->object, "key"));
    json_t *key = text ? json_read(text, strlen(text), "key", error) : NULL;
    if (text && !key)
        return NULL;
    json_t *rows = store_log_walk(store, question->filters, &question->page, &key, error);
    char *next = rows ? json_write(key, NULL) : NULL;
    json_t *answer = rows ? json_pack("{sO,ss}", "rows", rows, "key", next) : NULL;
    if (rows && !answer)
        db_no_memory(&store->db, error);
    free(next);
    json_decref(rows);
    json_decref(key);
    return answer;
}

static const struct {
    struct ask_table table;
    ask_answer *answer;
} kinds[ASK_KINDS] = {
    [ASK_JOBS] = {{"jobs", job_columns}, jobs},
    [ASK_DEFINITIONS] = {{"definitions", definition_columns}, definitions},
    [ASK_INCIDENTS] = {{"incidents", incident_columns}, incidents},
    [ASK_LOG] = {{"log", log_columns}, entries},
    [ASK_OPERATIONS] = {{"operations", operation_columns}, operations},
    [ASK_BATCHES] = {{"batches", batch_columns}, batches},
    [ASK_INSTANCES] = {{"suspended_instances", instance_columns}, instances},
    [ASK_SCHEDULES] = {{"schedules", schedule_columns}, schedules},
    [ASK_DATES] = {{"dates", date_columns}, dates},
    [ASK_DEPLOYMENTS] = {{"deployments", deployment_columns}, deployments},
    [ASK_EXECUTORS] = {{"executors", executor_columns}, executors},
    [ASK_GAPS] = {{"unserved", unserved_columns}, unserved},
    [ASK_COUNT] = {{"count", NULL}, count},
    [ASK_JOB] = {{"job", NULL}, job},
    [ASK_BATCH] = {{"batch", NULL}, batch},
    [ASK_WHY] = {{"why", NULL}, why},
    [ASK_STATS] = {{"stats", NULL}, stats},
    [ASK_HISTORY] = {{"history", NULL}, history},
    [ASK_RETRIES] = {{"retries", NULL}, retries},
    [ASK_WALK] = {{"walk", NULL}, walk},
};

const struct ask_table *store_ask_table(enum ask_kind kind) {
    return &kinds[kind].table;
}

enum ask_kind store_ask_find(const char *name) {
    int kind = 0;
    while (kind < ASK_KINDS && strcmp(kinds[kind].table.name, name) != 0)
        kind++;
    return (enum ask_kind)kind;
}

static int64_t whole(const json_t *question, const char *key) {
    return json_integer_value(json_object_get(question, key));
}

json_t *store_ask(struct store *store, enum ask_kind kind, const json_t *object, time_ms now,
                  struct error *error) {
    struct question question = {
        .object = object,
        .filters = json_object_get(object, "filters"),
        .page = {.sort = json_string_value(json_object_get(object, "sort")),
                 .descending = json_is_true(json_object_get(object, "descending")),
                 .after = whole(object, "after"),
                 .offset = whole(object, "offset"),
                 .limit = (int)whole(object, "limit")},
        .id = whole(object, "id"),
        .name = json_string_value(json_object_get(object, "name")),
        .now = now,
    };
    int64_t budget = whole(object, "budget");
    if (budget)
        store_set_budget(store, budget);
    return kinds[kind].answer(store, &question, error);
}
