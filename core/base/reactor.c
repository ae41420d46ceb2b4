#include "base/reactor.h"
#include <ev.h>
#include <stdlib.h>

struct watch {
    struct ev_io io;
    struct ev_loop *ev;
    void (*call)(void *arg, int events);
    void *arg;
};

struct signal_watch {
    struct ev_signal signal;
    void (*call)(void *arg);
    void *arg;
};

struct reactor {
    struct ev_loop *ev;
    struct ev_async wake;
    struct ev_timer timer;
    struct signal_watch signals[REACTOR_SIGNALS];
    int signal_count;
};

/* ---- beginning and end ---- */

/* Their only effect is that the wait ends. */
static void on_wake(struct ev_loop *ev, struct ev_async *watcher, int events) {
    (void)ev, (void)watcher, (void)events;
}

static void on_timer(struct ev_loop *ev, struct ev_timer *watcher, int events) {
    (void)ev, (void)watcher, (void)events;
}

/* Never the default loop: it would reap the children of handlers. */
struct reactor *reactor_new(struct error *error) {
    struct reactor *reactor = calloc(1, sizeof *reactor);
    if (!reactor)
        return error_null(error_no_memory(error));
    reactor->ev = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
    if (!reactor->ev) {
        free(reactor);
        return error_null(error_set(error, ERROR_FAILED, "the system gives no event loop"));
    }
    ev_async_init(&reactor->wake, on_wake);
    ev_async_start(reactor->ev, &reactor->wake);
    ev_init(&reactor->timer, on_timer);
    return reactor;
}

void reactor_free(struct reactor *reactor) {
    if (!reactor)
        return;
    ev_loop_destroy(reactor->ev);
    free(reactor);
}

/* ---- waiting ---- */

void reactor_wake(struct reactor *reactor) {
    ev_async_send(reactor->ev, &reactor->wake);
}

void reactor_wait(struct reactor *reactor, time_ms ms) {
    if (ms <= 0) {
        ev_run(reactor->ev, EVRUN_NOWAIT);
        return;
    }
    if (ms != TIME_NEVER) {
        ev_now_update(reactor->ev);
        ev_timer_set(&reactor->timer, (double)ms / 1000, 0.);
        ev_timer_start(reactor->ev, &reactor->timer);
    }
    ev_run(reactor->ev, EVRUN_ONCE);
    ev_timer_stop(reactor->ev, &reactor->timer);
}

/* ---- descriptors ---- */

static void on_io(struct ev_loop *ev, struct ev_io *io, int events) {
    struct watch *watch = io->data;
    int seen = (events & EV_READ ? WATCH_READ : 0) | (events & EV_WRITE ? WATCH_WRITE : 0);
    (void)ev;
    watch->call(watch->arg, seen);
}

struct watch *watch_new(struct reactor *reactor, int file, void (*call)(void *arg, int events),
                        void *arg) {
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    watch->ev = reactor->ev;
    watch->call = call;
    watch->arg = arg;
    ev_io_init(&watch->io, on_io, file, 0);
    watch->io.data = watch;
    return watch;
}

void watch_for(struct watch *watch, int events) {
    int wanted = (events & WATCH_READ ? EV_READ : 0) | (events & WATCH_WRITE ? EV_WRITE : 0);
    int file = watch->io.fd;
    if (ev_is_active(&watch->io) && (watch->io.events & (EV_READ | EV_WRITE)) == wanted)
        return;
    ev_io_stop(watch->ev, &watch->io);
    ev_io_set(&watch->io, file, wanted);
    if (wanted)
        ev_io_start(watch->ev, &watch->io);
}

void watch_free(struct watch *watch) {
    if (!watch)
        return;
    ev_io_stop(watch->ev, &watch->io);
    free(watch);
}

/* ---- signals ---- */

static void on_signal(struct ev_loop *ev, struct ev_signal *signal, int events) {
    struct signal_watch *watch = signal->data;
    (void)ev, (void)events;
    watch->call(watch->arg);
}

void reactor_signal(struct reactor *reactor, int signal, void (*call)(void *arg), void *arg) {
    struct signal_watch *watch = &reactor->signals[reactor->signal_count++];
    watch->call = call;
    watch->arg = arg;
    ev_signal_init(&watch->signal, on_signal, signal);
    watch->signal.data = watch;
    ev_signal_start(reactor->ev, &watch->signal);
}

void reactor_signals_end(struct reactor *reactor) {
    while (reactor->signal_count > 0)
        ev_signal_stop(reactor->ev, &reactor->signals[--reactor->signal_count].signal);
}

void reactor_signal_came(int signal) {
    ev_feed_signal(signal);
}
