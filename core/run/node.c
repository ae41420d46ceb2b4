#include "run/node.h"
#include "run/loop.h"
#include "run/thread.h"
#include <stdlib.h>
#include <string.h>

/* The program ends right behind it: threads that hang must not hold it up. */
enum { FAREWELL = 150 };

/* The loop of one named acquisition. */
struct acquisition {
    struct acquisition *next;
    struct node *node;
    char *name;
    struct loop *loop;
    struct thread thread;
};

struct member {
    struct member *next;
    struct node *node;
    struct foreman *foreman;
    bool ended;
};

struct node {
    struct node_options options;
    struct pool *pool;
    struct acquisition *acquisitions; /* in the order they came */
    bool running;                     /* the loops have their threads */
    struct mutex mutex;               /* guards what follows */
    struct condition ended;
    struct member *members;
    struct foreman_status gone; /* the sums of those that were removed */
    struct error fatal;         /* the first one */
};

static bool out_of_memory(struct error *error) {
    return error_set(error, ERROR_FAILED, "out of memory");
}

struct node *node_new(const struct node_options *options, struct error *error) {
    const struct settings *settings = options->settings;
    struct pool_options pool = {.workers_min = settings->workers_min,
                                .workers_max = settings->workers_max,
                                .queue = settings->queue,
                                .keep_alive = settings->keep_alive,
                                .farewell = options->program ? FAREWELL : 0,
                                .program = options->program || options->interrupts,
                                .begins = options->begins,
                                .begins_arg = options->begins_arg};
    struct node *node = calloc(1, sizeof *node);
    if (!node) {
        out_of_memory(error);
        return NULL;
    }
    node->options = *options;
    node->pool = pool_new(&pool, error);
    if (!node->pool) {
        free(node);
        return NULL;
    }
    mutex_init(&node->mutex);
    condition_init(&node->ended);
    return node;
}

/* ---- what the loops call ---- */

static void each(struct node *node, void (*tell)(struct foreman *foreman)) {
    mutex_lock(&node->mutex);
    for (struct member *member = node->members; member; member = member->next)
        if (!member->ended)
            tell(member->foreman);
    mutex_unlock(&node->mutex);
}

static void end_loops(struct node *node) {
    for (struct acquisition *one = node->acquisitions; one; one = one->next)
        loop_end(one->loop);
}

/* *all: no engine is left; the first fatal error is kept. The mutex is held. */
static bool mark_ended(struct node *node, const struct foreman *foreman, bool *all) {
    struct error error;
    bool fine = foreman_verdict(foreman, &error);
    if (!fine && node->fatal.code == ERROR_NONE)
        node->fatal = error;
    *all = true;
    for (struct member *member = node->members; member; member = member->next) {
        member->ended = member->ended || member->foreman == foreman;
        *all = *all && member->ended;
    }
    return fine;
}

static void on_ended(void *arg, struct foreman *foreman) {
    struct acquisition *acquisition = arg;
    struct node *node = acquisition->node;
    bool all, program = node->options.program;
    mutex_lock(&node->mutex);
    bool fine = mark_ended(node, foreman, &all);
    condition_broadcast(&node->ended);
    mutex_unlock(&node->mutex);
    if (program && !fine)
        each(node, foreman_stop);
    if (program && all)
        end_loops(node);
}

static void on_drained(void *arg) {
    struct acquisition *acquisition = arg;
    struct node *node = acquisition->node;
    for (struct acquisition *one = node->acquisitions; one; one = one->next)
        if (!loop_drained(one->loop))
            return;
    each(node, foreman_finish);
}

static void on_tick(void *arg) {
    struct acquisition *acquisition = arg;
    acquisition->node->options.tick(acquisition->node->options.arg);
}

static void on_stop(void *arg) {
    struct acquisition *acquisition = arg;
    each(acquisition->node, foreman_stop);
}

static void on_reload(void *arg) {
    struct acquisition *acquisition = arg;
    each(acquisition->node, foreman_reload);
}

static void on_tell(void *arg) {
    struct acquisition *acquisition = arg;
    each(acquisition->node, foreman_tell);
}

