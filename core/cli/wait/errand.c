#include "cli/wait/errand.h"

void errand_init(struct errand *errand) {
    mutex_init(&errand->mutex);
    condition_init(&errand->over);
}

void errand_free(struct errand *errand) {
    condition_free(&errand->over);
    mutex_free(&errand->mutex);
}

static void *run(void *arg) {
    struct errand *errand = arg;
    errand->run(errand->arg);
    mutex_lock(&errand->mutex);
    errand->done = true;
    condition_signal(&errand->over);
    mutex_unlock(&errand->mutex);
    return NULL;
}

void errand_begin(struct errand *errand, void (*work)(void *arg), void *arg) {
    errand->run = work;
    errand->arg = arg;
    errand->done = false;
    errand->began = clock_monotonic();
    if (!thread_start(&errand->thread, run, errand))
        work(arg);
}

bool errand_over(struct errand *errand, time_ms wait) {
    const time_ms until = clock_monotonic() + wait;
    if (!errand->thread.running)
        return true;
    mutex_lock(&errand->mutex);
    while (!errand->done && clock_monotonic() < until)
        condition_wait_until(&errand->over, &errand->mutex, until);
    const bool done = errand->done;
    mutex_unlock(&errand->mutex);
    if (done)
        thread_join(&errand->thread);
    return done;
}
