#include "store/rules/process/signal.h"
#include "base/crash_point.h"
#include "base/json.h"
#include "store/rules/ground/defined.h"
#include "store/rules/ground/row.h"
#include "store/rules/process/order.h"
#include "store/rules/process/signal_ahead.h"
#include "store/rules/process/turn.h"
#include "store/rules/record/incident.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 500 }; /* receivers that get their jobs in one transaction */

/* ---- what waits ---- */

static json_t *receiver_read(struct row *row) {
    json_t *priority = row_null(row, 6) ? NULL : json_integer(row_int(row, 6));
    return json_pack("{sI sI sI ss ss sI so*}", "instance", (json_int_t)row_int(row, 0), "token",
                     (json_int_t)row_int(row, 1), "version", (json_int_t)row_int(row, 2),
                     "activity", row_text(row, 3), "process", row_text(row, 4), "root",
                     (json_int_t)row_int(row, 5), "priority", priority);
}

/* Of one kind, behind an instance and a token. What is suspended is left out. */
#define WAITING(kind)                                                                              \
    "SELECT s.instance, s.token, s.version, s.activity, v.key, coalesce(i.root, s.instance),"      \
    " s.priority"                                                                                  \
    " FROM subscription s JOIN process_version v ON v.id=s.version"                                \
    " JOIN process p ON p.key=v.key LEFT JOIN instance i ON i.id=s.instance"                       \
    " WHERE s.name=?1 AND (s.instance, s.token)>(?2, ?3)"                                          \
    " AND s.created<=?4 AND (?5=0 OR s.instance=?5) AND (CAST(?6 AS TEXT) IS NULL"                 \
    " OR i.tenant IS NULL OR i.tenant=CAST(?6 AS TEXT))"                                           \
    " AND CASE WHEN s.instance=0 THEN v.suspended+p.suspended ELSE (v.suspended|p.suspended)&2"    \
    " END=0 AND NOT EXISTS(SELECT 1 FROM suspended_instance h"                                     \
    " WHERE h.instance=CAST(s.instance AS TEXT)) AND " OPEN_TOKEN(                                 \
        "s.token") " AND " kind " ORDER BY s.instance, s.token LIMIT ?7"

static struct row *waiting(struct store *store, const struct unit_signal *one, int limit,
                           struct error *error) {
    const int64_t until = one->until == TIME_NONE ? INT64_MAX : one->until;
    if (one->message)
        return db_query(&store->db, error,
                        WAITING("s.kind='message' AND s.key IN ('', ?8) AND (s.instance=0"
                                " OR i.key=?9 OR CAST(?9 AS TEXT) IS NULL)"),
                        "tiiiitntt", one->name, one->after, one->after_token, until, one->only,
                        one->tenant, limit, one->key ? one->key : "", one->business_key);
    return db_query(&store->db, error, WAITING("s.kind='signal' AND s.key=''"), "tiiiitn",
                    one->name, one->after, one->after_token, until, one->only, one->tenant, limit);
}

json_t *signal_receivers(struct store *store, const struct unit_signal *one, int limit,
                         struct error *error) {
    json_t *list = json_array();
    struct row *rows = waiting(store, one, limit, error);
    enum answer step = NO;
    while ((step = db_step(&store->db, rows, error)) == YES)
        json_array_append_new(list, receiver_read(rows));
    return json_kept(list, step == NO);
}

/* ---- their jobs ---- */

/* A job that gives the signal. */
struct bringer {
    struct job_spec spec; /* comes first */
    char handler[JOB_NAME_MAX + 32];
    char *payload;
};

struct page {
    struct store *store;
    const struct unit_signal *signal;
    const struct unit *unit; /* that has thrown it, or NULL */
    json_t *variables;       /* NULL: none */
    struct bringer *list;
    size_t count;
    struct defined defined; /* what is said of the jobs of the handler before */
};

/* What the walk of the job is told; see lua/moonshift/process/commands.lua. */
static json_t *cause_of(const struct page *page, const json_t *receiver) {
    if (!json_int(receiver, "instance"))
        return json_pack(
            "{ss sO sO sO* ss*}", "kind", "start", "version", json_object_get(receiver, "version"),
            "at", json_object_get(receiver, "activity"), "variables",
            page->signal->bare ? NULL : page->variables, "tenant", page->signal->tenant);
    return json_pack("{ss ss sO sO sO sO* so*}", "kind", "signal", "name", page->signal->name,
                     "instance", json_object_get(receiver, "instance"), "token",
                     json_object_get(receiver, "token"), "activity",
                     json_object_get(receiver, "activity"), "variables", page->variables, "message",
                     page->signal->message ? json_true() : NULL);
}

