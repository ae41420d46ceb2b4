#include "script/watch.h"
#include "base/thread.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LEFT_MAX = 8 }; /* threads left behind; each takes a processor that nothing else wants */

enum stage { RUNNING, ENDED, LEFT };

/* Freed by the second of the two, the thread or watch_run. */
struct watch {
    void (*work)(void *arg);
    void *arg;
    struct thread thread;
    struct semaphore ended;
    _Atomic int stage;
    _Atomic int number; /* of the thread, for the system */
};

static _Atomic int left_behind;

static void discard(struct watch *watch) {
    semaphore_free(&watch->ended);
    free(watch);
}

static void *run(void *arg) {
    struct watch *watch = arg;
    atomic_store(&watch->number, (int)gettid());
    watch->work(watch->arg);
    if (atomic_exchange(&watch->stage, ENDED) == LEFT) {
        atomic_fetch_sub(&left_behind, 1);
        discard(watch);
    } else {
        semaphore_post(&watch->ended);
    }
    return NULL;
}

/* False: it has ended in this moment. */
static bool leave(struct watch *watch) {
    struct thread thread = watch->thread;
    int number = atomic_load(&watch->number);
    atomic_fetch_add(&left_behind, 1);
    if (atomic_exchange(&watch->stage, LEFT) == ENDED) {
        atomic_fetch_sub(&left_behind, 1);
        return false;
    }
    setpriority(PRIO_PROCESS, (id_t)number, 19); /* fails where it has just ended */
    thread_detach(&thread);
    return true;
}

static bool wait_for(struct watch *watch, time_ms span) {
    if (!semaphore_wait_for(&watch->ended, (span + WATCH_GRACE) * 1000) && leave(watch))
        return false;
    thread_join(&watch->thread);
    discard(watch);
    return true;
}

bool watch_run(void (*work)(void *arg), void *arg, time_ms span) {
    if (atomic_load(&left_behind) >= LEFT_MAX)
        return false;
    struct watch *watch = calloc(1, sizeof *watch);
    if (watch) {
        watch->work = work;
        watch->arg = arg;
        semaphore_init(&watch->ended);
        if (thread_start(&watch->thread, run, watch))
            return wait_for(watch, span);
        discard(watch);
    }
    work(arg); /* no thread is to be had */
    return true;
}
