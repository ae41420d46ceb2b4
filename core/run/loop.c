#include "run/loop.h"
#include "base/reactor.h"
#include "base/thread.h"
#include <stdatomic.h>
#include <stdlib.h>

enum { TICK = 1000 };

/* A runner and its doorbell. */
struct post {
    struct post *next;
    struct runner *runner;
    struct watch *bell; /* NULL: it has none */
};

struct loop {
    struct loop_options options;
    struct reactor *reactor;
    struct post *posts;    /* the loop's thread only, in the order they came */
    time_ms tick_at;       /* monotonic */
    struct mutex mutex;    /* guards the newcomers */
    struct post *incoming; /* newest first */
    _Atomic bool ends, drained;
};

/* The watch only remembers what happened; the round acts. */
static void on_bell(void *arg, int events) {
    struct post *post = arg;
    (void)events;
    runner_rang(post->runner);
}

void loop_wake(void *arg) {
    struct loop *loop = arg;
    reactor_wake(loop->reactor);
}

/* ---- beginning and end ---- */

/* True: a hang-up was held until now. */
static bool watch_signals(struct loop *loop) {
    const struct loop_options *options = &loop->options;
    thread_survive_pipes();
    reactor_signal(loop->reactor, SIGTERM, options->stop, options->arg);
    reactor_signal(loop->reactor, SIGINT, options->stop, options->arg);
    reactor_signal(loop->reactor, SIGHUP, options->reload, options->arg);
    reactor_signal(loop->reactor, SIGUSR2, options->tell, options->arg);
    thread_on_stop(reactor_signal_came); /* in the place of its own handler, which does no more */
    return thread_hold_hang_up(false);
}

/* What is left behind is the default, which would end the program: held until they do nothing. */
static void ignore_signals(struct loop *loop, bool hold) {
    thread_hold_stops(true);
    thread_hold_hang_up(hold);
    reactor_signals_end(loop->reactor);
    thread_on_stop(NULL);
    thread_on_question(NULL);
    thread_hold_stops(false);
}

struct loop *loop_new(const struct loop_options *options, struct error *error) {
    struct loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return error_null(error_no_memory(error));
    loop->options = *options;
    loop->reactor = reactor_new(error);
    if (!loop->reactor) {
        free(loop);
        return NULL;
    }
    mutex_init(&loop->mutex);
    loop->tick_at = clock_monotonic();
    return loop;
}

void loop_free(struct loop *loop) {
    if (!loop)
        return;
    for (struct post *next; loop->incoming; loop->incoming = next) { /* it was never run */
        next = loop->incoming->next;
        watch_free(loop->incoming->bell);
        free(loop->incoming);
    }
    reactor_free(loop->reactor);
    mutex_free(&loop->mutex);
    free(loop);
}

/* ---- runners ---- */

bool loop_add(struct loop *loop, struct runner *runner) {
    struct post *post = calloc(1, sizeof *post);
    int bell = runner_bell(runner);
    if (post && bell >= 0)
        post->bell = watch_new(loop->reactor, bell, on_bell, post);
    if (!post || (bell >= 0 && !post->bell)) {
        free(post);
        return false;
    }
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

static void take_in(struct loop *loop) {
    mutex_lock(&loop->mutex);
    struct post *post = loop->incoming, *next, *list = NULL;
    loop->incoming = NULL;
    mutex_unlock(&loop->mutex);
    for (; post; post = next) {
        next = post->next;
        post->next = list;
        list = post;
        if (post->bell)
            watch_for(post->bell, WATCH_READ);
    }
    *last(loop) = list;
}

static void let_go(struct loop *loop, struct post **at) {
    struct post *post = *at;
    struct runner *runner = post->runner;
    *at = post->next;
    watch_free(post->bell);
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
        reactor_wait(loop->reactor, wait_of_all(loop));
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
