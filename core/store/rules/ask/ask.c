/* ask.c - the one table of what can be asked, and the one way in for every question (rules §11). */
#include "base/json.h"
#include "store/batch.h"
#include "store/rules/ask/job_counts.h"
#include "store/rules/ask/processes.h"
#include "store/rules/ask/turns.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"
#include "store/rules/process/large_value.h"
#include "store/rules/process/signal.h"
#include "store/rules/process/subscription.h"
#include "store/rules/process/user_task.h"
#include <stdlib.h>
#include <string.h>

static json_t *frame(struct store *store, const struct question *question, struct error *error) {
    const json_t *object = question->object;
    const int64_t job = json_int(object, "job"), instance = json_int(object, "instance");
    if (job)
        return store_frame_of_job(store, job, error);
    return json_is_true(json_object_get(object, "at"))
               ? store_frame_places(store, instance, error)
               : store_frame(store, instance, json_int(object, "token"), error);
}

static json_t *body(struct store *store, const struct question *question, struct error *error) {
    return body_ask(store, question->id, error);
}

static json_t *turns(struct store *store, const struct question *question, struct error *error) {
    return body_turns_ask(store, question->id, json_int(question->object, "below"), error);
}

static json_t *large_value(struct store *store, const struct question *question,
                           struct error *error) {
    return large_value_ask(store, question->object, error);
}

static json_t *task(struct store *store, const struct question *question, struct error *error) {
    return user_task_ask(store, question->id, json_int(question->object, "instance"),
                         json_int(question->object, "token"), error);
}

static json_t *version(struct store *store, const struct question *question, struct error *error) {
    return store_version(store, question->object, error);
}

static json_t *standing(struct store *store, const struct question *question, struct error *error) {
    return store_standing(store, question->name, json_int(question->object, "number"), error);
}

static json_t *files(struct store *store, const struct question *question, struct error *error) {
    return store_deployment_files(
        store, json_integer_value(json_object_get(question->object, "deployment")), error);
}

enum { SIGNALLED = 101 }; /* more than one unit goes on in */

/* What waits for a signal, or all that a message is for. With a token the first is that one, if it
 * waits. */
static json_t *signalled(struct store *store, const json_t *object, struct error *error) {
    const int64_t token = json_int(object, "token");
    const struct unit_signal one = {.name = json_text(object, "signal"),
                                    .tenant = json_text(object, "tenant"),
                                    .only = json_int(object, "instance"),
                                    .after = token ? json_int(object, "instance") : 0,
                                    .after_token = token ? token - 1 : 0,
                                    .message = json_is_true(json_object_get(object, "message")),
                                    .key = json_text(object, "key"),
                                    .business_key = json_text(object, "business_key"),
                                    .until = TIME_NONE};
    return signal_receivers(store, &one, SIGNALLED, error);
}

static json_t *receivers(struct store *store, const struct question *question,
                         struct error *error) {
    const struct message_to to = message_to_read(question->object);
    bool own = false;
    if (!look_begin(store, &own, error))
        return NULL;
    json_t *found = NULL;
    if (json_is_true(json_object_get(question->object, "conditions")))
        found = subscription_conditions(store, json_text(question->object, "process"), error);
    else if (json_text(question->object, "signal"))
        found = signalled(store, question->object, error);
    else
        found = subscription_receivers(store, &to, error);
    look_end(store, own);
    return found;
}

/* No number where more jobs than that may have to be read for it. */
#define COUNT_FEW "10000"
#define AS_MANY(condition)                                                                         \
    "(SELECT count(*) FROM (SELECT 1 FROM job WHERE " condition " LIMIT " COUNT_FEW ") AS c)"

static enum answer counts_few(struct store *store, struct error *error) {
    int64_t jobs = 0;
    enum answer found =
        db_value(&store->db, error, &jobs,
                 "SELECT CAST(coalesce(sum(ready+timer+parked), 0) AS BIGINT)"
                 "+" AS_MANY("retries=0") "+" AS_MANY("suspended<>0") " FROM occupancy",
                 "");
    return found == YES && jobs > 10000 ? NO : found;
}

static json_t *count(struct store *store, const struct question *question, struct error *error) {
    int64_t number = 0;
    if (json_is_true(json_object_get(question->object, "few"))) {
        enum answer few = counts_few(store, error);
        if (few != YES)
            return few == NO ? json_null() : NULL;
    }
    enum answer known = job_counts_of(store, question->filters, question->now, &number, error);
    if (known == NO && store_jobs_count(store, question->filters, question->now, &number, error))
        known = YES;
    return known == YES ? json_integer(number) : NULL;
}

static json_t *batch(struct store *store, const struct question *question, struct error *error) {
    return store_batch(store, question->id, error);
}

/* Any number of jobs may be scheduled, and no index knows those that have failed. */
#define RETRIES_NEAR "(SELECT due, id FROM timer ORDER BY due, id LIMIT ?1) AS near"
#define RETRIES_FAILED                                                                             \
    "(SELECT job FROM attempt ORDER BY at DESC LIMIT ?1) AS a JOIN job j ON j.id=a.job"            \
    " JOIN timer t ON t.due=j.due AND t.id=j.id"
#define RETRIES_MET                                                                                \
    "(SELECT job FROM conflicts LIMIT ?1) AS c JOIN job j ON j.id=c.job"                           \
    " JOIN timer t ON t.due=j.due AND t.id=j.id"

