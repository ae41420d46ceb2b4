#include "run/pool/deadline.h"
#include "base/log.h"
#include "base/text.h"
#include "time/retry.h"
#include <stdlib.h>
#include <string.h>

enum { CUT_GRACE = 200 }; /* at the end there is no time for more */

static bool on_signal(const struct client *client) {
    return client->pool->hook == HOOK_ON_SIGNAL;
}

static void interrupt(struct client *client, struct worker *worker) {
    if (on_signal(client))
        thread_interrupt(&worker->thread);
}

static bool runs(const struct worker *worker, const struct client *client) {
    return worker->state == WORKER_BUSY && worker->client == client && worker->script &&
           !worker->stuck;
}

/* The monotonic instant by which its run was to end; TIME_NEVER: it may go on. */
static time_ms end_of(const struct worker *worker) {
    time_ms deadline = script_deadline(worker->script);
    bool cancelled = worker->cancelled != TIME_NONE && worker->cancelled < deadline;
    return cancelled ? worker->cancelled : deadline;
}

static time_ms grace(const struct client *client) {
    time_ms grace = client->pool->options.grace;
    return client->cutting && grace > CUT_GRACE ? CUT_GRACE : grace;
}

/* ---- giving up ---- */

/* Decides by a textual retry configuration. A function would need its Lua state, which hangs. */
static void decide(const struct client *client, const struct definition *definition,
                   struct outcome *outcome) {
    struct retry retry;
    const struct settings *settings = client->options.settings;
    const char *text = definition && definition->retry_text ? definition->retry_text : NULL;
    if (!text || !retry_parse(text, &retry, NULL))
        return;
    outcome_decide(outcome, settings->failed_job_wait, outcome->ended_by);
    outcome->due = retry_due(&retry, outcome->job->retries, outcome->ended_by);
}

static void say(struct outcome *outcome, time_ms timeout) {
    struct text message = {0};
    char span[TIME_TEXT_SIZE];
    span_format(timeout, span);
    text_add(&message, "handler \"%s\" ran longer than its timeout of %s and does not end: %s",
             outcome->job->handler, span, outcome->stuck);
    outcome->message = message.data;
    outcome->stack = message.data ? strdup(message.data) : NULL;
}

/* Fills the outcome as if the handler had raised its time limit. A cancelled run has lost its lock
 * already. */
static void fail(const struct client *client, const struct worker *worker, struct outcome *outcome,
                 time_ms now) {
    const char *handler = outcome->job->handler;
    const struct generation *generation = generations_find(client->generations, handler);
    const struct definition *definition = definitions_find(&generation->definitions, handler);
    time_ms timeout = definition ? definition->timeout : 0;
    time_ms deadline = script_deadline(worker->script);
    bool late = deadline <= now;
    outcome_end(outcome, client->options.clock);
    outcome->started = outcome->ended - (late ? now - (deadline - timeout) : 0);
    outcome->took = (double)(outcome->ended - outcome->started);
    outcome->reason = REASON_TIMEOUT;
    outcome->kind = late ? OUTCOME_FAILURE : OUTCOME_CANCELLED;
    if (!late)
        return;
    say(outcome, timeout);
    decide(client, definition, outcome);
}

static struct outcome *outcome_of(const struct client *client, const struct worker *worker,
                                  time_ms now, const char *where) {
    struct job *job = job_copy(worker->begun);
    struct outcome *outcome = job ? outcome_new(job, OUTCOME_FAILURE) : NULL;
    if (!outcome) {
        job_free(job);
        return NULL;
    }
    outcome->lane_token = worker->item->lane_token;
    outcome->followed = worker->item->followed;
    outcome->stuck = strdup(where);
    fail(client, worker, outcome, now);
    return outcome;
}

/* Gives the rest of the item back unrun, into the lane behind the run that goes on. */
static void give_back(struct client *client, struct work_item *item) {
    struct job *job;
    while ((job = work_item_take(item))) {
        struct outcome *outcome = outcome_new(job, OUTCOME_RETURNED);
        if (outcome)
            outcome->lane_token = item->lane_token;
        else
            job_free(job);
        threads_push(client, outcome);
    }
}