static int64_t lane_for(const struct page *page, const json_t *receiver) {
    const char *whose = page->store->rules->lane_of_root ? "root" : "instance";
    return job_instance_lane(json_int(receiver, whose));
}

/* Those of one process often stand one behind the other. The priority of what waits goes before
 * that of the definition, and an override before both. */
static bool define(struct page *page, struct bringer *one, const json_t *receiver,
                   struct error *error) {
    const json_t *priority = json_object_get(receiver, "priority");
    bool same = page->count && strcmp(one[-1].handler, one->handler) == 0;
    if (!same && !defined_read(page->store, one->handler, &page->defined, error))
        return false;
    one->spec.priority_given = priority && page->store->rules->produce_priorities;
    if (one->spec.priority_given)
        one->spec.job.priority = json_integer_value(priority);
    defined_apply(&page->defined, page->store, &one->spec);
    one->spec.priority_given = false;
    return true;
}

static bool bringer_make(struct page *page, const json_t *receiver, struct error *error) {
    struct bringer *one = &page->list[page->count];
    const int64_t instance = json_int(receiver, "instance");
    json_t *cause = cause_of(page, receiver);
    snprintf(one->handler, sizeof one->handler, "process/%.255s:command",
             json_text(receiver, "process"));
    one->spec =
        (struct job_spec){.job = {.handler = one->handler,
                                  .instance_id = instance,
                                  .execution = instance ? 0 : json_int(receiver, "version"),
                                  .activity = instance ? json_text(receiver, "activity") : NULL,
                                  .due = TIME_NONE,
                                  .exclusive = instance != 0,
                                  .lane_id = instance ? lane_for(page, receiver) : 0}};
    one->payload = cause ? json_write(cause, &one->spec.job.payload_size) : NULL;
    one->spec.job.payload = one->payload;
    json_decref(cause);
    if (!one->payload || !define(page, one, receiver, error))
        return one->payload ? false : db_no_memory(&page->store->db, error);
    if (page->count)
        one[-1].spec.next = &one->spec;
    page->count++;
    return true;
}

/* The unit has given it to all that waits in the instances and turns that it moves, and has begun
 * what it starts. */
static bool has_it(const struct page *page, const json_t *receiver) {
    const int64_t instance = json_int(receiver, "instance");
    const int64_t turn = turn_of_token(json_int(receiver, "token"));
    bool has = !instance;
    for (size_t i = 0; !turn && i < page->unit->instance_count; i++)
        has = has || page->unit->instances[i].id == instance;
    for (size_t i = 0; turn && i < page->unit->turn_count; i++)
        has = has || page->unit->turns[i].id == turn;
    return has;
}

static bool bringers_make(struct page *page, const json_t *receivers, bool starts,
                          struct error *error) {
    size_t i;
    json_t *receiver;
    bool done = true;
    json_array_foreach(receivers, i, receiver) {
        if (starts == (json_int(receiver, "instance") == 0) &&
            !(page->signal->given && has_it(page, receiver)))
            done = done && bringer_make(page, receiver, error);
    }
    return done;
}

/* All are created at once. What waits gets it before what it starts. */
static bool page_create(struct page *page, const json_t *receivers, time_ms now,
                        struct error *error) {
    return bringers_make(page, receivers, false, error) &&
           bringers_make(page, receivers, true, error) &&
           (!page->count || store_create(page->store, &page->list->spec, 0, now, error)) &&
           CRASH_POINT("signal_given");
}

static void page_clear(struct page *page) {
    for (size_t i = 0; page->list && i < page->count; i++)
        free(page->list[i].payload);
    free(page->list);
    json_decref(page->variables);
}

/* Orders the job that goes on behind the last one. */
static bool rest_order(const struct page *page, const json_t *last, time_ms now,
                       struct error *error) {
    const struct unit_signal *one = page->signal;
    struct store_order order = {
        .key = json_text(last, "process"),
        .cause = json_pack(
            "{ss ss s[OOI] sO* ss* so* ss* ss*}", "kind", "signal", "name", one->name, "left",
            json_object_get(last, "instance"), json_object_get(last, "token"),
            (json_int_t)(one->until == TIME_NONE ? now : one->until), "variables", page->variables,
            "tenant", one->tenant, "message", one->message ? json_true() : NULL, "key", one->key,
            "business_key", one->business_key)};
    bool done = order.cause ? order_create(page->store, &order, now, error)
                            : db_no_memory(&page->store->db, error);
    json_decref((json_t *)(uintptr_t)order.cause);
    return done;
}