bool store_retries_wait(struct store *store, struct store_retries *waiting, struct error *error) {
    int looked = 0;
    bool done =
        db_read(&store->db, error,
                "SELECT count(*), min(l.due), (SELECT count(*) FROM " RETRIES_NEAR ")"
                " FROM (SELECT due, id FROM " RETRIES_NEAR " UNION SELECT t.due, t.id"
                " FROM " RETRIES_FAILED " UNION SELECT t.due, t.id FROM " RETRIES_MET
                ") AS l JOIN job j ON j.id=l.id WHERE j.attempt>1"
                " OR EXISTS(SELECT 1 FROM conflicts c WHERE c.job=j.id)",
                "iin<n", &waiting->count, &waiting->first, &looked, STORE_RETRIES_LOOKED) == YES;
    if (!done || !waiting->count)
        *waiting = (struct store_retries){.first = TIME_NEVER};
    waiting->more = looked == STORE_RETRIES_LOOKED;
    return done;
}

/* { count, first, more }; no `first`: none waits. */
static json_t *retries(struct store *store, const struct question *question, struct error *error) {
    struct store_retries waiting;
    (void)question;
    if (!store_retries_wait(store, &waiting, error))
        return NULL;
    json_t *answer =
        json_pack("{sI sb}", "count", (json_int_t)waiting.count, "more", (int)waiting.more);
    if (answer && waiting.first != TIME_NEVER)
        json_put_time(answer, "first", waiting.first);
    return answer;
}

#define NAMED(text)                                                                                \
    &(const struct ask_table) {                                                                    \
        .name = text                                                                               \
    }

/* A kind without a function has rows that are read as its table says. */
static const struct {
    const struct ask_table *table;
    ask_page *page;
    ask_page_now *page_now;
    ask_one *one;
    ask_now *now;
    ask_other *other;
} kinds[ASK_KINDS] = {
    [ASK_JOBS] = {&job_table, .page_now = store_jobs},
    [ASK_DEFINITIONS] = {&definition_table, .page_now = store_definitions},
    [ASK_INCIDENTS] = {&incident_table},
    [ASK_CAUSES] = {&cause_table},
    [ASK_LOG] = {&log_table, .page = store_log},
    [ASK_OPERATIONS] = {&operation_table},
    [ASK_BATCHES] = {&batch_table, .page = store_batches},
    [ASK_INSTANCES] = {&instance_table},
    [ASK_PROCESSES] = {&process_table},
    [ASK_VERSIONS] = {&version_table},
    [ASK_PROCESS_INSTANCES] = {&process_instance_table, .page = store_process_instances},
    [ASK_PAST] = {&past_table, .page = store_past},
    [ASK_TRAIL] = {&trail_table},
    [ASK_TASKS] = {&task_table, .page = store_tasks},
    [ASK_SUBSCRIPTIONS] = {&subscription_table},
    [ASK_KEPT_MESSAGES] = {&kept_message_table, .page_now = store_kept_messages},
    [ASK_SCHEDULES] = {&schedule_table, .other = ask_schedules},
    [ASK_DATES] = {&date_table, .other = ask_dates},
    [ASK_DEPLOYMENTS] = {&deployment_table},
    [ASK_EXECUTORS] = {&executor_table, .other = ask_executors},
    [ASK_TOKENS] = {&token_table},
    [ASK_GAPS] = {&unserved_table, .now = store_unserved},
    [ASK_COUNT] = {NAMED("count"), .other = count},
    [ASK_JOB] = {NAMED("job"), .one = store_job},
    [ASK_BATCH] = {NAMED("batch"), .other = batch},
    [ASK_WHY] = {NAMED("why"), .one = store_why},
    [ASK_STATS] = {NAMED("stats"), .now = store_stats},
    [ASK_HISTORY] = {NAMED("history"), .now = store_history},
    [ASK_RETRIES] = {NAMED("retries"), .other = retries},
    [ASK_WALK] = {NAMED("walk"), .other = ask_walk},
    [ASK_INSTANCE] = {NAMED("instance"), .one = store_process_instance},
    [ASK_FRAME] = {NAMED("frame"), .other = frame},
    [ASK_BODY] = {NAMED("body"), .other = body},
    [ASK_TURNS] = {NAMED("turns"), .other = turns},
    [ASK_LARGE_VALUE] = {NAMED("large_value"), .other = large_value},
    [ASK_TASK] = {NAMED("task"), .other = task},
    [ASK_VERSION] = {NAMED("version"), .other = version},
    [ASK_RECEIVERS] = {NAMED("receivers"), .other = receivers},
    [ASK_WHY_INSTANCE] = {NAMED("why_instance"), .one = store_why_instance},
    [ASK_FILES] = {NAMED("files"), .other = files},
    [ASK_STANDING] = {NAMED("standing"), .other = standing},
    [ASK_EVENTS] = {NAMED("events"), .other = ask_events},
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
    if (kinds[kind].other)
        return kinds[kind].other(store, question, error);
    const struct ask_table *table = kinds[kind].table;
    return query_list(store, table, table->filters ? question->filters : NULL,
                      table->filters ? &question->page : NULL, error);
}

const struct ask_table *store_ask_table(enum ask_kind kind) {
    return kinds[kind].table;
}

enum ask_kind store_ask_find(const char *name) {
    int kind = 0;
    while (kind < ASK_KINDS && strcmp(kinds[kind].table->name, name) != 0)
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
                 .ids = json_is_true(json_object_get(object, "ids")),
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
