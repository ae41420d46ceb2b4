#include "run/loop.h"
#include "base/thread.h"
#include <ev.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { TICK = 1000 };

/* A runner and its doorbell. */
struct post {
    struct post *next;
    struct runner *runner;
    struct ev_io bell;
};

struct loop {
    struct loop_options options;
    struct ev_loop *ev;
    struct ev_async wake;
    struct ev_timer timer;
    struct ev_signal terminate, interrupt, hang_up, question;
    struct post *posts;    /* the loop's thread only, in the order they came */
    time_ms tick_at;       /* monotonic */
    struct mutex mutex;    /* guards the newcomers */
    struct post *incoming; /* newest first */
    _Atomic bool ends, drained;
};

/* ---- watchers: they only remember what happened; the round acts ---- */

static void on_wake(struct ev_loop *ev, struct ev_async *watcher, int events) {
    (void)ev, (void)watcher, (void)events;
}

static void on_timer(struct ev_loop *ev, struct ev_timer *watcher, int events) {
    (void)ev, (void)watcher, (void)events;
}

static void on_bell(struct ev_loop *ev, struct ev_io *watcher, int events) {
    struct post *post = watcher->data;
    (void)ev, (void)events;
    runner_rang(post->runner);
}

static void on_stop(struct ev_loop *ev, struct ev_signal *watcher, int events) {
    struct loop *loop = watcher->data;
    (void)ev, (void)events;
    loop->options.stop(loop->options.arg);
}

static void on_hang_up(struct ev_loop *ev, struct ev_signal *watcher, int events) {
    struct loop *loop = watcher->data;
    (void)ev, (void)events;
    loop->options.reload(loop->options.arg);
}

static void on_question(struct ev_loop *ev, struct ev_signal *watcher, int events) {
    struct loop *loop = watcher->data;
    (void)ev, (void)events;
    loop->options.tell(loop->options.arg);
}

