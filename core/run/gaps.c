#include "run/gaps.h"
#include "base/json.h"
#include "base/log.h"
#include "run/thread.h"
#include "store/store.h"
#include <stdatomic.h>
#include <stdlib.h>

enum { EVERY = 60000, FIRST = 2000 }; /* ms; who starts together with us is there by then */

struct gaps {
    const char *url;
    const struct settings *settings;
    struct clock *clock;
    time_ms due; /* monotonic: not before */
    struct thread thread;
    _Atomic bool asking;
    json_t *known; /* { text = … } of what was warned about; the thread's while it asks */
};

struct gaps *gaps_new(const char *store_url, const struct settings *settings, struct clock *clock) {
    struct gaps *gaps = calloc(1, sizeof *gaps);
    if (!gaps)
        return NULL;
    gaps->url = store_url;
    gaps->settings = settings;
    gaps->clock = clock;
    gaps->due = clock_monotonic() + FIRST;
    gaps->known = json_object();
    return gaps;
}

void gaps_free(struct gaps *gaps) {
    if (!gaps)
        return;
    thread_join(&gaps->thread);
    json_decref(gaps->known);
    free(gaps);
}

/* One line for each change; a count that moves is none. */
static void tell(struct gaps *gaps, const json_t *found) {
    size_t index = 0;
    json_t *gap = NULL, *now = json_object(), *value = NULL;
    const char *key = NULL;
    json_array_foreach(found, index, gap) {
        const char *text = json_string_value(json_object_get(gap, "text"));
        if (!json_object_get(gaps->known, text))
            log_event(LOG_WARN, "jobs that nobody takes", "gap:s jobs:l", text,
                      (int64_t)json_integer_value(json_object_get(gap, "count")));
        json_object_set_new(now, text, json_true());
    }
    json_object_foreach(gaps->known, key, value) {
        if (!json_object_get(now, key))
            log_event(LOG_INFO, "gap closed", "gap:s", key);
    }
    json_decref(gaps->known);
    gaps->known = now;
}

static void *ask(void *arg) {
    struct gaps *gaps = arg;
    struct error error;
    struct store *reader = store_open(gaps->url, STORE_READ, gaps->settings, &error);
    if (reader)
        store_hurry(reader, thread_told_to_stop); /* its end is waited for */
    json_t *found = reader ? store_gaps(reader, clock_now(gaps->clock), &error) : NULL;
    store_close(reader);
    if (found)
        tell(gaps, found);
    else if (!thread_told_to_stop())
        log_event(LOG_WARN, "gap watch failed", "reason:s", error.text);
    json_decref(found);
    atomic_store(&gaps->asking, false);
    return NULL;
}

bool gaps_look(struct gaps *gaps, time_ms now) {
    if (now < gaps->due || atomic_load(&gaps->asking))
        return false;
    thread_join(&gaps->thread);
    gaps->due = now + EVERY;
    atomic_store(&gaps->asking, true);
    if (!thread_start(&gaps->thread, ask, gaps))
        atomic_store(&gaps->asking, false);
    return true;
}