/* ---- acquisitions ---- */

static void *run(void *arg) {
    struct acquisition *acquisition = arg;
    loop_run(acquisition->loop);
    return NULL;
}

static bool start(struct acquisition *acquisition, struct error *error) {
    return acquisition->thread.running || thread_start(&acquisition->thread, run, acquisition) ||
           error_set(error, ERROR_FAILED, "the system gives no thread for the executor");
}

static void acquisition_free(struct acquisition *acquisition) {
    loop_free(acquisition->loop);
    free(acquisition->name);
    free(acquisition);
}

/* The program's first loop sees the signals and shows the status. */
static struct acquisition *acquisition_new(struct node *node, const char *name,
                                           struct error *error) {
    struct acquisition *acquisition = calloc(1, sizeof *acquisition);
    bool first = !node->acquisitions, program = node->options.program && first;
    if (!acquisition) {
        out_of_memory(error);
        return NULL;
    }
    struct loop_options options = {.ended = on_ended,
                                   .drained = node->options.drain ? on_drained : NULL,
                                   .tick = node->options.tick && first ? on_tick : NULL,
                                   .stop = program ? on_stop : NULL,
                                   .reload = program ? on_reload : NULL,
                                   .tell = program ? on_tell : NULL,
                                   .arg = acquisition};
    acquisition->node = node;
    acquisition->name = strdup(name);
    acquisition->loop = loop_new(&options, error);
    if (acquisition->name && acquisition->loop)
        return acquisition;
    if (acquisition->loop)
        out_of_memory(error);
    acquisition_free(acquisition);
    return NULL;
}

/* The loop of that name; made, and started if the node runs, if there is none. */
static struct acquisition *acquire(struct node *node, const char *name, struct error *error) {
    struct acquisition **at = &node->acquisitions;
    for (; *at; at = &(*at)->next)
        if (strcmp((*at)->name, name) == 0)
            return *at;
    struct acquisition *acquisition = acquisition_new(node, name, error);
    if (acquisition && node->running && !start(acquisition, error)) {
        acquisition_free(acquisition);
        return NULL;
    }
    return *at = acquisition;
}

/* ---- engines come and go ---- */

static struct foreman *open_foreman(struct node *node, struct acquisition *acquisition,
                                    const struct member_options *options, struct error *error) {
    struct foreman_options foreman = {.pool = node->pool,
                                      .settings = options->settings,
                                      .clock = options->clock,
                                      .folder = options->folder,
                                      .read = options->read,
                                      .paths = options->paths,
                                      .program = node->options.program,
                                      .watched = node->options.watched,
                                      .drain = node->options.drain,
                                      .wake = loop_wake,
                                      .wake_arg = acquisition->loop};
    return foreman_new(&foreman, error);
}

static void append(struct node *node, struct member *member) {
    mutex_lock(&node->mutex);
    struct member **at = &node->members;
    while (*at)
        at = &(*at)->next;
    *at = member;
    mutex_unlock(&node->mutex);
}

/* The mutex is held. */
static void take_out(struct node *node, const struct member *member) {
    struct member **at = &node->members;
    while (*at != member)
        at = &(*at)->next;
    *at = member->next;
}

static bool hand_over(struct acquisition *acquisition, struct member *member, struct error *error) {
    struct node *node = member->node;
    append(node, member);
    if (loop_add(acquisition->loop, member->foreman))
        return true;
    mutex_lock(&node->mutex);
    take_out(node, member);
    mutex_unlock(&node->mutex);
    foreman_free(member->foreman);
    return out_of_memory(error);
}

struct member *node_add(struct node *node, const struct member_options *options,
                        struct error *error) {
    struct member *member = calloc(1, sizeof *member);
    struct acquisition *acquisition =
        member ? acquire(node, options->settings->acquisition, error) : NULL;
    if (!member)
        out_of_memory(error);
    if (!acquisition) {
        free(member);
        return NULL;
    }
    member->node = node;
    member->foreman = open_foreman(node, acquisition, options, error);
    if (member->foreman && hand_over(acquisition, member, error))
        return member;
    free(member);
    return NULL;
}