static void replace(struct pool *pool, struct worker *worker) {
    bool replaced = threads_replace(pool, worker);
    if (!replaced && !worker->stuck)
        log_event(LOG_ERROR, "worker cannot be replaced", "worker:d stuck:d", worker->index,
                  pool->lost_count + pool->unreplaced + 1);
    pool->unreplaced += !replaced - worker->stuck;
    worker->stuck = !replaced;
}

/* Gives the run up. Its own thread still reads the job, as this one does; neither writes. */
static void give_up(struct client *client, struct worker *worker, time_ms now) {
    char where[SCRIPT_SEEN];
    if (!threads_give_up(worker))
        return;
    store_slot_clear(client->options.store, worker->index);
    script_seen(worker->script, false, where);
    log_event(LOG_ERROR, "handler does not end", "job:l handler:s worker:d over_ms:l at:s",
              worker->job, worker->begun->handler, worker->index, now - end_of(worker), where);
    threads_push(client, outcome_of(client, worker, now, where));
    give_back(client, worker->item);
    replace(client->pool, worker);
}

/* A finalizer that does not end holds up no job but those left in the worker's item. */
static void look_after_closing(struct pool *pool, struct worker *worker, time_ms now) {
    if (worker->closing == TIME_NONE || now < worker->closing + 2 * pool->options.grace ||
        !threads_give_up(worker))
        return;
    log_event(LOG_ERROR, "scripts do not close", "worker:d since_ms:l", worker->index,
              now - worker->closing);
    if (worker->item)
        threads_return(worker->client, worker->item, false);
    replace(pool, worker);
}

/* ---- cutting off ---- */

static void look_for(struct client *client, struct worker *worker) {
    char where[SCRIPT_SEEN];
    script_seen(worker->script, true, where);
    worker->looked = true;
    interrupt(client, worker);
}

static void late(struct client *client, struct worker *worker, time_ms now, time_ms end) {
    time_ms deadline = script_deadline(worker->script), over = now - end;
    if (deadline <= now) {
        worker->cut_off = deadline;
        interrupt(client, worker);
    }
    if (over >= grace(client) / 2 && !worker->looked)
        look_for(client, worker);
    else if (over >= grace(client))
        give_up(client, worker, now);
}

void deadline_cut(struct client *client, struct worker *worker) {
    if (!runs(worker, client))
        return;
    script_cut(worker->script, worker->job, CUT_RETURN);
    interrupt(client, worker);
}

static void look_after(struct client *client, struct worker *worker, time_ms now) {
    look_after_closing(client->pool, worker, now);
    if (worker->stuck && client->pool->lost_count < client->pool->count)
        replace(client->pool, worker);
    if (!runs(worker, client))
        return;
    if (client->cutting)
        deadline_cut(client, worker);
    time_ms end = end_of(worker);
    if (end <= now)
        late(client, worker, now, end);
}

void client_tick(struct client *client) {
    struct pool *pool = client->pool;
    time_ms now = clock_monotonic();
    mutex_lock(&pool->mutex);
    threads_reap(pool);
    for (int i = 0; i < pool->count; i++)
        look_after(client, pool->workers[i], now);
    threads_shrink(pool, now);
    threads_grow(pool);
    struct work_item *items = pool->unreplaced > 0 ? threads_take_all(client) : NULL;
    mutex_unlock(&pool->mutex);
    threads_give_back(client, items, false);
}

/* ---- locks that are lost ---- */

struct claims {
    struct store_claim *list;
    size_t count, room;
};

static void claim(struct claims *claims, int64_t job, int64_t token) {
    if (claims->count < claims->room)
        claims->list[claims->count++] = (struct store_claim){.job = job, .token = token};
}

/* The worker's job, if it is the one it had when this was last asked, or `any` will do. */
static void claim_run(struct claims *claims, struct worker *worker, bool any) {
    if (worker->token != 0 && (any || worker->token == worker->seen))
        claim(claims, worker->job, worker->token);
    worker->seen = worker->token;
}

static void claim_queue(struct claims *claims, const struct queue *queue) {
    for (const struct work_item *item = queue->first; item; item = item->next)
        for (const struct job *job = item->jobs; job && !item->refused; job = job->next)
            claim(claims, job->id, job->token);
}

