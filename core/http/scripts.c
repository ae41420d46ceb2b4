#include "http/scripts.h"
#include "base/log.h"
#include "base/thread.h"
#include <stdlib.h>

struct scripts {
    struct scripts_options options;
    struct thread thread;
    struct mutex mutex; /* guards what follows */
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

/* Takes over both. */
static void replace(struct scripts *scripts, struct folder *folder, struct generation *checked) {
    mutex_lock(&scripts->mutex);
    struct folder *before = scripts->folder;
    struct generation *unused = scripts->checked;
    scripts->folder = folder;
    scripts->checked = checked;
    mutex_unlock(&scripts->mutex);
    folder_release(before);
    generation_free(unused);
}

static void read_once(struct scripts *scripts) {
    const struct scripts_options *options = &scripts->options;
    struct error error = {0};
    struct folder *before = scripts_folder(scripts);
    struct folder *folder = options->read(options->paths, &error);
    struct generation *checked =
        folder ? generation_check(folder, before, options->settings, options->clock, false, &error)
               : NULL;
    folder_release(before);
    if (checked)
        replace(scripts, folder, checked);
    else {
        log_event(LOG_WARN, "http keeps the files it has", "error:s", error.text);
        folder_release(folder);
    }
    options->read_ended(options->arg, checked != NULL);
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
    thread_join(&scripts->thread);
}

void scripts_free(struct scripts *scripts) {
    if (!scripts)
        return;
    scripts_end(scripts);
    generation_free(scripts->checked);
    folder_release(scripts->folder);
    mutex_free(&scripts->mutex);
    free(scripts);
}
