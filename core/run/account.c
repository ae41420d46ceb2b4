#include "run/account.h"
#include "base/log.h"
#include "job/store_url.h"
#include "run/pool/threads.h"
#include "time/span.h"

/* It was asked for: said at any level but `error`. */
#define LEVEL LOG_WARN

static void log_runner(struct runner *runner) {
    static const char *const stages[] = {"working", "stopping", "cutting", "ended"};
    const struct runner_status *status = &runner->status;
    const struct generations *generations = engine_generations(runner->engine);
    int running = 0, waiting = 0, stuck = 0;
    char next[TIME_TEXT_SIZE] = "", store[STORE_SHOWN];
    client_load(runner->client, &running, &waiting);
    client_exhausted(runner->client, &stuck);
    if (runner->next != TIME_NEVER)
        time_format(runner->next, next);
    log_event(LEVEL, "state",
              "executor:s store:s stage:s running:d waiting:d stuck:d done:l failed:l stale:l"
              " next:s generations:l deployment:l handlers:l",
              status->name, store_url_show(runner->settings.store, store), stages[runner->stage],
              running, waiting, stuck, status->done, status->failed, status->stale,
              next[0] ? next : NULL, (int64_t)generations->count, generations->list[0]->deployment,
              (int64_t)generations->served.count);
}

static void span_since(time_ms since, char text[TIME_TEXT_SIZE]) {
    span_format(clock_monotonic() - since, text);
}

/* A job may be looked at while it runs: only its client's thread, which this is, frees it. */
static void log_run(const struct worker *worker) {
    char since[TIME_TEXT_SIZE], left[TIME_TEXT_SIZE] = "";
    time_ms deadline = script_deadline(worker->script);
    span_since(worker->busy_since / 1000, since);
    if (deadline != TIME_NEVER)
        span_format(deadline - clock_monotonic(), left);
    log_event(LEVEL, "worker", "worker:d job:l handler:s for:s left:s", worker->index, worker->job,
              worker->begun->handler, since, left[0] ? left : NULL);
}

/* Given up: its outcome, and with it the job, may be gone at any moment. */
static void log_stuck(const struct client *client, const struct worker *worker) {
    char since[TIME_TEXT_SIZE];
    if (worker->client != client || worker->state == WORKER_GONE)
        return;
    span_since(worker->busy_since / 1000, since);
    log_event(LEVEL, "worker", "worker:d stuck:l for:s", worker->index, worker->job, since);
}

static void log_worker(const struct client *client, const struct worker *worker) {
    char since[TIME_TEXT_SIZE];
    bool runs = worker->client == client && worker->state == WORKER_BUSY && worker->script &&
                worker->begun && atomic_load(&worker->claim) == RUN_ON;
    if (worker->stuck)
        log_stuck(client, worker);
    else if (runs)
        log_run(worker);
    else if (worker->state == WORKER_IDLE) {
        span_since(worker->idle_since, since);
        log_event(LEVEL, "worker", "worker:d idle:s", worker->index, since);
    }
}

static void log_queue(const struct queue *queue, const char *name) {
    int64_t jobs = 0;
    for (const struct work_item *item = queue->first; item; item = item->next)
        jobs += item->count;
    if (queue->first)
        log_event(LEVEL, "queue", "queue:s jobs:l next:l handler:s", name, jobs,
                  queue->first->jobs->id, queue->first->jobs->handler);
}

void account_log(struct runner *runner) {
    const struct client *client = runner->client;
    struct pool *pool = client->pool;
    log_runner(runner);
    mutex_lock(&pool->mutex);
    for (int i = 0; i < pool->count; i++)
        log_worker(client, pool->workers[i]);
    for (const struct worker *worker = pool->lost; worker; worker = worker->next)
        log_stuck(client, worker);
    log_queue(&client->prompt, "at once");
    log_queue(&client->suspects, "suspects");
    log_queue(&client->queue, "in order");
    mutex_unlock(&pool->mutex);
}