static void claim_all(struct claims *claims, struct client *client, bool any) {
    struct pool *pool = client->pool;
    mutex_lock(&pool->mutex);
    for (int i = 0; i < pool->count; i++)
        if (pool->workers[i]->client == client)
            claim_run(claims, pool->workers[i], any);
    claim_queue(claims, &client->queue);
    claim_queue(claims, &client->prompt);
    claim_queue(claims, &client->suspects);
    mutex_unlock(&pool->mutex);
}

static int by_job(const void *a, const void *b) {
    const struct store_claim *left = a, *right = b;
    return (left->job > right->job) - (left->job < right->job);
}

static bool is_lost(const struct claims *claims, int64_t job, int64_t token) {
    const struct store_claim *end = claims->list + claims->count;
    struct store_claim key = {.job = job};
    const struct store_claim *found =
        bsearch(&key, claims->list, claims->count, sizeof key, by_job);
    while (found && found > claims->list && found[-1].job == job)
        found--;
    for (; found && found < end && found->job == job; found++)
        if (found->token == token)
            return found->lost;
    return false;
}

/* Cuts the run off. The job may have begun while its lock was asked for. */
static void cancel(struct client *client, struct worker *worker) {
    if (worker->cancelled == TIME_NONE)
        worker->cancelled = clock_monotonic();
    script_cut(worker->script, worker->job, CUT_CANCEL);
    interrupt(client, worker);
}

/* Keeps jobs from beginning that were cancelled, suspended or taken by hand while they waited. */
static void refuse_lost(const struct claims *claims, const struct queue *queue) {
    for (struct work_item *item = queue->first; item; item = item->next)
        for (const struct job *job = item->jobs; job && !item->refused; job = job->next)
            if (is_lost(claims, job->id, job->token))
                atomic_store(&item->refused, 1);
}

static void cut_all(const struct claims *claims, struct client *client) {
    struct pool *pool = client->pool;
    mutex_lock(&pool->mutex);
    for (int i = 0; i < pool->count; i++) {
        struct worker *worker = pool->workers[i];
        if (runs(worker, client) && is_lost(claims, worker->job, worker->token))
            cancel(client, worker);
    }
    refuse_lost(claims, &client->queue);
    refuse_lost(claims, &client->prompt);
    refuse_lost(claims, &client->suspects);
    mutex_unlock(&pool->mutex);
}

static bool any_lost(const struct claims *claims) {
    for (size_t i = 0; i < claims->count; i++)
        if (claims->list[i].lost)
            return true;
    return false;
}

/* This thread alone adds jobs to the client, so `inside` is room for all of them. */
void client_cut_lost(struct client *client, bool any,
                     bool (*ask)(void *arg, struct store_claim *claims, size_t count), void *arg) {
    struct claims claims = {.room = (size_t)(atomic_load(&client->inside) + client->pool->count)};
    claims.list = calloc(claims.room, sizeof *claims.list);
    if (!claims.list)
        return;
    claim_all(&claims, client, any);
    qsort(claims.list, claims.count, sizeof *claims.list, by_job);
    if (claims.count > 0 && ask(arg, claims.list, claims.count) && any_lost(&claims))
        cut_all(&claims, client);
    free(claims.list);
}

/* ---- when to look again ---- */

/* The instant of the next step for a run: to cut it off, to look where it is, to give it up. A hook
 * that looks at the clock by itself cuts it off alone. */
static time_ms next_step(const struct client *client, const struct worker *worker) {
    time_ms end = end_of(worker);
    if (end == TIME_NEVER)
        return TIME_NEVER;
    if (on_signal(client) && end == script_deadline(worker->script) && worker->cut_off != end)
        return end;
    return end + (worker->looked ? grace(client) : grace(client) / 2);
}

time_ms client_deadline(struct client *client) {
    time_ms earliest = TIME_NEVER;
    mutex_lock(&client->pool->mutex);
    for (int i = 0; i < client->pool->count; i++) {
        const struct worker *worker = client->pool->workers[i];
        time_ms next = runs(worker, client) ? next_step(client, worker) : TIME_NEVER;
        earliest = next < earliest ? next : earliest;
    }
    mutex_unlock(&client->pool->mutex);
    return earliest;
}
