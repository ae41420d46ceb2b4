#include "run/reload.h"
#include "base/log.h"
#include "run/thread.h"
#include <stdlib.h>

enum stage { LOADING, FINISHED, ABANDONED };

struct reload {
    struct reload_options options;
    struct thread thread;
    time_ms deadline;
    struct deployment *deployment; /* the thread's, until it has finished */
    struct mutex mutex;            /* guards what follows */
    struct condition finished;
    enum stage stage;
};

static void load(struct reload *reload) {
    struct error error = {0};
    const struct reload_options *options = &reload->options;
    struct folder *folder = options->read(options->read_arg, &error);
    if (!folder) {
        log_event(LOG_ERROR, "folder refused", "reason:s", error.text);
        return;
    }
    reload->deployment = deployment_load(folder, options->settings, options->clock, true, &error);
    folder_release(folder);
}

static void discard(struct reload *reload) {
    deployment_free(reload->deployment);
    condition_free(&reload->finished);
    mutex_free(&reload->mutex);
    free(reload);
}

/* Whoever comes second, the thread or reload_end, cleans up. */
static void *run(void *arg) {
    struct reload *reload = arg;
    load(reload);
    mutex_lock(&reload->mutex);
    bool abandoned = reload->stage == ABANDONED;
    if (!abandoned)
        reload->stage = FINISHED;
    condition_broadcast(&reload->finished);
    if (!abandoned)
        reload->options.wake(reload->options.wake_arg);
    mutex_unlock(&reload->mutex);
    if (abandoned)
        discard(reload);
    return NULL;
}

struct reload *reload_start(const struct reload_options *options, struct error *error) {
    struct reload *reload = calloc(1, sizeof *reload);
    if (!reload) {
        error_set(error, ERROR_FAILED, "out of memory");
        return NULL;
    }
    reload->options = *options;
    reload->deadline = clock_monotonic() + RELOAD_LIMIT;
    mutex_init(&reload->mutex);
    condition_init(&reload->finished);
    if (thread_start(&reload->thread, run, reload))
        return reload;
    discard(reload);
    error_set(error, ERROR_FAILED, "the system gives no thread for loading the folder");
    return NULL;
}

bool reload_finished(struct reload *reload) {
    mutex_lock(&reload->mutex);
    bool finished = reload->stage == FINISHED;
    mutex_unlock(&reload->mutex);
    return finished || clock_monotonic() >= reload->deadline;
}

/* The thread's handle is copied: an abandoned thread frees the rest. */
struct deployment *reload_end(struct reload *reload) {
    struct thread thread = reload->thread;
    mutex_lock(&reload->mutex);
    while (reload->stage == LOADING && clock_monotonic() < reload->deadline)
        condition_wait_until(&reload->finished, &reload->mutex, reload->deadline);
    bool finished = reload->stage == FINISHED;
    if (!finished)
        reload->stage = ABANDONED;
    mutex_unlock(&reload->mutex);
    if (!finished) {
        thread_detach(&thread);
        log_event(LOG_ERROR, "folder refused", "reason:s", "loading does not end");
        return NULL;
    }
    thread_join(&thread);
    struct deployment *deployment = reload->deployment;
    reload->deployment = NULL;
    discard(reload);
    return deployment;
}
