#include "http/scripts.h"
#include "base/log.h"
#include "base/thread.h"
#include "run/reload.h"
#include <stdlib.h>

struct scripts {
    struct scripts_options options;
    struct thread thread;
    struct semaphore called; /* the files have been read, or the thread is to end */
    struct mutex mutex;      /* guards what follows */
    struct folder *folder;
    struct generation *checked; /* of the folder */
    bool stale;                 /* the files may have changed since they were read */
    bool reads;                 /* the thread is at work */
    bool ended;                 /* nothing is read any more */
};

struct scripts *scripts_new(const struct scripts_options *options) {
    struct scripts *scripts = calloc(1, sizeof *scripts);
    if (!scripts)
        return NULL;
    scripts->options = *options;
    scripts->folder = options->folder ? folder_retain(options->folder) : NULL;
    mutex_init(&scripts->mutex);
    semaphore_init(&scripts->called);
    return scripts;
}

struct folder *scripts_folder(struct scripts *scripts) {
    mutex_lock(&scripts->mutex);
    struct folder *folder = scripts->folder ? folder_retain(scripts->folder) : NULL;
    mutex_unlock(&scripts->mutex);
    return folder;
}

struct generation *scripts_checked(struct scripts *scripts) {
    mutex_lock(&scripts->mutex);
    struct generation *checked = scripts->checked;
    scripts->checked = NULL;
    mutex_unlock(&scripts->mutex);
    return checked;
}

/* Takes over the generation. */
static void replace(struct scripts *scripts, struct generation *checked) {
    struct folder *folder = folder_retain(checked->folder);
    mutex_lock(&scripts->mutex);
    struct folder *before = scripts->folder;
    struct generation *unused = scripts->checked;
    scripts->folder = folder;
    scripts->checked = checked;
    mutex_unlock(&scripts->mutex);
    folder_release(before);
    generation_free(unused);
}

static bool has_ended(struct scripts *scripts) {
    mutex_lock(&scripts->mutex);
    const bool ended = scripts->ended;
    mutex_unlock(&scripts->mutex);
    return ended;
}

static void call(void *arg) {
    struct scripts *scripts = arg;
    semaphore_post(&scripts->called);
}

/* NULL: error. */
static struct reload *start(struct scripts *scripts, struct error *error) {
    const struct scripts_options *options = &scripts->options;
    struct folder *before = scripts_folder(scripts);
    const struct reload_options wanted = {.before = before,
                                          .read = options->read,
                                          .paths = options->paths,
                                          .settings = options->settings,
                                          .clock = options->clock,
                                          .quiet = true,
                                          .wake = call,
                                          .wake_arg = scripts};
    struct reload *reload = reload_start(&wanted, error);
    folder_release(before);
    return reload;
}

/* Files that are being evaluated when the face ends are left to themselves. */
static void read_once(struct scripts *scripts) {
    struct error error = {0};
    struct reload *reload = start(scripts, &error);
    while (reload && !reload_finished(reload) && !has_ended(scripts))
        semaphore_wait_for(&scripts->called, RELOAD_LIMIT * 1000);
    if (has_ended(scripts)) {
        reload_drop(reload);
        return;
    }
    struct generation *checked = reload ? reload_end(reload, &error) : NULL;
    if (checked)
        replace(scripts, checked);
    else
        log_event(LOG_WARN, "http keeps the files it has", "error:s", error.text);
    scripts->options.read_ended(scripts->options.arg, checked != NULL);
}

static bool goes_on(struct scripts *scripts) {
    mutex_lock(&scripts->mutex);
    scripts->reads = scripts->stale;
    scripts->stale = false;
    bool more = scripts->reads;
    mutex_unlock(&scripts->mutex);
    return more;
}

static void *run(void *arg) {
    struct scripts *scripts = arg;
    while (goes_on(scripts))
        read_once(scripts);
    return NULL;
}

/* The mutex is held. */
static void begin(struct scripts *scripts) {
    thread_join(&scripts->thread); /* it is at its end */
    scripts->reads = thread_start(&scripts->thread, run, scripts);
    if (!scripts->reads)
        log_event(LOG_WARN, "http keeps the files it has", "error:s", "the system gives no thread");
}

bool scripts_reload(struct scripts *scripts) {
    mutex_lock(&scripts->mutex);
    scripts->stale = scripts->folder && !scripts->ended && scripts->options.read;
    if (scripts->stale && !scripts->reads)
        begin(scripts);
    const bool reads = scripts->stale && scripts->reads;
    mutex_unlock(&scripts->mutex);
    return reads;
}

void scripts_end(struct scripts *scripts) {
    if (!scripts)
        return;
    mutex_lock(&scripts->mutex);
    scripts->ended = true;
    scripts->stale = false;
    mutex_unlock(&scripts->mutex);
    call(scripts);
    thread_join(&scripts->thread);
}

void scripts_free(struct scripts *scripts) {
    if (!scripts)
        return;
    scripts_end(scripts);
    semaphore_free(&scripts->called);
    generation_free(scripts->checked);
    folder_release(scripts->folder);
    mutex_free(&scripts->mutex);
    free(scripts);
}
