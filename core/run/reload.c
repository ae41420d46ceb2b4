#include "run/reload.h"
#include "base/crash_point.h"
#include "base/log.h"
#include "base/thread.h"
#include <stdlib.h>

enum stage { LOADING, FINISHED, ABANDONED };

struct reload {
    struct reload_options options;
    struct settings settings; /* our own, as the paths: the thread may outlive the engine */
    json_t *paths;
    struct thread thread;
    time_ms deadline;
    struct generation *generation; /* the thread's, until it has finished */
    struct error error;            /* the same: why there is none */
    struct mutex mutex;            /* guards what follows */
    enum stage stage;
};

static bool goes_on(struct reload *reload) {
    mutex_lock(&reload->mutex);
    bool loading = reload->stage == LOADING;
    mutex_unlock(&reload->mutex);
    return loading && clock_monotonic() < reload->deadline - RELOAD_LIMIT + RELOAD_WARM;
}

/* The workers run jobs of the generation before meanwhile. One that finds no state loads its own.
 */
static void warm(struct reload *reload) {
    struct generation *generation = reload->generation;
    for (int i = 0; i < reload->options.states && goes_on(reload); i++)
        if (!generation_warm(generation, &reload->settings, reload->options.clock))
            break;
}

/* What has no file to name is logged here. */
static void refuse(bool quiet, const struct error *error) {
    if (!quiet)
        log_event(LOG_ERROR, "folder refused", "reason:s", error->text);
}

static void load(struct reload *reload) {
    const struct reload_options *options = &reload->options;
    struct folder *folder = options->read(reload->paths, &reload->error);
    if (!folder) {
        refuse(options->quiet, &reload->error);
        return;
    }
    reload->generation = generation_check(folder, options->before, &reload->settings,
                                          options->clock, !options->quiet, &reload->error);
    folder_release(folder);
    if (reload->generation)
        warm(reload);
    CRASH_POINT("reload_loaded");
}

static void discard(struct reload *reload) {
    generation_free(reload->generation);
    settings_clear(&reload->settings);
    json_decref(reload->paths);
    folder_release(reload->options.before);
    clock_release(reload->options.clock);
    mutex_free(&reload->mutex);
    free(reload);
}

/* The second of the two, the thread or reload_end, cleans up. */
static void *run(void *arg) {
    struct reload *reload = arg;
    load(reload);
    mutex_lock(&reload->mutex);
    bool abandoned = reload->stage == ABANDONED;
    if (!abandoned)
        reload->stage = FINISHED;
    if (!abandoned)
        reload->options.wake(reload->options.wake_arg);
    mutex_unlock(&reload->mutex);
    if (abandoned)
        discard(reload);
    return NULL;
}

static bool keep_options(struct reload *reload, const struct reload_options *options,
                         struct error *error) {
    reload->options = *options;
    reload->options.clock = clock_retain(options->clock);
    reload->options.before = folder_retain(options->before);
    reload->paths = json_deep_copy(options->paths);
    return (reload->paths || error_no_memory(error)) &&
           settings_copy(&reload->settings, options->settings, error);
}

struct reload *reload_start(const struct reload_options *options, struct error *error) {
    struct reload *reload = calloc(1, sizeof *reload);
    if (!reload)
        return error_null(error_no_memory(error));
    mutex_init(&reload->mutex);
    reload->deadline = clock_monotonic() + RELOAD_LIMIT;
    if (keep_options(reload, options, error)) {
        if (thread_start(&reload->thread, run, reload))
            return reload;
        error_set(error, ERROR_FAILED, "the system gives no thread for loading the folder");
    }
    discard(reload);
    return NULL;
}

bool reload_finished(struct reload *reload) {
    mutex_lock(&reload->mutex);
    bool finished = reload->stage == FINISHED;
    mutex_unlock(&reload->mutex);
    return finished || clock_monotonic() >= reload->deadline;
}

/* False: the thread is left behind, and frees the rest. Its handle is copied for that. */
static bool join(struct reload *reload) {
    struct thread thread = reload->thread;
    mutex_lock(&reload->mutex);
    bool finished = reload->stage == FINISHED;
    if (!finished)
        reload->stage = ABANDONED;
    mutex_unlock(&reload->mutex);
    if (finished)
        thread_join(&thread);
    else
        thread_detach(&thread);
    return finished;
}

struct generation *reload_end(struct reload *reload, struct error *error) {
    static const struct error endless = {ERROR_CONFIG, "loading does not end"};
    const bool quiet = reload->options.quiet;
    if (!join(reload)) {
        refuse(quiet, &endless);
        error_set(error, endless.code, "%s", endless.text);
        return NULL;
    }
    struct generation *generation = reload->generation;
    if (!generation)
        error_set(error, reload->error.code, "%s", reload->error.text);
    if (generation)
        generation_join(generation, reload->options.settings, reload->options.clock);
    reload->generation = NULL;
    discard(reload);
    return generation;
}

void reload_drop(struct reload *reload) {
    if (reload && join(reload))
        discard(reload);
}
