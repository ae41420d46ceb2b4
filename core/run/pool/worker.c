#include "run/pool/worker.h"
#include "base/crash_point.h"
#include "base/log.h"
#include "run/pool/threads.h"

/* The script whose handler runs on this thread, for the signal handler. */
static _Thread_local struct script *volatile running;

void worker_interrupted(int signal) {
    (void)signal;
    if (running)
        script_interrupt(running);
}

/* One that was loaded ahead, else it is loaded now. The folder was loaded once, so a refusal is a
 * shortage that may pass. Takes the reference over. */
static bool open_slot(struct worker *worker, struct lua_slot *slot, struct folder *folder,
                      bool runs) {
    struct error error = {0};
    const struct client_options *client = &slot->client->options;
    struct script_options options = {.folder = folder,
                                     .settings = client->settings,
                                     .clock = client->clock,
                                     .hook = worker->pool->hook,
                                     .models = folder->models,
                                     .host = client->host};
    struct script *script = lua_slot_ready(worker, slot);
    if (script)
        script_join(script, &options);
    else
        script = script_open(&options, &error);
    folder_release(folder);
    if (!script)
        log_event(LOG_ERROR, "worker cannot load the folder", "worker:d reason:s", worker->index,
                  error.text);
    lua_slot_opened(worker, slot, script, runs);
    return script != NULL;
}

/* With the rest of `item` still to run. False: a finalizer took so long that the worker was given
 * up, and the item with it. */
static bool close_slot(struct worker *worker, struct lua_slot *slot, struct work_item *item) {
    struct script *script = lua_slot_closing(worker, slot, item);
    threads_run(worker);
    script_close(script);
    bool ours = threads_ran(worker);
    lua_slot_closed(worker, slot);
    return ours;
}

static bool stops(const struct client *client) {
    return atomic_load(&client->stopping) || thread_told_to_stop();
}

/* False if the lock of the job, or its lane, may be lost: it must not begin at `now` (monotonic).
 */
static bool may_begin(struct client *client, struct work_item *item, time_ms now) {
    time_ms begin_by = item->jobs->begin_by;
    if (!item->undecided && (stops(client) || atomic_load(&item->refused)))
        return false;
    if (now >= atomic_load(&client->lease))
        return false;
    if (item->lapses != atomic_load(&client->lapses)) /* after the lease: the loop counts first */
        return false;
    return !begin_by || now <= begin_by;
}

/* Runs the next job of the item, or decides when it runs again. The slot says, even after kill -9,
 * which job that was. `begun`: monotonic, us. */
static struct outcome *run_job(struct worker *worker, struct lua_slot *slot, struct work_item *item,
                               int64_t begun) {
    struct outcome *outcome = work_item_undecided(item);
    struct job *job = outcome ? outcome->job : work_item_take(item);
    struct store *store = slot->client->options.store;
    time_ms now = clock_now(slot->client->options.clock);
    CRASH_POINT("slot_before");
    store_slot_set(store, worker->index, job->id, job->token, now);
    CRASH_POINT("slot_set");
    const struct pool_options *pool = &worker->pool->options;
    if (pool->begins && !outcome)
        pool->begins(pool->begins_arg, job);
    running = slot->script;
    threads_run(worker);
    if (outcome)
        script_decide(slot->script, outcome);
    else if ((outcome = script_run(slot->script, job, now, begun / 1000)))
        outcome->took = (double)(clock_monotonic_us() - begun) / 1000;
    running = NULL;
    CRASH_POINT("handler_returned");
    if (!threads_ran(worker)) { /* the slot is another worker's now */
        if (outcome)
            outcome->outlived = true;
        return outcome;
    }
    store_slot_clear(store, worker->index);
    CRASH_POINT("slot_cleared");
    return outcome;
}

/* Finds the Lua state for the next job of the item, or of the item that follows it: of the
 * generation that has its handler, and not worn. NULL: it cannot be opened. */
static struct lua_slot *go_on(struct worker *worker, struct client *client, struct lua_slot *slot,
                              struct work_item *item) {
    struct folder *folder = NULL;
    bool worn = slot && script_worn(slot->script);
    if (slot && !worn && !atomic_load(&client->several))
        return slot;
    if (worn && !close_slot(worker, slot, item))
        return NULL;
    slot = lua_slot_serving(worker, client, item->jobs->handler, &folder);
    if (slot && folder)
        return open_slot(worker, slot, folder, true) ? slot : NULL;
    if (slot)
        lua_slot_opened(worker, slot, slot->script, true);
    return slot;
}

/* Once something may follow in the lane, the worker waits for it behind the item's last job. */
static void deliver(struct worker *worker, struct client *client, struct work_item *item,
                    struct outcome *outcome, bool *follows) {
    if (outcome && outcome->outlived) {
        threads_deliver(client, item, outcome);
        return;
    }
    if (outcome && outcome->unit)
        work_item_hand_on(item, outcome);
    *follows = *follows || (outcome && outcome_may_follow(outcome));
    if (*follows && outcome && !item->jobs)
        threads_await(worker, client, outcome);
    threads_deliver(client, item, outcome);
    CRASH_POINT("result_handed_back");
}

/* True if the item takes much longer than was expected. Its jobs, which only share a place under a
 * limit, must not wait for each other then. */
static bool outlasts(const struct work_item *item, int64_t us) {
    return item->jobs && item->jobs->permit && us > (int64_t)HORIZON * 1000;
}

/* On `slot` to begin with; returns the one it ended on. The first job begins at `us` (monotonic):
 * one reading of the clock is the run's begin for all who ask for it. */
static struct lua_slot *run_item(struct worker *worker, struct client *client,
                                 struct lua_slot *slot, struct work_item *item, int64_t us) {
    bool follows = false;
    int64_t since = us;
    while (slot && item->jobs && !outlasts(item, us - since) &&
           may_begin(client, item, us / 1000)) {
        threads_begin(worker, item->jobs);
        struct outcome *outcome = run_job(worker, slot, item, us);
        deliver(worker, client, item, outcome, &follows);
        if (!item->jobs)
            break;
        slot = go_on(worker, client, slot, item);
        us = clock_monotonic_us();
    }
    threads_return(client, item, outlasts(item, us - since));
    work_item_free(item);
    return slot;
}

static void run_items(struct worker *worker, struct lua_slot *slot, struct work_item *item) {
    struct client *client = slot->client;
    slot = run_item(worker, client, slot, item, worker->busy_since);
    while ((item = threads_follow(worker, client))) {
        if (item->jobs)
            slot = go_on(worker, client, slot, item);
        slot = run_item(worker, client, slot, item, clock_monotonic_us());
    }
    if (slot && script_worn(slot->script))
        close_slot(worker, slot, NULL);
}

static void close_all(struct worker *worker) {
    while (worker->lua_slots)
        close_slot(worker, worker->lua_slots, NULL);
}

void *worker_run(void *arg) {
    struct worker *worker = arg;
    struct task task;
    if (worker->pool->hook == HOOK_ON_SIGNAL)
        thread_take_interrupts();
    while ((task = threads_next(worker->pool, worker)).kind != TASK_END) {
        if (task.kind == TASK_RUN)
            run_items(worker, task.slot, task.item);
        else if (task.kind == TASK_OPEN)
            open_slot(worker, task.slot, task.folder, false);
        else
            close_slot(worker, task.slot, NULL);
    }
    close_all(worker);
    threads_leave(worker);
    return NULL;
}
