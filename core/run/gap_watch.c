#include "run/gap_watch.h"
#include "base/log.h"
#include "base/thread.h"
#include "store/store.h"
#include <stdatomic.h>
#include <stdlib.h>

enum { EVERY = 60000, FIRST = 2000 }; /* ms; executors that start together are there by then */

struct gap_watch {
    const char *url;
    const struct settings *settings;
    struct clock *clock;
    time_ms due; /* monotonic: not before */
    struct thread thread;
    _Atomic bool asking;
    json_t *known; /* { text = … }, each warned about; the thread's while it asks */
};

struct gap_watch *gap_watch_new(const char *store_url, const struct settings *settings,
                                struct clock *clock) {
    struct gap_watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    watch->url = store_url;
    watch->settings = settings;
    watch->clock = clock;
    watch->due = clock_monotonic() + FIRST;
    watch->known = json_object();
    return watch;
}

void gap_watch_free(struct gap_watch *watch) {
    if (!watch)
        return;
    thread_join(&watch->thread);
    json_decref(watch->known);
    free(watch);
}

/* One line for each change; a count that moves is none. */
static void tell(struct gap_watch *watch, const json_t *found) {
    size_t index = 0;
    json_t *unserved = NULL, *now = json_object(), *value = NULL;
    const char *key = NULL;
    json_array_foreach(found, index, unserved) {
        const char *text = json_string_value(json_object_get(unserved, "text"));
        if (!json_object_get(watch->known, text))
            log_event(LOG_WARN, "unserved jobs", "gap:s jobs:l", text,
                      (int64_t)json_integer_value(json_object_get(unserved, "count")));
        json_object_set_new(now, text, json_true());
    }
    json_object_foreach(watch->known, key, value) {
        if (!json_object_get(now, key))
            log_event(LOG_INFO, "gap closed", "gap:s", key);
    }
    json_decref(watch->known);
    watch->known = now;
}

static void *ask(void *arg) {
    struct gap_watch *watch = arg;
    struct error error = {0};
    struct store *reader = store_open(watch->url, STORE_READ, watch->settings, &error);
    if (reader)
        store_set_impatient(reader, thread_told_to_stop); /* its end is waited for */
    json_t *found = reader ? store_unserved(reader, clock_now(watch->clock), &error) : NULL;
    store_close(reader);
    if (found)
        tell(watch, found);
    else if (!thread_told_to_stop())
        log_event(LOG_WARN, "gap watch failed", "reason:s", error.text);
    json_decref(found);
    atomic_store(&watch->asking, false);
    return NULL;
}

bool gap_watch_look(struct gap_watch *watch, time_ms now) {
    if (now < watch->due || atomic_load(&watch->asking))
        return false;
    thread_join(&watch->thread);
    watch->due = now + EVERY;
    atomic_store(&watch->asking, true);
    if (!thread_start(&watch->thread, ask, watch))
        atomic_store(&watch->asking, false);
    return true;
}