/* The one that gets it, as signal_receivers has it. */
static json_t *receiver_of(const struct unit_signal *one) {
    json_t *priority = one->priority == TIME_NONE ? NULL : json_integer(one->priority);
    return json_pack("[{sI sI ss ss sI so*}]", "instance", (json_int_t)one->instance, "token",
                     (json_int_t)one->token, "activity", one->activity, "process", one->process,
                     "root", (json_int_t)one->instance, "priority", priority);
}

static bool page_give(struct page *page, const json_t *receivers, time_ms now,
                      struct error *error) {
    const size_t count = json_array_size(receivers);
    const char *text = page->signal->variables;
    page->variables = text ? json_read(text, strlen(text), "variables", error) : NULL;
    page->list = calloc(count + 1, sizeof *page->list);
    if (!page->list)
        return db_no_memory(&page->store->db, error);
    return (!text || page->variables) && page_create(page, receivers, now, error) &&
           (count < PAGE || page->signal->given ||
            rest_order(page, json_array_get(receivers, count - 1), now, error));
}

/* A new reference. Of a page that is not full the units behind this one know it. */
static json_t *receivers_of(struct store *store, const struct unit_signal *one, int most,
                            struct error *error) {
    const json_t *known = signal_heard_find(store, one);
    if (known)
        return json_incref((json_t *)(uintptr_t)known);
    json_t *receivers = signal_receivers(store, one, most, error);
    bool whole = receivers && json_array_size(receivers) < PAGE;
    return json_kept(receivers, !whole || signal_heard_note(store, one, receivers, error));
}

bool store_signal(struct store *store, const struct unit_signal *one, const struct unit *unit,
                  time_ms now, struct error *error) {
    struct page page = {.store = store, .signal = one, .unit = unit};
    const int most = one->given ? INT_MAX : PAGE;
    if (signal_unheard(store, one))
        return true;
    json_t *receivers = one->token ? receiver_of(one) : receivers_of(store, one, most, error);
    bool done = receivers && page_give(&page, receivers, now, error);
    page_clear(&page);
    json_decref(receivers);
    return done;
}

/* ---- receivers that migrate ---- */

/* [[job, handler, payload]] of the jobs that are commands to the instance. NULL: error. */
static json_t *bringers_of(struct store *store, int64_t instance, struct error *error) {
    json_t *list = json_array();
    enum answer step = NO;
    struct row *rows =
        db_query(&store->db, error,
                 "SELECT j.id, d.name, j.payload FROM job j JOIN stream s ON s.id=j.stream"
                 " JOIN definition d ON d.id=s.definition WHERE j.instance_id=?1 AND "
                 "coalesce(j.execution, 0)=0"
                 " AND d.name LIKE 'process/%:command' ORDER BY j.id",
                 "i", instance);
    while ((step = db_step(&store->db, rows, error)) == YES)
        json_array_append_new(list, json_pack("[Iss]", (json_int_t)row_int(rows, 0),
                                              row_text(rows, 1), row_text(rows, 2)));
    return json_kept(list, step == NO);
}

/* The cause names the token that moves, as the receiver of a signal. */
static bool brings_to(const json_t *cause, const struct unit_move *move) {
    const char *kind = json_text(cause, "kind");
    return kind && strcmp(kind, "signal") == 0 && json_int(cause, "token") == move->token;
}

static bool bringer_follow(struct store *store, const json_t *job, const struct unit_move *move,
                           struct error *error) {
    const int64_t id = json_integer_value(json_array_get(job, 0));
    const char *text = json_string_value(json_array_get(job, 2));
    json_t *cause = json_read(text, strlen(text), "payload", error);
    bool follows = brings_to(cause, move), done = cause != NULL;
    if (follows) {
        json_put(cause, "token", json_integer(move->to));
        json_put_text(cause, "activity", move->activity);
        char *payload = json_write(cause, NULL);
        done = payload ? row_set_receiver(store, id, move->activity, payload, error) &&
                             incident_move(store, id, json_string_value(json_array_get(job, 1)),
                                           move->activity, error)
                       : db_no_memory(&store->db, error);
        free(payload);
    }
    json_decref(cause);
    return done;
}

bool signals_follow(struct store *store, const struct unit_move *move, struct error *error) {
    json_t *jobs = bringers_of(store, move->instance, error), *job;
    bool done = jobs != NULL;
    size_t i;
    json_array_foreach(jobs, i, job)
        done = done && bringer_follow(store, job, move, error);
    json_decref(jobs);
    return done;
}
