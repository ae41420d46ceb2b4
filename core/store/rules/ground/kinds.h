/* kinds.h - what answers each kind of question (rules §11): the table of its rows, or a function,
 * beside the code that knows them. ask/ask.c puts them together. A new column of a kind whose
 * columns have SQL is one line in its table. */
#pragma once

#include "store/store.h"

extern const struct ask_table job_table, definition_table, incident_table, cause_table, log_table,
    operation_table, batch_table, instance_table, process_table, version_table,
    process_instance_table, past_table, trail_table, task_table, subscription_table,
    kept_message_table, schedule_table, date_table, deployment_table, executor_table,
    unserved_table, token_table;

/* A question taken apart. Any part may be absent. */
struct question {
    const json_t *object, *filters;
    struct store_page page;
    int64_t id;
    const char *name;
    time_ms now;
};

/* Functions of one shape each; all answer a new reference, or NULL with `error` filled. */
typedef json_t *ask_page(struct store *store, const json_t *filters, const struct store_page *page,
                         struct error *error);
typedef json_t *ask_page_now(struct store *store, const json_t *filters,
                             const struct store_page *page, time_ms now, struct error *error);
typedef json_t *ask_one(struct store *store, int64_t id, time_ms now, struct error *error);
typedef json_t *ask_now(struct store *store, time_ms now, struct error *error);
typedef json_t *ask_other(struct store *store, const struct question *question,
                          struct error *error);

/* Rows that the table alone does not read. */
ask_page store_log, store_process_instances, store_past, store_tasks;
ask_page_now store_kept_messages; /* those whose time is not over */
/* Why the job has not run yet: { job, state, reason, text, when, … }. ERROR_NOT_FOUND if nothing is
 * known of it. */
ask_one store_why;
/* The instance that runs, or as it ended: one object with `state`. ERROR_NOT_FOUND. */
ask_one store_process_instance;
/* What an instance waits for: { instance, frame, jobs, tasks, subscriptions, called, incidents, why
 * }, the last as why_places has it. */
ask_one store_why_instance;
/* One object: waiting per state, by definition, oldest ready, executors with range and last seen,
 * metrics. */
ask_now store_stats;
/* { ttl, removable = { jobs, incidents, batches, operations, instances }, window, zone, jobs = [{
 * id, state, due, priority }] }. */
ask_now store_history;
/* { rows, key } of the log: a page, and the text with which the next one is asked for. A page costs
 * its own length, however deep it is. One with fewer entries than its limit is the last as yet. */
ask_other ask_walk;
/* Schedules by name: { name, handler, cycle, zone, misfire, paused, last, next, next_local, job,
 * source }; `name` NULL: all, else that one, with ERROR_NOT_FOUND. */
ask_other ask_schedules;
/* The next dates of a schedule as repeat_dates writes them. */
ask_other ask_dates;
/* [{ id, name, state, started, seen, lease, priority_min, …, running, waiting, locked }]; with
 * `all` also those that are gone. */
ask_other ask_executors;
/* { items = [{ event, at, place, … }], next, more }: what has happened since the place `after`, of
 * the `kinds`, oldest first; without it nothing, and `next` is now. `more`: ask on at once. Each
 * event is told once on the way from place to place, also by another process. */
ask_other ask_events;
