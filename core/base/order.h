/* order.h - an operator's verb as a JSON object: what a person, a job (job:operate) or a date asks
 * of the store (rules §11). The table of all verbs and of what each may be told is in order.c. */
#ifndef MOONSHIFT_BASE_ORDER_H
#define MOONSHIFT_BASE_ORDER_H

#include "base/clock.h"
#include "base/cycle.h"
#include "base/error.h"
#include "base/suspension.h"
#include <jansson.h>
#include <stddef.h>

#define ORDER_HANDLER                                                                              \
    "moonshift/operate"             /* the stock handler that gives its payload as an order        \
                                     */
#define ORDER_RESERVED "moonshift/" /* handlers under it are ours, and everybody's to run */
#define BATCH_SEED ORDER_RESERVED "batch_seed"
#define BATCH_MONITOR ORDER_RESERVED "batch_monitor"
#define BATCH_HANDLERS "batch/" /* what execution jobs run, by the type of their batch */

enum order_verb {
    ORDER_SET_RETRIES,
    ORDER_RETRY,
    ORDER_SET_PRIORITY,
    ORDER_SET_DUE,
    ORDER_RECALCULATE_DUE,
    ORDER_SET_CYCLE,
    ORDER_SUSPEND,
    ORDER_ACTIVATE,
    ORDER_DELETE,
    ORDER_CANCEL,
    ORDER_DEAD_LETTER,
    ORDER_OVERRIDE_PRIORITY,
    ORDER_CLEAR_OVERRIDE,
    ORDER_SUSPEND_DEFINITION,
    ORDER_ACTIVATE_DEFINITION,
    ORDER_SET_DEFINITION_RETRIES,
    ORDER_SUSPEND_INSTANCE,
    ORDER_ACTIVATE_INSTANCE,
    ORDER_ANNOTATE,
    ORDER_RESOLVE,
    ORDER_SET_REMOVAL_TIME,
    ORDER_DELETE_HISTORY,
    ORDER_CLEAN_HISTORY,
    ORDER_SUSPEND_BATCH,
    ORDER_ACTIVATE_BATCH,
    ORDER_DELETE_BATCH,
    ORDER_RETRY_FAILED,
    ORDER_PAUSE_SCHEDULE,
    ORDER_RESUME_SCHEDULE,
    ORDER_RUN_SCHEDULE,
    ORDER_BATCH_SEED, /* these two as effects only */
    ORDER_BATCH_MONITOR,
    ORDER_COUNT
};

enum order_target {
    ORDER_JOBS,
    ORDER_DEFINITION,
    ORDER_INSTANCE,
    ORDER_INCIDENT,
    ORDER_BATCH,
    ORDER_HISTORY,
    ORDER_PLAN,
    ORDER_SCHEDULE
};

/* An order taken apart; texts and JSON are borrowed from its object. */
struct order {
    enum order_verb verb;
    const char *name; /* of the verb, as the operation log has it */
    enum order_target target;
    const json_t *ids;   /* jobs, or ended jobs: an array of integers, or NULL, and then */
    const json_t *query; /* the filters they match */
    const char *definition, *instance, *schedule;
    int64_t incident, batch;
    const json_t *plan; /* of history cleanup, see cleanup.h */
    time_ms removal;    /* TIME_NEVER: kept for ever; TIME_NONE: by the time to live */
    int64_t priority;
    int32_t retries;
    bool due_given, cascade, from_creation, include_jobs;
    bool history;        /* of a deleted batch: that goes, too */
    bool ended;          /* a monitor has seen that nothing is left */
    bool ignore_missing; /* ids of jobs that are gone are passed over */
    time_ms due;         /* TIME_NONE: absent */
    time_ms at;          /* not before; TIME_NONE: now */
    const char *note;    /* NULL: none */
    const char *cycle;   /* of set_cycle: it can be read */
    const char *zone;    /* of the cycle; NULL: that of the job */
    enum misfire misfire;
    bool misfire_given;
    int reason; /* enum suspension, of suspend and activate; 0: those that go by id */
    /* An order for more jobs than one transaction takes goes on: */
    bool goes_on;        /* it has begun */
    int64_t entry;       /* in the operation log; 0: none yet */
    int64_t after, upto; /* of a query: the jobs between these ids are left */
    size_t done;         /* of ids: so many are dealt with */
    struct held held;    /* so far: activated, yet suspended for other reasons */
};

/* { verb = "set_retries", ids = 7 | { 7, 8 }, retries = 3 } and so on: the target of a verb on jobs
 * is `ids` or `query` (filters; on ended jobs those of the log), else `definition` (a name),
 * `instance` (a key), `schedule` (a name), `incident` or `batch` (an id), `plan` (an object).
 * ERROR_INVALID: an unknown verb or key, with "did you mean"; a missing or bad value. */
bool order_read(struct order *order, const json_t *object, struct error *error);

/* `object` as an order that goes on where `order` stands. A new reference; NULL: no memory. */
json_t *order_rest(const json_t *object, const struct order *order);

const char *order_name(enum order_verb verb);

#endif
