/* job_spec.h - a job that is to be created: from what a creator says (a JSON object) to what can be
 * written, and what became of it (rules §1, §2).
 *
 * One place for the keys, limits and defaults of creation; engine:enqueue, job:enqueue, the command
 * line and --from files all come through here. */
#pragma once

#include "base/error.h"
#include "job/definition.h"
#include "job/job.h"
#include "job/settings.h"
#include "job/spec_fast.h"
#include "time/cycle.h"
#include "time/schedule_policy.h"

/* Settings that decide what a new job looks like. */
struct spec_rules {
    size_t payload_max;      /* bytes, default 1 MiB */
    int32_t retries;         /* of a job whose definition names none */
    bool ensure_due_date;    /* every job gets a due date: its creation time */
    bool produce_priorities; /* false: every priority is 0 */
    bool lane_of_root;       /* lane_scope = "root" */
    int64_t priority;        /* of a job whose definition names none */
    const char *zone;        /* of times and cycles that name none */
    bool schedule;           /* the keys of a schedule (schedule_policy.h) are fine, too */
};

/* What became of a job that was to be created: it is there; another one holds its key, and was kept
 * or became it; or what it is was refused. */
enum creation { CREATION_CREATED, CREATION_KEPT, CREATION_REPLACED, CREATION_REFUSED };
const char *creation_name(enum creation creation);

/* The reply of a creation. */
struct created {
    int64_t id; /* of the new job, or of the one that holds its unique key */
    enum creation creation;
};

struct job_spec {
    struct job job;        /* comes first: the row as it is to be; borrows its texts */
    struct job_spec *next; /* of a list that is created together */
    JOB_SAID_FIELDS(JOB_MEMBER)
    bool unchecked;       /* the handler need not be known */
    bool told;            /* its hooks have been called as it was created (hook.h) */
    bool by_hook;         /* a hook has enqueued it */
    struct created reply; /* out, of store_create */

    /* Of its reading: */
    json_t *object;                /* the caller's, one reference held; of a fast: its rest */
    uint64_t marks;                /* of its keys: most keys that are asked for are not there */
    char *payload;                 /* encoded JSON, owned */
    char *unique;                  /* the key that the definition's function said, owned */
    char term[TIME_TEXT_SIZE];     /* a duration given as a number */
    struct schedule_policy policy; /* of a schedule */
    char trace[TRACE_SIZE];        /* that it inherits */
    bool on_conflict_given;
    bool needs_priority; /* the definition's priority is a function: ask script_priority */
    bool needs_unique;   /* the definition's unique is a function: ask script_unique */
    bool needs_retries;  /* the definition's retry is an expression: ask script_retries */
};

struct spec_rules spec_rules(const struct write_rules *rules);

/* Reads { handler, payload, at | due, after | in, cycle | repeat, zone, misfire, priority, lane,
 * exclusive, instance, root, activity, retries, tenant, category, unique, on_conflict, unique_for,
 * unchecked } into `spec`. Unknown keys: an error with "did you mean". `now` resolves relative
 * times; a cycle's first date becomes the due date, a date beside it is where its grid begins.
 * job_spec_clear in any case afterwards. */
bool job_spec_read(struct job_spec *spec, json_t *object, const struct spec_rules *rules,
                   time_ms now, struct error *error);

/* The same of what spec_fast_read or a like reader found, whose texts are borrowed. */
bool job_spec_fast(struct job_spec *spec, const struct spec_fast *fast,
                   const struct spec_rules *rules, time_ms now, struct error *error);

/* What every new job has, created at `now`. For who makes a spec without a description. */
void job_spec_begin(struct job_spec *spec, time_ms now);
/* The first date of a spec with a cycle and its zone; a timer's date is where the grid begins. */
bool job_spec_repeat(struct job_spec *spec, time_ms now, struct error *error);

/* Fills in what the definition decides: retries, category, constant priority, exclusive, lane, what
 * holds for its unique keys.
 * `definition` may be NULL (an unchecked handler). */
void job_spec_define(struct job_spec *spec, const struct definition *definition,
                     const struct spec_rules *rules);
/* The same where a given priority is that of a process: it stands in for the definition's, so that
 * an override in the store goes before it. */
void job_spec_define_modelled(struct job_spec *spec, const struct definition *definition,
                              const struct spec_rules *rules);

/* Refuses on_conflict and unique_for of a job that can have no unique key; after job_spec_define.
 */
bool job_spec_keyed(const struct job_spec *spec, struct error *error);

/* What a job created by a running job inherits: its root (else its instance, as root), tenant and
 * trace; the instance is NOT inherited. Call between job_spec_read and job_spec_define; borrows
 * from `creator`.
 */
void job_spec_inherit(struct job_spec *spec, const struct job *creator);
/* The trace alone, unless it has one: the run of the creator is its parent. */
void job_spec_trace(struct job_spec *spec, const struct job *creator);

void job_spec_clear(struct job_spec *spec);

/* A copy in one block that owns its texts; for job_spec_free_list. NULL: no memory. */
struct job_spec *job_spec_copy(const struct job_spec *spec);
void job_spec_free_list(struct job_spec *spec); /* the whole `next` chain */

/* Refuses a handler that is not among `names` (an array of texts), with the one that was meant or a
 * few that are known: ERROR_NOT_FOUND, returns false. */
bool job_spec_unknown(const char *handler, const json_t *names, struct error *error);
