/* outside.h - work for programs elsewhere: a worker outside fetches jobs of topics, and hands back
 * what became of them (rules §24). All of it stands in the open transaction.
 *
 * Such a worker has a row among the executors, and no process that anybody looks at. A lock of its
 * ends by its own call, or behind `until`: by a fetch of the topic, or by a turn that has a job for
 * the lane. */
#pragma once

#include "store/store.h"

#define FETCH_MAX 1000        /* jobs in one fetch */
#define FETCH_TOPICS_MAX 1000 /* topics in one */

/* What a worker outside asks for, and how long it keeps what it gets. */
struct fetch {
    const char *worker;        /* borrowed from the question, as all texts of it are */
    json_t *topics;            /* an array of names, without one twice; owned */
    struct wanted_topic *list; /* what is said of each, in the same order; owned */
    size_t count;
    time_ms lock;        /* the longest of them */
    int64_t least, most; /* the priorities of all, inclusive */
    int max;             /* jobs */
    bool none_late; /* out: no lock of these topics has run out. In: as the transaction knows */
    int64_t row;    /* the worker's row, whose `seen` and topics need no change; 0: not known */
};

/* For fetches of one transaction, before the first of them: finds the rows of their workers, where
 * the engine asks for many at once. */
bool store_fetch_ahead(struct store *store, struct fetch *const *list, size_t count, time_ms now,
                       struct error *error);

/* Locks the best jobs of the topics for the worker. *jobs: the caller's, with the frames of
 * instances. */
bool store_fetch(struct store *store, struct fetch *fetch, const struct acquire *order, time_ms now,
                 struct job **jobs, struct error *error);

/* A lock as a worker outside names it. */
struct lock_named {
    int64_t id, token;
    struct job *job; /* out, NULL before: the job as it is, with its frame; the caller's. NULL: the
                        lock is lost, or another worker's, or it is named twice */
    /* ---- private ---- */
    int64_t owner;
    time_ms until;
};
/* Finds what the worker holds; NULL: any worker outside. */
bool store_fetched(struct store *store, const char *worker, struct lock_named *list, size_t count,
                   struct error *error);

/* The variables that the activity of a fetched job sees, as an object; null for a job that belongs
 * to no instance. NULL: error. */
json_t *store_variables_seen(struct store *store, const struct job *job, struct error *error);

/* Settles what workers hand back, and ends what is kept of it: store_settle_bulk, store_settle
 * for each, store_settle_end. Each outcome says what came of it. *refused[i] says why the i-th is
 * `undone`: what it creates is not taken, and its lock stands. NULL: that is an error, too. */
bool store_settle_outside(struct store *store, struct outcome *outcomes, struct error **refused,
                          time_ms now, struct error *error);

/* What a worker says of a job that goes on. */
struct worker_note {
    const struct outcome *outcome; /* its job, and the lines; it is not settled */
    double fraction;               /* of progress; below 0: none */
    const char *text;              /* beside it; may be NULL */
};
bool store_note_outside(struct store *store, const struct worker_note *note, time_ms now,
                        struct error *error);

/* Has this store told, by store_bell, when there may be work of these topics, an array of names,
 * and whenever that cannot be known. It takes nothing, and is no executor to anybody; store_leave
 * ends it. Called again: the topics are those. What there was before is not told of. In a
 * transaction of its own. */
bool store_listen(struct store *store, const char *name, const json_t *topics, time_ms now,
                  struct error *error);

/* The rows of programs that listened and have died go. By one that listens, now and then. */
bool store_listeners_tidy(struct store *store, struct error *error);

/* Looks what a fetch of these topics, an object whose keys are their names, might get: how many
 * jobs of each, and not more than the number at the key. *found: an object with such a number for
 * each topic that has any; the caller's. *next: when there may be more, although nobody is told;
 * TIME_NEVER: not by what is there. Writes nothing. */
bool store_awaited(struct store *store, const json_t *topics, time_ms now, json_t **found,
                   time_ms *next, struct error *error);

/* The worker keeps the job until then. */
bool store_extend_outside(struct store *store, const struct job *job, time_ms until,
                          struct error *error);
