#include "http/waker.h"
#include "base/json.h"
#include "base/log.h"
#include "base/reactor.h"
#include "base/thread.h"
#include "engine/fetch.h"
#include <stdlib.h>

enum {
    AGAIN = 1000,  /* ms until the next look where something was there, or the store cannot tell */
    SAFE = 120000, /* ms until the next look in any case */
    REMEMBER = 60000 /* ms for which a topic stays known to the store after its last fetch */
};

struct waker {
    struct waker_options options;
    struct reactor *reactor;
    /* ---- the thread's ---- */
    struct engine *engine; /* NULL: nobody has waited yet, or the store cannot be asked */
    struct watch *bell;    /* NULL: the engine has none */
    json_t *told;          /* an object of the topics that the store knows of */
    time_ms look_at;       /* monotonic */
    bool heard;            /* the store has told, at the bell or while it was asked */
    bool deaf;             /* the store cannot tell */
    bool failed;           /* the last look did, which was logged */
    /* ---- */
    struct thread thread;
    struct mutex mutex; /* guards what follows */
    struct door *door;
    json_t *waiting; /* an object: how many wait for a topic; 0: none of late */
    json_t *left;    /* an object: since when none does, monotonic */
    json_t *rung;    /* an object: when a topic was rung last, monotonic */
    bool fresh;      /* the first came to wait for a topic */
    bool back;       /* the same, of a topic that was rung just now: it has found nothing */
    bool ends;
};

struct waker *waker_new(const struct waker_options *options) {
    struct waker *waker = calloc(1, sizeof *waker);
    if (!waker)
        return NULL;
    waker->options = *options;
    waker->look_at = TIME_NEVER;
    waker->told = json_object();
    waker->waiting = json_object();
    waker->left = json_object();
    waker->rung = json_object();
    mutex_init(&waker->mutex);
    waker->reactor = reactor_new(NULL);
    if (waker->reactor && waker->told && waker->waiting && waker->left && waker->rung)
        return waker;
    waker_free(waker);
    return NULL;
}

/* ---- what is awaited ---- */

/* Takes away names that are older than `span`; those who ask choose them. The mutex is held. */
static void forget_old(json_t *names, time_ms span) {
    const time_ms now = clock_monotonic();
    const char *name;
    void *next;
    json_t *at;
    json_object_foreach_safe(names, next, name, at) if (json_integer_value(at) + span <= now)
        json_object_del(names, name);
}

/* An object: how many wait for each topic for which some do. *fresh: one of them is new. */
static json_t *waiting_now(struct waker *waker, bool *fresh, bool *back, bool *ends) {
    const char *topic;
    json_t *count, *list = json_object();
    mutex_lock(&waker->mutex);
    json_object_foreach(waker->waiting, topic, count) {
        json_object_set_new(list, topic, json_integer(json_integer_value(count)));
    }
    *fresh = waker->fresh;
    *ends = waker->ends;
    *back = waker->back;
    waker->fresh = waker->back = false;
    forget_old(waker->rung, AGAIN);
    forget_old(waker->left, REMEMBER);
    mutex_unlock(&waker->mutex);
    return list;
}

/* True if somebody waits for the topic, or has until lately. */
static bool is_remembered(struct waker *waker, const char *topic, time_ms now) {
    mutex_lock(&waker->mutex);
    const bool remembered =
        json_object_get(waker->waiting, topic) || json_int(waker->left, topic) + REMEMBER > now;
    if (!remembered)
        json_object_del(waker->left, topic);
    mutex_unlock(&waker->mutex);
    return remembered;
}

/* Those that are known and remembered, and those for which somebody waits. *changed: they are not
 * the ones that the store knows of. */
static json_t *topics_to_tell(struct waker *waker, const json_t *waiting, bool *changed) {
    const time_ms now = clock_monotonic();
    const char *topic;
    json_t *value, *next = json_object();
    *changed = false;
    json_object_foreach(waker->told, topic, value) {
        if (is_remembered(waker, topic, now))
            json_object_set_new(next, topic, json_true());
        else
            *changed = true;
    }
    json_object_foreach(json_unchanged(waiting), topic, value) {
        *changed = *changed || !json_object_get(next, topic);
        json_object_set_new(next, topic, json_true());
    }
    return next;
}

/* ---- the store ---- */

static void close_store(struct waker *waker) {
    watch_free(waker->bell);
    waker->bell = NULL;
    engine_close(waker->engine);
    waker->engine = NULL;
    json_object_clear(waker->told);
}

/* What a server has sent need not be known before the next look. */
static void on_bell(void *arg, int events) {
    struct waker *waker = arg;
    (void)events;
    waker->heard = true;
}

static bool listen_to(struct waker *waker, struct error *error) {
    const int bell = engine_bell(waker->engine);
    waker->deaf = bell < 0;
    if (waker->deaf || waker->bell)
        return true;
    waker->bell = watch_new(waker->reactor, bell, on_bell, waker);
    if (!waker->bell)
        return error_no_memory(error);
    watch_for(waker->bell, WATCH_READ);
    return true;
}

static bool tell_store(struct waker *waker, json_t *topics, struct error *error) {
    const char *topic;
    json_t *value, *names = json_array();
    json_object_foreach(topics, topic, value) {
        json_array_append_new(names, json_string(topic));
    }
    const bool done = engine_listen(waker->engine, names, error) && listen_to(waker, error);
    json_decref(names);
    if (done) {
        json_decref(waker->told);
        waker->told = json_incref(topics);
    }
    return done;
}

