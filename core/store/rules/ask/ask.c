/* ask.c - the one table of what can be asked, and the one way in for every question (rules §11). */
#include "base/json.h"
#include "store/batch.h"
#include "store/rules/ask/processes.h"
#include "store/rules/ground/columns.h"
#include "store/rules/ground/query.h"
#include "store/rules/process/large_value.h"
#include "store/rules/process/subscription.h"
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

/* Questions of one shape are answered by the store's call itself. */
typedef json_t *ask_page(struct store *store, const json_t *filters, const struct store_page *page,
                         struct error *error);
typedef json_t *ask_page_now(struct store *store, const json_t *filters,
                             const struct store_page *page, time_ms now, struct error *error);
typedef json_t *ask_one(struct store *store, int64_t id, time_ms now, struct error *error);
typedef json_t *ask_now(struct store *store, time_ms now, struct error *error);
typedef json_t *ask_other(struct store *store, const struct question *question,
                          struct error *error);

static json_t *frame(struct store *store, const struct question *question, struct error *error) {
    return store_frame(store, json_integer_value(json_object_get(question->object, "instance")),
                       error);
}

static json_t *large_value(struct store *store, const struct question *question,
                           struct error *error) {
    return large_value_ask(store, question->object, error);
}

static json_t *version(struct store *store, const struct question *question, struct error *error) {
    return store_version(store, question->object, error);
}

static json_t *standing(struct store *store, const struct question *question, struct error *error) {
    return store_standing(store, question->name, error);
}

static json_t *files(struct store *store, const struct question *question, struct error *error) {
    return store_deployment_files(
        store, json_integer_value(json_object_get(question->object, "deployment")), error);
}

static json_t *receivers(struct store *store, const struct question *question,
                         struct error *error) {
    const struct message_to to = {
        .name = question->name,
        .key = json_string_value(json_object_get(question->object, "key")),
        .instance = json_integer_value(json_object_get(question->object, "instance")),
        .token = json_integer_value(json_object_get(question->object, "token")),
        .business_key = json_string_value(json_object_get(question->object, "business_key")),
        .starts = json_is_true(json_object_get(question->object, "starts"))};
    bool own = false;
    if (!look_begin(store, &own, error))
        return NULL;
    json_t *found = subscription_receivers(store, &to, error);
    look_end(store, own);
    return found;
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
    return store_executors(store, json_is_true(json_object_get(question->object, "all")),
                           question->now, error);
}

static json_t *count(struct store *store, const struct question *question, struct error *error) {
    int64_t number = 0;
    return store_jobs_count(store, question->filters, question->now, &number, error)
               ? json_integer(number)
               : NULL;
}

static json_t *batch(struct store *store, const struct question *question, struct error *error) {
    return store_batch(store, question->id, error);
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
    ask_page *page; /* or one of the others */
    ask_page_now *page_now;
    ask_one *one;
    ask_now *now;
    ask_other *other;
} kinds[ASK_KINDS] = {
    [ASK_JOBS] = {{"jobs", job_columns}, .page_now = store_jobs},
    [ASK_DEFINITIONS] = {{"definitions", definition_columns}, .page_now = store_definitions},
    [ASK_INCIDENTS] = {{"incidents", incident_columns}, .page = store_incidents},
    [ASK_LOG] = {{"log", log_columns}, .page = store_log},
    [ASK_OPERATIONS] = {{"operations", operation_columns}, .page = store_operations},
    [ASK_BATCHES] = {{"batches", batch_columns}, .page = store_batches},
    [ASK_INSTANCES] = {{"suspended_instances", instance_columns},
                       .page = store_suspended_instances},
    [ASK_PROCESSES] = {{"processes", process_columns}, .page = store_processes},
    [ASK_VERSIONS] = {{"versions", version_columns}, .page = store_versions},
    [ASK_PROCESS_INSTANCES] = {{"instances", process_instance_columns},
                               .page = store_process_instances},
    [ASK_PAST] = {{"past", past_columns}, .page = store_past},
    [ASK_TRAIL] = {{"trail", trail_columns}, .page = store_trail},
    [ASK_TASKS] = {{"tasks", task_columns}, .page = store_tasks},
    [ASK_SUBSCRIPTIONS] = {{"subscriptions", subscription_columns}, .page = store_subscriptions},
    [ASK_KEPT_MESSAGES] = {{"kept_messages", kept_message_columns},
                           .page_now = store_kept_messages},
    [ASK_SCHEDULES] = {{"schedules", schedule_columns}, .other = schedules},
    [ASK_DATES] = {{"dates", date_columns}, .other = dates},
    [ASK_DEPLOYMENTS] = {{"deployments", deployment_columns}, .other = deployments},
    [ASK_EXECUTORS] = {{"executors", executor_columns}, .other = executors},
    [ASK_GAPS] = {{"unserved", unserved_columns}, .now = store_unserved},
    [ASK_COUNT] = {{"count", NULL}, .other = count},
    [ASK_JOB] = {{"job", NULL}, .one = store_job},
    [ASK_BATCH] = {{"batch", NULL}, .other = batch},
    [ASK_WHY] = {{"why", NULL}, .one = store_why},
    [ASK_STATS] = {{"stats", NULL}, .now = store_stats},
    [ASK_HISTORY] = {{"history", NULL}, .now = store_history},
    [ASK_RETRIES] = {{"retries", NULL}, .other = retries},
    [ASK_WALK] = {{"walk", NULL}, .other = walk},
    [ASK_INSTANCE] = {{"instance", NULL}, .one = store_process_instance},
    [ASK_FRAME] = {{"frame", NULL}, .other = frame},
    [ASK_LARGE_VALUE] = {{"large_value", NULL}, .other = large_value},
    [ASK_VERSION] = {{"version", NULL}, .other = version},
    [ASK_RECEIVERS] = {{"receivers", NULL}, .other = receivers},
    [ASK_WHY_INSTANCE] = {{"why_instance", NULL}, .one = store_why_instance},
    [ASK_FILES] = {{"files", NULL}, .other = files},
    [ASK_STANDING] = {{"standing", NULL}, .other = standing},
};

static json_t *answer(struct store *store, enum ask_kind kind, const struct question *question,
                      struct error *error) {
    if (kinds[kind].page)
        return kinds[kind].page(store, question->filters, &question->page, error);
    if (kinds[kind].page_now)
        return kinds[kind].page_now(store, question->filters, &question->page, question->now,
                                    error);
    if (kinds[kind].one)
        return kinds[kind].one(store, question->id, question->now, error);
    if (kinds[kind].now)
        return kinds[kind].now(store, question->now, error);
    return kinds[kind].other(store, question, error);
}

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
    return answer(store, kind, &question, error);
}