void loop_wake(void *arg) {
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

/* True: a hang-up was held until now. */
static bool watch_signals(struct loop *loop) {
    thread_survive_pipes();
    watch_signal(loop, &loop->terminate, SIGTERM, on_stop);
    watch_signal(loop, &loop->interrupt, SIGINT, on_stop);
    watch_signal(loop, &loop->hang_up, SIGHUP, on_hang_up);
    watch_signal(loop, &loop->question, SIGUSR2, on_question);
    thread_on_stop(ev_feed_signal); /* in the place of ev's own handler, which does no more */
    return thread_hold_hang_up(false);
}

/* What ev leaves behind is the default, which would end the program: held until they do nothing. */
static void ignore_signals(struct loop *loop, bool hold) {
    thread_hold_stops(true);
    thread_hold_hang_up(hold);
    ev_signal_stop(loop->ev, &loop->terminate);
    ev_signal_stop(loop->ev, &loop->interrupt);
    ev_signal_stop(loop->ev, &loop->hang_up);
    ev_signal_stop(loop->ev, &loop->question);
    thread_on_stop(NULL);
    thread_on_question(NULL);
    thread_hold_stops(false);
}

/* Never the default loop: it would reap the children of handlers. */
struct loop *loop_new(const struct loop_options *options, struct error *error) {
    struct loop *loop = calloc(1, sizeof *loop);
    if (!loop) {
        error_no_memory(error);
        return NULL;
    }
    loop->options = *options;
    loop->ev = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
    if (!loop->ev) {
        free(loop);
        error_set(error, ERROR_FAILED, "the system gives no event loop");
        return NULL;
    }
    mutex_init(&loop->mutex);
    loop->tick_at = clock_monotonic();
    ev_async_init(&loop->wake, on_wake);
    ev_async_start(loop->ev, &loop->wake);
    ev_init(&loop->timer, on_timer);
    return loop;
}

void loop_free(struct loop *loop) {
    if (!loop)
        return;
    for (struct post *next; loop->incoming; loop->incoming = next) { /* it was never run */
        next = loop->incoming->next;
        free(loop->incoming);
    }
    ev_loop_destroy(loop->ev);
    mutex_free(&loop->mutex);
    free(loop);
}

/* ---- runners ---- */

bool loop_add(struct loop *loop, struct runner *runner) {
    struct post *post = calloc(1, sizeof *post);
    if (!post)
        return false;
    post->runner = runner;
    mutex_lock(&loop->mutex);
    post->next = loop->incoming;
    loop->incoming = post;
    mutex_unlock(&loop->mutex);
    loop_wake(loop);
    return true;
}

static struct post **last(struct loop *loop) {
    struct post **at = &loop->posts;
    while (*at)
        at = &(*at)->next;
    return at;
}

static void watch_bell(struct loop *loop, struct post *post) {
    int bell = runner_bell(post->runner);
    ev_init(&post->bell, on_bell);
    post->bell.data = post;
    if (bell < 0)
        return;
    ev_io_set(&post->bell, bell, EV_READ);
    ev_io_start(loop->ev, &post->bell);
}

static void take_in(struct loop *loop) {
    mutex_lock(&loop->mutex);
    struct post *post = loop->incoming, *next, *list = NULL;
    loop->incoming = NULL;
    mutex_unlock(&loop->mutex);
    for (; post; post = next) {
        next = post->next;
        post->next = list;
        list = post;
        watch_bell(loop, post);
    }
    *last(loop) = list;
}

static void let_go(struct loop *loop, struct post **at) {
    struct post *post = *at;
    struct runner *runner = post->runner;
    *at = post->next;
    ev_io_stop(loop->ev, &post->bell);
    free(post);
    loop->options.ended(loop->options.arg, runner);
}

/* ---- running ---- */

static void tick(struct loop *loop) {
    time_ms now = clock_monotonic();
    if (!loop->options.tick || now < loop->tick_at)
        return;
    loop->tick_at = now + TICK;
    loop->options.tick(loop->options.arg);
}

static void tell_drained(struct loop *loop) {
    bool drained = true;
    for (const struct post *post = loop->posts; post; post = post->next)
        drained = drained && runner_drained(post->runner);
    atomic_store(&loop->drained, drained);
    if (drained && loop->options.drained)
        loop->options.drained(loop->options.arg);
}

static void round_of_all(struct loop *loop) {
    take_in(loop);
    for (struct post **at = &loop->posts; *at;) {
        if (runner_round((*at)->runner))
            at = &(*at)->next;
        else
            let_go(loop, at);
    }
    if (loop->options.drained)
        tell_drained(loop);
    tick(loop);
}

static time_ms earlier(time_ms a, time_ms b) {
    return a < b ? a : b;
}

static time_ms wait_of_all(struct loop *loop) {
    time_ms wait = TIME_NEVER;
    if (loop->options.tick)
        wait = earlier(wait, loop->tick_at - clock_monotonic());
    for (struct post *post = loop->posts; post; post = post->next)
        wait = earlier(wait, runner_wait(post->runner));
    return wait;
}

static void wait(struct loop *loop, time_ms ms) {
    if (ms <= 0) {
        ev_run(loop->ev, EVRUN_NOWAIT);
        return;
    }
    if (ms != TIME_NEVER) {
        ev_now_update(loop->ev);
        ev_timer_set(&loop->timer, (double)ms / 1000, 0.);
        ev_timer_start(loop->ev, &loop->timer);
    }
    ev_run(loop->ev, EVRUN_ONCE);
    ev_timer_stop(loop->ev, &loop->timer);
}

/* True if no runner is left and none is on the way. */
static bool over(struct loop *loop) {
    if (loop->posts || !atomic_load(&loop->ends))
        return false;
    mutex_lock(&loop->mutex);
    bool empty = !loop->incoming;
    mutex_unlock(&loop->mutex);
    return empty;
}

void loop_run(struct loop *loop) {
    bool held = loop->options.stop && watch_signals(loop);
    round_of_all(loop);
    while (!over(loop)) {
        wait(loop, wait_of_all(loop));
        round_of_all(loop);
    }
    if (loop->options.stop)
        ignore_signals(loop, held);
}

void loop_end(struct loop *loop) {
    atomic_store(&loop->ends, true);
    loop_wake(loop);
}

bool loop_drained(const struct loop *loop) {
    return atomic_load(&loop->drained);
}