/* The store knows for what somebody waits. */
static bool prepare(struct waker *waker, const json_t *waiting, struct error *error) {
    bool changed = false, done = true;
    if (!waker->engine)
        waker->engine = waker->options.open(waker->options.arg, error);
    if (!waker->engine || waker->deaf)
        return waker->engine != NULL;
    json_t *topics = topics_to_tell(waker, waiting, &changed);
    if (changed)
        done = tell_store(waker, topics, error);
    json_decref(topics);
    return done;
}

/* ---- looking ---- */

static void ring(struct waker *waker, const json_t *topics) {
    const char *topic;
    json_t *count;
    json_object_foreach(json_unchanged(topics), topic, count) {
        mutex_lock(&waker->mutex);
        json_object_set_new(waker->rung, topic, json_integer(clock_monotonic()));
        mutex_unlock(&waker->mutex);
        door_ring(waker->door, topic, (int)json_integer_value(count));
    }
}

/* What is there and stays there is nothing for those who wait, or for none that was asked: as a
 * rate lets no more begin. */
static bool look(struct waker *waker, const json_t *waiting, struct error *error) {
    json_t *found = NULL;
    time_ms wait = TIME_NEVER;
    if (!engine_awaited(waker->engine, waiting, &found, &wait, error))
        return false;
    wait = wait > 1 ? wait : 1;
    if ((json_object_size(found) > 0 || waker->deaf) && wait > AGAIN)
        wait = AGAIN;
    waker->look_at = clock_monotonic() + (wait < SAFE ? wait : SAFE);
    ring(waker, found);
    json_decref(found);
    return true;
}

/* Those who wait are asked themselves, and hear what is wrong with the store. */
static void fail(struct waker *waker, const json_t *waiting, const struct error *error) {
    if (!waker->failed)
        log_event(LOG_WARN, "fetches are tried each second", "reason:s", error->text);
    waker->failed = true;
    waker->look_at = clock_monotonic() + AGAIN;
    close_store(waker);
    ring(waker, waiting);
}

/* False: it ends. */
static bool turn(struct waker *waker) {
    bool fresh = false, back = false, ends = false;
    struct error error = {0};
    const bool heard = waker->heard;
    if (heard && waker->engine)
        engine_heard(waker->engine);
    json_t *waiting = waiting_now(waker, &fresh, &back, &ends);
    const bool some = json_object_size(waiting) > 0;
    const bool looks = some && (fresh || heard || clock_monotonic() >= waker->look_at);
    bool done = true;
    if (!some)
        waker->look_at = TIME_NEVER;
    else if (back && waker->look_at > clock_monotonic() + AGAIN)
        waker->look_at = clock_monotonic() + AGAIN;
    if (!ends && (looks || heard))
        done = prepare(waker, waiting, &error) && (!looks || look(waker, waiting, &error));
    if (!done)
        fail(waker, waiting, &error);
    else if (looks)
        waker->failed = false;
    waker->heard = waker->engine && engine_heard(waker->engine);
    json_decref(waiting);
    return !ends;
}

static time_ms wait_of(const struct waker *waker) {
    if (waker->heard || waker->look_at == TIME_NEVER)
        return waker->heard ? 0 : TIME_NEVER;
    const time_ms wait = waker->look_at - clock_monotonic();
    return wait > 0 ? wait : 0;
}

static void *run(void *arg) {
    struct waker *waker = arg;
    while (turn(waker))
        reactor_wait(waker->reactor, wait_of(waker));
    close_store(waker);
    return NULL;
}

/* ---- the calls of others ---- */

/* True: it is the first. The mutex is held. */
static bool count_one(struct waker *waker, const char *topic) {
    const int64_t count = json_int(waker->waiting, topic);
    json_object_set_new(waker->waiting, topic, json_integer(count + 1));
    return count == 0;
}

void waker_await(struct waker *waker, struct door *door, const json_t *topics) {
    size_t i;
    const json_t *topic;
    bool first = false;
    mutex_lock(&waker->mutex);
    json_array_foreach(topics, i, topic)
        if (count_one(waker, json_string_value(topic))) {
            const char *name = json_string_value(topic);
            first = true;
            if (json_int(waker->rung, name) + AGAIN > clock_monotonic())
                waker->back = true;
            else
                waker->fresh = true;
        }
    waker->door = door;
    if (!waker->thread.running && !waker->ends)
        thread_start(&waker->thread, run, waker);
    mutex_unlock(&waker->mutex);
    if (first)
        reactor_wake(waker->reactor);
}

/* The mutex is held. */
static void count_off(struct waker *waker, const char *topic) {
    const int64_t count = json_int(waker->waiting, topic);
    if (count > 1) {
        json_object_set_new(waker->waiting, topic, json_integer(count - 1));
        return;
    }
    json_object_del(waker->waiting, topic);
    json_object_set_new(waker->left, topic, json_integer(clock_monotonic()));
}

void waker_leave(struct waker *waker, const json_t *topics) {
    size_t i;
    const json_t *topic;
    mutex_lock(&waker->mutex);
    json_array_foreach(topics, i, topic)
        count_off(waker, json_string_value(topic));
    mutex_unlock(&waker->mutex);
}

void waker_free(struct waker *waker) {
    if (!waker)
        return;
    mutex_lock(&waker->mutex);
    waker->ends = true;
    mutex_unlock(&waker->mutex);
    if (waker->thread.running)
        reactor_wake(waker->reactor);
    thread_join(&waker->thread);
    reactor_free(waker->reactor);
    json_decref(waker->told);
    json_decref(waker->waiting);
    json_decref(waker->left);
    json_decref(waker->rung);
    mutex_free(&waker->mutex);
    free(waker);
}
