#include "run/durations.h"
#include <stdlib.h>
#include <string.h>

enum { PLACES = 512 }; /* a power of two, above twice the handlers */

struct handler_runs {
    struct histogram histogram;
    char name[];
};

struct durations {
    struct histogram start_delay, commits, others;
    _Atomic bool has_others;
    struct handler_runs *_Atomic named[DURATIONS_HANDLERS];
    /* the loop's alone: */
    size_t count;
    int64_t definitions[PLACES]; /* 0: free */
    struct handler_runs *of_definition[PLACES];
};

struct durations *durations_new(void) {
    return calloc(1, sizeof(struct durations));
}

void durations_free(struct durations *durations) {
    for (size_t i = 0; durations && i < durations->count; i++)
        free(atomic_load(&durations->named[i]));
    free(durations);
}

/* Its place, or the free one that it would have. */
static size_t place_of(const struct durations *durations, int64_t definition) {
    size_t at = (size_t)((uint64_t)definition * 0x9e3779b97f4a7c15u >> 32) & (PLACES - 1);
    while (durations->definitions[at] != 0 && durations->definitions[at] != definition)
        at = (at + 1) & (PLACES - 1);
    return at;
}

/* NULL: it is one of too many, or called as these are, or there is no memory. */
static struct handler_runs *handler_add(struct durations *durations, size_t place,
                                        const struct job *job) {
    bool own = durations->count < DURATIONS_HANDLERS && strcmp(job->handler, DURATIONS_OTHER) != 0;
    struct handler_runs *runs = own ? calloc(1, sizeof *runs + strlen(job->handler) + 1) : NULL;
    if (!runs)
        return NULL;
    strcpy(runs->name, job->handler);
    durations->definitions[place] = job->definition;
    durations->of_definition[place] = runs;
    atomic_store(&durations->named[durations->count++], runs);
    return runs;
}

static struct histogram *runs_of(struct durations *durations, const struct job *job) {
    size_t place = place_of(durations, job->definition);
    struct handler_runs *runs = durations->of_definition[place];
    if (!runs && job->definition)
        runs = handler_add(durations, place, job);
    if (runs)
        return &runs->histogram;
    atomic_store_explicit(&durations->has_others, true, memory_order_relaxed);
    return &durations->others;
}

/* A later attempt without a date may have been due at any time. */
static time_ms due_of(const struct job *job) {
    if (job->due != TIME_NONE)
        return job->due;
    return job->attempt == 1 ? job->created : TIME_NONE;
}

void durations_run(struct durations *durations, const struct outcome *outcome) {
    if (!durations || outcome->started == TIME_NONE || outcome->took < 0 || outcome->outlived ||
        outcome->kind == OUTCOME_SKIPPED)
        return;
    time_ms due = due_of(outcome->job);
    if (due != TIME_NONE)
        histogram_add(&durations->start_delay, (outcome->started - due) * 1000);
    histogram_add(runs_of(durations, outcome->job), (int64_t)(outcome->took * 1000));
}

void durations_commit(struct durations *durations, double ms) {
    if (durations)
        histogram_add(&durations->commits, (int64_t)(ms * 1000));
}

const struct histogram *durations_start_delay(const struct durations *durations) {
    return &durations->start_delay;
}

const struct histogram *durations_commits(const struct durations *durations) {
    return &durations->commits;
}

const struct histogram *durations_runs(const struct durations *durations, size_t at,
                                       const char **handler) {
    *handler = DURATIONS_OTHER;
    if (at == DURATIONS_HANDLERS)
        return atomic_load(&durations->has_others) ? &durations->others : NULL;
    const struct handler_runs *runs = atomic_load(&durations->named[at]);
    if (!runs)
        return NULL;
    *handler = runs->name;
    return &runs->histogram;
}
