#include "run/deadline.h"
#include "base/log.h"
#include "base/retry.h"
#include "base/text.h"
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

/* By a textual configuration; a function would have to be asked, which this thread cannot. */
static void decide(const struct client *client, const struct definition *definition,
                   struct outcome *outcome) {
    struct retry retry;
    const struct settings *settings = client->options.settings;
    const char *text = definition && definition->retry_text ? definition->retry_text : NULL;
    if (!text || !retry_parse(text, &retry, NULL))
        return;
    outcome_decide(outcome, settings->failed_job_wait, outcome->ended);
    outcome->due = retry_due(&retry, outcome->job->retries, outcome->ended);
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

/* As if its handler had raised its time limit. What was cancelled has lost its lock already. */
static void fail(const struct client *client, const struct worker *worker, struct outcome *outcome,
                 time_ms now) {
    const char *handler = outcome->job->handler;
    const struct deployment *generation = generations_find(client->generations, handler);
    const struct definition *definition = definitions_find(&generation->definitions, handler);
    time_ms timeout = definition ? definition->timeout : 0;
    time_ms deadline = script_deadline(worker->script);
    bool late = deadline <= now;
    outcome->ended = clock_now(client->options.clock);
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

/* Unrun, into the lane behind the run that goes on. */
static void give_back(struct client *client, struct item *item) {
    struct job *job;
    while ((job = item_take(item))) {
        struct outcome *outcome = outcome_new(job, OUTCOME_RETURNED);
        if (outcome)
            outcome->lane_token = item->lane_token;
        else
            job_free(job);
        crew_push(client, outcome);
    }
}

static void replace(struct pool *pool, struct worker *worker) {
    bool replaced = crew_replace(pool, worker);
    if (!replaced && !worker->stuck)
        log_event(LOG_ERROR, "worker cannot be replaced", "worker:d stuck:d", worker->index,
                  pool->lost_count + pool->unreplaced + 1);
    pool->unreplaced += !replaced - worker->stuck;
    worker->stuck = !replaced;
}

/* The thread that runs the job still reads it, as this one does; neither writes. */
static void give_up(struct client *client, struct worker *worker, time_ms now) {
    char where[SCRIPT_SEEN];
    if (!crew_give_up(worker))
        return;
    store_slot_clear(client->options.store, worker->index);
    script_seen(worker->script, false, where);
    log_event(LOG_ERROR, "handler does not end", "job:l handler:s worker:d over_ms:l at:s",
              worker->job, worker->begun->handler, worker->index, now - end_of(worker), where);
    crew_push(client, outcome_of(client, worker, now, where));
    give_back(client, worker->item);
    replace(client->pool, worker);
}

/* A finalizer that does not end holds up no job but those left in the worker's item. */
static void look_after_closing(struct pool *pool, struct worker *worker, time_ms now) {
    if (worker->closing == TIME_NONE || now < worker->closing + 2 * pool->options.grace ||
        !crew_give_up(worker))
        return;
    log_event(LOG_ERROR, "scripts do not close", "worker:d since_ms:l", worker->index,
              now - worker->closing);
    if (worker->item)
        crew_return(worker->client, worker->item, false);
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
    crew_bury(pool);
    for (int i = 0; i < pool->count; i++)
        look_after(client, pool->workers[i], now);
    crew_shrink(pool, now);
    crew_grow(pool);
    struct item *items = pool->unreplaced > 0 ? crew_take_all(client) : NULL;
    mutex_unlock(&pool->mutex);
    crew_give_back(client, items, false);
}

/* True if the worker's job is worth a question: it is the one it had when this was last asked, or
 * `any` will do. */
static bool long_running(struct client *client, int i, bool any, int64_t *job, int64_t *token) {
    mutex_lock(&client->pool->mutex);
    struct worker *worker = client->pool->workers[i];
    bool ours = worker->client == client;
    bool same = ours && worker->token != 0 && (any || worker->token == worker->seen);
    if (ours)
        worker->seen = worker->token;
    *job = worker->job;
    *token = worker->token;
    mutex_unlock(&client->pool->mutex);
    return same;
}

static void cancel(struct client *client, int i, int64_t token) {
    mutex_lock(&client->pool->mutex);
    struct worker *worker = client->pool->workers[i];
    if (runs(worker, client) && worker->token == token) {
        if (worker->cancelled == TIME_NONE)
            worker->cancelled = clock_monotonic();
        script_cut(worker->script, worker->job, CUT_CANCEL);
        interrupt(client, worker);
    }
    mutex_unlock(&client->pool->mutex);
}

/* Cancelled, suspended or taken by hand while it waited: not to be begun. */
static void refuse_lost(const struct queue *queue,
                        int (*holds)(void *arg, int64_t job, int64_t token), void *arg) {
    for (struct item *item = queue->first; item; item = item->next)
        for (const struct job *job = item->jobs; job && !item->refused; job = job->next)
            if (holds(arg, job->id, job->token) == 0)
                atomic_store(&item->refused, 1);
}

void client_cut_lost(struct client *client, bool any,
                     int (*holds)(void *arg, int64_t job, int64_t token), void *arg) {
    int64_t job, token;
    mutex_lock(&client->pool->mutex);
    refuse_lost(&client->queue, holds, arg);
    refuse_lost(&client->prompt, holds, arg);
    refuse_lost(&client->suspects, holds, arg);
    mutex_unlock(&client->pool->mutex);
    for (int i = 0; i < client->pool->count; i++)
        if (long_running(client, i, any, &job, &token) && holds(arg, job, token) == 0)
            cancel(client, i, token);
}

/* What there is to be done next for a run: to cut it off, to look where it is, to give it up. Where
 * the hook looks at the clock by itself it is cut off without us. */
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
