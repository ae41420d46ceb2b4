#include "run/loop.h"
#include "run/foreman.h"
#include "run/thread.h"
#include <ev.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct loop {
    struct loop_options options; /* its texts and settings are ours */
    struct settings settings;
    char *url;
    struct foreman *foreman;
    struct ev_loop *ev;
    struct ev_async wake;
    struct ev_io bell;
    struct ev_timer timer;
    struct ev_signal terminate, interrupt, hang_up;
    _Atomic int stops;
    _Atomic bool reloads;
};

/* ---- watchers: they only remember what happened; the round acts ---- */

static void on_wake(struct ev_loop *ev, struct ev_async *watcher, int events) {
    (void)ev, (void)watcher, (void)events;
}

static void on_timer(struct ev_loop *ev, struct ev_timer *watcher, int events) {
    (void)ev, (void)watcher, (void)events;
}

static void on_bell(struct ev_loop *ev, struct ev_io *watcher, int events) {
    struct loop *loop = watcher->data;
    (void)ev, (void)events;
    foreman_rang(loop->foreman);
}

static void on_stop(struct ev_loop *ev, struct ev_signal *watcher, int events) {
    struct loop *loop = watcher->data;
    (void)ev, (void)events;
    atomic_fetch_add(&loop->stops, 1);
}

static void on_hang_up(struct ev_loop *ev, struct ev_signal *watcher, int events) {
    struct loop *loop = watcher->data;
    (void)ev, (void)events;
    atomic_store(&loop->reloads, true);
}

static void wake(void *arg) {
    struct loop *loop = arg;
    ev_async_send(loop->ev, &loop->wake);
}

/* ---- beginning and end ---- */

static void watch_signal(struct loop *loop, struct ev_signal *watcher, int number,
                         void (*handler)(struct ev_loop *, struct ev_signal *, int)) {
    ev_signal_init(watcher, handler, number);
    watcher->data = loop;
    ev_signal_start(loop->ev, watcher);
}

static void watch_signals(struct loop *loop) {
    thread_survive_pipes();
    watch_signal(loop, &loop->terminate, SIGTERM, on_stop);
    watch_signal(loop, &loop->interrupt, SIGINT, on_stop);
    watch_signal(loop, &loop->hang_up, SIGHUP, on_hang_up);
}

static void ignore_signals(struct loop *loop) {
    ev_signal_stop(loop->ev, &loop->terminate);
    ev_signal_stop(loop->ev, &loop->interrupt);
    ev_signal_stop(loop->ev, &loop->hang_up);
}

static void watch_all(struct loop *loop) {
    int bell = foreman_bell(loop->foreman);
    ev_init(&loop->timer, on_timer);
    ev_init(&loop->bell, on_bell);
    loop->bell.data = loop;
    if (bell < 0)
        return;
    ev_io_set(&loop->bell, bell, EV_READ);
    ev_io_start(loop->ev, &loop->bell);
}

/* Our own copy: a handler that does not end keeps using them when the caller's are gone. */
static bool keep_settings(struct loop *loop) {
    const struct settings *given = loop->options.settings;
    struct settings *own = &loop->settings;
    *own = *given;
    loop->url = strdup(loop->options.store_url);
    own->store = given->store ? strdup(given->store) : NULL;
    own->name = given->name ? strdup(given->name) : NULL;
    own->who = given->who ? strdup(given->who) : NULL;
    own->retry = given->retry ? strdup(given->retry) : NULL;
    own->acquisition = given->acquisition ? strdup(given->acquisition) : NULL;
    own->categories = json_deep_copy(given->categories);
    loop->options.settings = own;
    loop->options.store_url = loop->url;
    return loop->url && !own->store == !given->store && !own->name == !given->name &&
           !own->who == !given->who && !own->retry == !given->retry &&
           !own->acquisition == !given->acquisition && !own->categories == !given->categories;
}

static void drop(struct loop *loop) {
    if (loop->ev)
        ev_loop_destroy(loop->ev);
    settings_clear(&loop->settings);
    free(loop->url);
    free(loop);
}

/* Never the default loop: it would reap the children of handlers. */
static bool open_loop(struct loop *loop, struct error *error) {
    loop->ev = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
    if (!loop->ev)
        return error_set(error, ERROR_FAILED, "the system gives no event loop");
    ev_async_init(&loop->wake, on_wake);
    ev_async_start(loop->ev, &loop->wake);
    loop->foreman = foreman_new(&loop->options, wake, loop, error);
    if (!loop->foreman)
        return false;
    watch_all(loop);
    return true;
}

struct loop *loop_new(const struct loop_options *options, struct error *error) {
    struct loop *loop = calloc(1, sizeof *loop);
    if (!loop) {
        error_set(error, ERROR_FAILED, "out of memory");
        return NULL;
    }
    loop->options = *options;
    if (!keep_settings(loop))
        error_set(error, ERROR_FAILED, "out of memory");
    else if (open_loop(loop, error))
        return loop;
    drop(loop);
    return NULL;
}

void loop_free(struct loop *loop) {
    if (!loop || !foreman_free(loop->foreman))
        return;
    ev_io_stop(loop->ev, &loop->bell);
    drop(loop);
}

/* ---- running ---- */

static void wait(struct loop *loop, time_ms ms) {
    if (ms == 0) {
        ev_run(loop->ev, EVRUN_NOWAIT);
        return;
    }
    ev_now_update(loop->ev);
    ev_timer_set(&loop->timer, (double)ms / 1000, 0.);
    ev_timer_start(loop->ev, &loop->timer);
    ev_run(loop->ev, EVRUN_ONCE);
    ev_timer_stop(loop->ev, &loop->timer);
}

bool loop_run(struct loop *loop, struct error *error) {
    if (loop->options.signals)
        watch_signals(loop);
    while (foreman_round(loop->foreman)) {
        wait(loop, foreman_wait(loop->foreman));
        foreman_stop(loop->foreman, atomic_load(&loop->stops));
        if (atomic_exchange(&loop->reloads, false))
            foreman_reload(loop->foreman);
    }
    if (loop->options.signals)
        ignore_signals(loop);
    return foreman_verdict(loop->foreman, error);
}

void loop_stop(struct loop *loop) {
    atomic_fetch_add(&loop->stops, 1);
    wake(loop);
}

void loop_reload(struct loop *loop) {
    atomic_store(&loop->reloads, true);
    wake(loop);
}

void loop_status(struct loop *loop, struct loop_status *status) {
    foreman_status(loop->foreman, status);
}
