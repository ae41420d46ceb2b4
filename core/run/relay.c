#include "run/relay.h"
#include "base/log.h"
#include "base/thread.h"
#include "engine/outbox.h"
#include "store/outbox.h"
#include <stdatomic.h>
#include <stdlib.h>

enum { RETRY_WAIT = 1000, IDLE_WAIT = 60000 }; /* ms */

struct relay {
    const struct settings *settings;
    struct clock *clock;
    void (*wake)(void *arg);
    void *wake_arg;
    struct thread thread;
    struct engine *engine; /* the thread's; NULL: none is open */
    _Atomic bool made, ends;
    struct mutex mutex; /* guards what follows */
    struct condition changed;
    bool asked;
};

struct relay *relay_new(const struct settings *settings, struct clock *clock,
                        void (*wake)(void *arg), void *wake_arg) {
    struct relay *relay = calloc(1, sizeof *relay);
    if (!relay)
        return NULL;
    relay->settings = settings;
    relay->clock = clock;
    relay->wake = wake;
    relay->wake_arg = wake_arg;
    mutex_init(&relay->mutex);
    condition_init(&relay->changed);
    return relay;
}

/* ---- the thread ---- */

static bool open_engine(struct relay *relay, struct error *error) {
    const struct engine_options options = {.settings = relay->settings,
                                           .mode = STORE_WRITE,
                                           .clock = relay->clock,
                                           .hurries = thread_told_to_stop};
    if (!relay->engine)
        relay->engine = engine_open(&options, error);
    return relay->engine != NULL;
}

/* What was loaded of earlier deployments goes with the engine. */
static void close_engine(struct relay *relay) {
    engine_close(relay->engine);
    relay->engine = NULL;
}

static bool make_all(struct relay *relay, struct error *error) {
    bool more = true, done = open_engine(relay, error);
    while (done && more && !atomic_load(&relay->ends))
        done = engine_outbox(relay->engine, &more, error);
    return done;
}

static void tell_failure(const struct error *error) {
    if (!thread_told_to_stop())
        log_event(LOG_WARN, "outbox waits", "reason:s retry_ms:d", error->text, RETRY_WAIT);
}

/* Returns when to look again at the latest: the instant is monotonic. */
static time_ms work(struct relay *relay) {
    struct error error = {0};
    if (make_all(relay, &error)) {
        atomic_store(&relay->made, true);
        relay->wake(relay->wake_arg);
        return TIME_NEVER;
    }
    tell_failure(&error);
    close_engine(relay);
    return clock_monotonic() + RETRY_WAIT;
}

static void *run(void *arg) {
    struct relay *relay = arg;
    time_ms again = TIME_NEVER;
    mutex_lock(&relay->mutex);
    while (!atomic_load(&relay->ends)) {
        const time_ms idle = clock_monotonic() + IDLE_WAIT;
        const bool works = again == TIME_NEVER ? relay->asked : clock_monotonic() >= again;
        if (works) {
            relay->asked = false;
            mutex_unlock(&relay->mutex);
            again = work(relay);
            mutex_lock(&relay->mutex);
        } else if (!condition_wait_until(&relay->changed, &relay->mutex,
                                         again < idle ? again : idle) &&
                   again == TIME_NEVER) {
            close_engine(relay);
        }
    }
    mutex_unlock(&relay->mutex);
    close_engine(relay);
    return NULL;
}

/* ---- the loop's thread ---- */

void relay_look(struct relay *relay, const struct store *store) {
    if (!store_outbox_waits(store))
        return;
    mutex_lock(&relay->mutex);
    relay->asked = true;
    condition_signal(&relay->changed);
    mutex_unlock(&relay->mutex);
    if (!relay->thread.running && !thread_start(&relay->thread, run, relay))
        log_event(LOG_WARN, "outbox waits", "reason:s", "the system gives no thread");
}

bool relay_made(struct relay *relay) {
    return atomic_exchange(&relay->made, false);
}

void relay_free(struct relay *relay) {
    if (!relay)
        return;
    mutex_lock(&relay->mutex);
    atomic_store(&relay->ends, true);
    condition_signal(&relay->changed);
    mutex_unlock(&relay->mutex);
    thread_join(&relay->thread);
    condition_free(&relay->changed);
    mutex_free(&relay->mutex);
    free(relay);
}
