/* job_spec.h - from what a creator says (a JSON object) to a job that can be written
 * (rules §1, §2).
 *
 * One place for the keys, limits and defaults of creation; engine:enqueue, job:enqueue, the command
 * line and --from files all come through here. */
#ifndef MOONSHIFT_JOB_JOB_SPEC_H
#define MOONSHIFT_JOB_JOB_SPEC_H

#include "base/error.h"
#include "job/definition.h"
#include "job/job.h"
#include "job/settings.h"
#include "job/spec_fast.h"
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

struct job_spec {
    struct job job;                /* borrows its texts from `object` and `payload`, or a fast */
    json_t *object;                /* the caller's object, one reference held; NULL: a fast */
    char *payload;                 /* encoded JSON, owned */
    char term[TIME_TEXT_SIZE];     /* a duration given as a number */
    struct schedule_policy policy; /* of a schedule */
    bool unchecked;                /* the handler need not be known */
    bool needs_priority; /* the definition's priority is a function: ask script_priority */
    bool on_conflict_given;
    char *unique;       /* the key that the definition's function said, owned */
    bool needs_unique;  /* the definition's unique is a function: ask script_unique */
    bool needs_retries; /* the definition's retry is an expression: ask script_retries */
};

struct spec_rules spec_rules(const struct settings *settings);

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

/* Fills in what the definition decides: retries, category, constant priority, exclusive, lane, what
 * holds for its unique keys.
 * `definition` may be NULL (an unchecked handler). */
void job_spec_define(struct job_spec *spec, const struct definition *definition,
                     const struct spec_rules *rules);

/* Refuses on_conflict and unique_for of a job that can have no unique key; after job_spec_define.
 */
bool job_spec_keyed(const struct job_spec *spec, struct error *error);

/* What a job created by a running job inherits: its root (else its instance, as root) and tenant;
 * the instance is NOT inherited. Call between job_spec_read and job_spec_define; borrows from
 * `creator`.
 */
void job_spec_inherit(struct job_spec *spec, const struct job *creator);

void job_spec_clear(struct job_spec *spec);

/* Refuses a handler that is not among `names` (an array of texts), with the one that was meant or a
 * few that are known: ERROR_NOT_FOUND, returns false. */
bool job_spec_unknown(const char *handler, const json_t *names, struct error *error);

#endif
