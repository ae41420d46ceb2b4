#include "run/worker.h"
#include "base/crash_point.h"
#include "base/log.h"
#include "run/seat.h"

/* The script whose handler runs on this thread, for the signal handler. */
static _Thread_local struct script *volatile running;

void worker_interrupted(int signal) {
    (void)signal;
    if (running)
        script_interrupt(running);
}

/* The folder was loaded once, so a refusal is a shortage that may pass. Takes the reference over.
 */
static bool open_seat(struct worker *worker, struct seat *seat, struct folder *folder, bool runs) {
    struct error error = {0};
    const struct client_options *client = &seat->client->options;
    struct script_options options = {.folder = folder,
                                     .settings = client->settings,
                                     .clock = client->clock,
                                     .hook = worker->pool->hook,
                                     .host = client->host,
                                     .modules = DEPLOYMENT_NO_REFERENCE,
                                     .handlers = DEPLOYMENT_NO_REFERENCE};
    struct script *script = script_open(&options, &error);
    folder_release(folder);
    if (!script)
        log_event(LOG_ERROR, "worker cannot load the folder", "worker:d reason:s", worker->index,
                  error.text);
    seat_opened(worker, seat, script, runs);
    return script != NULL;
}

/* With the rest of `item` still to run. False: a finalizer took so long that the worker was given
 * up, and the item with it. */
static bool close_seat(struct worker *worker, struct seat *seat, struct item *item) {
    struct script *script = seat_closing(worker, seat, item);
    crew_run(worker);
    script_close(script);
    bool ours = crew_ran(worker);
    seat_closed(worker, seat);
    return ours;
}

static bool stops(const struct client *client) {
    return atomic_load(&client->stopping) || thread_told_to_stop();
}

/* A job whose lock may be lost, or whose lane is, must not begin. */
static bool may_begin(struct client *client, struct item *item) {
    return !stops(client) && !atomic_load(&item->refused) &&
           clock_monotonic() < atomic_load(&client->lease) &&
           (!item->jobs->begin_by || clock_monotonic() <= item->jobs->begin_by) &&
           item->lapses == atomic_load(&client->lapses);
}

/* The slot says, even after kill -9, which job was running. */
static struct outcome *run_job(struct worker *worker, struct seat *seat, struct job *job) {
    struct store *store = seat->client->options.store;
    CRASH_POINT("slot_before");
    store_slot_set(store, worker->index, job->id, job->token,
                   clock_now(seat->client->options.clock));
    CRASH_POINT("slot_set");
    const struct pool_options *pool = &worker->pool->options;
    if (pool->begins)
        pool->begins(pool->begins_arg, job);
    running = seat->script;
    int64_t begun = clock_monotonic_us();
    crew_run(worker);
    struct outcome *outcome = script_run(seat->script, job);
    running = NULL;
    if (outcome)
        outcome->took = (double)(clock_monotonic_us() - begun) / 1000;
    CRASH_POINT("handler_returned");
    if (!crew_ran(worker)) { /* the slot is another worker's now */
        if (outcome)
            outcome->outlived = true;
        return outcome;
    }
    store_slot_clear(store, worker->index);
    CRASH_POINT("slot_cleared");
    return outcome;
}

/* Another job of the item, or of one that follows it: on the generation that has its handler, on a
 * script that is not worn. NULL: it cannot be opened. */
static struct seat *go_on(struct worker *worker, struct client *client, struct seat *seat,
                          struct item *item) {
    struct folder *folder = NULL;
    bool worn = seat && script_worn(seat->script);
    if (seat && !worn && !atomic_load(&client->several))
        return seat;
    if (worn && !close_seat(worker, seat, item))
        return NULL;
    seat = seat_serving(worker, client, item->jobs->handler, &folder);
    if (seat && folder)
        return open_seat(worker, seat, folder, true) ? seat : NULL;
    if (seat)
        seat_opened(worker, seat, seat->script, true);
    return seat;
}

/* Once something may follow in the lane, the worker waits for it behind the item's last job. */
static void deliver(struct worker *worker, struct client *client, struct item *item,
                    struct outcome *outcome, bool *follows) {
    if (outcome && outcome->outlived) {
        crew_deliver(client, item, outcome);
        return;
    }
    *follows = *follows || (outcome && outcome_may_follow(outcome));
    if (*follows && outcome && !item->jobs)
        crew_await(worker, outcome);
    crew_deliver(client, item, outcome);
    CRASH_POINT("result_handed_back");
}

/* On `seat` to begin with; returns the one it ended on. */
static struct seat *run_item(struct worker *worker, struct client *client, struct seat *seat,
                             struct item *item) {
    bool follows = false;
    while (seat && item->jobs && may_begin(client, item)) {
        crew_begin(worker, item->jobs);
        struct job *job = item_take(item);
        deliver(worker, client, item, run_job(worker, seat, job), &follows);
        if (item->jobs)
            seat = go_on(worker, client, seat, item);
    }
    crew_return(client, item, false);
    item_free(item);
    return seat;
}

static void run_items(struct worker *worker, struct seat *seat, struct item *item) {
    struct client *client = seat->client;
    seat = run_item(worker, client, seat, item);
    while ((item = crew_follow(worker, client))) {
        if (item->jobs)
            seat = go_on(worker, client, seat, item);
        seat = run_item(worker, client, seat, item);
    }
    if (seat && script_worn(seat->script))
        close_seat(worker, seat, NULL);
}

static void close_all(struct worker *worker) {
    while (worker->seats)
        close_seat(worker, worker->seats, NULL);
}

void *worker_run(void *arg) {
    struct worker *worker = arg;
    struct duty duty;
    if (worker->pool->hook == HOOK_ON_SIGNAL)
        thread_take_interrupts();
    while ((duty = crew_next(worker->pool, worker)).kind != DUTY_END) {
        if (duty.kind == DUTY_RUN)
            run_items(worker, duty.seat, duty.item);
        else if (duty.kind == DUTY_OPEN)
            open_seat(worker, duty.seat, duty.folder, false);
        else
            close_seat(worker, duty.seat, NULL);
    }
    close_all(worker);
    crew_leave(worker);
    return NULL;
}