static void add(struct foreman_status *sum, const struct foreman_status *status) {
    sum->done += status->done;
    sum->failed += status->failed;
    sum->stale += status->stale;
    sum->acquired += status->acquired;
    sum->running += status->running;
    sum->waiting += status->waiting;
    sum->stuck = sum->stuck > status->stuck ? sum->stuck : status->stuck; /* the pool is one */
    sum->exhausted = sum->exhausted || status->exhausted;
    sum->paused = sum->paused || status->paused;
    sum->draining = sum->draining || status->draining;
    sum->stopping = sum->stopping || status->stopping;
    if (!sum->name[0])
        memcpy(sum->name, status->name, sizeof sum->name);
}

/* What it counted stays. */
static void forget(struct node *node, struct member *member) {
    struct foreman_status last;
    foreman_status(member->foreman, &last);
    last.running = last.waiting = last.stuck = 0;
    last.exhausted = last.paused = last.draining = last.stopping = false;
    mutex_lock(&node->mutex);
    take_out(node, member);
    add(&node->gone, &last);
    mutex_unlock(&node->mutex);
}

static void await_end(struct node *node, const struct member *member) {
    mutex_lock(&node->mutex);
    while (!member->ended)
        condition_wait(&node->ended, &node->mutex);
    mutex_unlock(&node->mutex);
}

bool node_remove(struct node *node, struct member *member, struct error *error) {
    if (node->running) {
        foreman_stop(member->foreman);
        await_end(node, member);
    }
    bool fine = foreman_verdict(member->foreman, error);
    forget(node, member);
    foreman_free(member->foreman);
    free(member);
    return fine;
}

/* ---- running ---- */

bool node_start(struct node *node, struct error *error) {
    node->running = true;
    for (struct acquisition *one = node->acquisitions; one; one = one->next)
        if (!start(one, error)) {
            node_stop(node);
            return false;
        }
    return true;
}

static void join_loops(struct node *node) {
    for (struct acquisition *one = node->acquisitions; one; one = one->next)
        thread_join(&one->thread);
    node->running = false;
}

void node_stop(struct node *node) {
    if (!node->running)
        return;
    each(node, foreman_stop);
    end_loops(node);
    join_loops(node);
}

bool node_run(struct node *node, struct error *error) {
    struct acquisition *first = node->acquisitions;
    node->running = true;
    bool fine = true;
    for (struct acquisition *one = first->next; one && fine; one = one->next)
        fine = start(one, error);
    if (!fine) {
        each(node, foreman_stop);
        end_loops(node);
    }
    loop_run(first->loop);
    join_loops(node);
    if (fine && node->fatal.code != ERROR_NONE) {
        *error = node->fatal;
        return false;
    }
    return fine;
}

void node_free(struct node *node) {
    struct acquisition *next;
    if (!node)
        return;
    node_stop(node);
    while (node->members) {
        struct member *member = node->members;
        node->members = member->next;
        foreman_free(member->foreman);
        free(member);
    }
    if (!pool_free(node->pool))
        return;
    for (struct acquisition *one = node->acquisitions; one; one = next) {
        next = one->next;
        acquisition_free(one);
    }
    condition_free(&node->ended);
    mutex_free(&node->mutex);
    free(node);
}

/* ---- questions ---- */

void node_status(struct node *node, struct foreman_status *status) {
    mutex_lock(&node->mutex);
    *status = node->gone;
    for (struct member *member = node->members; member; member = member->next) {
        struct foreman_status one;
        foreman_status(member->foreman, &one);
        add(status, &one);
    }
    mutex_unlock(&node->mutex);
}

void member_status(struct member *member, struct foreman_status *status) {
    foreman_status(member->foreman, status);
}

bool member_fine(struct member *member, struct error *error) {
    mutex_lock(&member->node->mutex);
    bool fine = !member->ended || foreman_verdict(member->foreman, error);
    mutex_unlock(&member->node->mutex);
    return fine;
}

void member_reload(struct member *member) {
    foreman_reload(member->foreman);
}
