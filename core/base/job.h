/* job.h - one durable job (rules §1), as it travels between the database, the workers and the
 * user.
 *
 * A job handed out by the store or by job_copy is ONE block of memory: every text lies inside it
 * and job_free releases all of it. A job on the stack ("draft") borrows its texts from its builder.
 */
#ifndef MOONSHIFT_BASE_JOB_H
#define MOONSHIFT_BASE_JOB_H

#include "base/clock.h"
#include "base/cycle.h"
#include "base/error.h"
#include "base/suspension.h"
#include <jansson.h>
#include <stddef.h>

enum job_type { JOB_MESSAGE, JOB_TIMER };

/* Where a job is; read from the tables, not stored. */
enum job_state {
    JOB_READY,
    JOB_SCHEDULED, /* its due date is in the future */
    JOB_LOCKED,
    JOB_WAITING, /* parked behind a running job of its lane */
    JOB_SUSPENDED,
    JOB_DEAD /* no retries left */
};

/* What becomes of a job whose unique key another one holds. */
enum on_conflict { ON_CONFLICT_KEEP, ON_CONFLICT_REPLACE, ON_CONFLICT_REFUSE };

/* What became of a draft: a job of its own, nothing, or the waiting job that holds its key. */
enum creation { CREATION_CREATED, CREATION_KEPT, CREATION_REPLACED };

#define JOB_NAME_MAX 255    /* bytes of a handler, lane, instance, tenant, category name */
#define JOB_MESSAGE_MAX 666 /* characters of the failure message kept with the job (Camunda 7) */
#define JOB_STACK_MAX 65536 /* bytes of a stored message or stack text */

struct job {
    struct job *next;   /* for lists: jobs created by a handler, a page of acquired jobs */
    int64_t id;         /* > 0; grows in commit order, never reused */
    int64_t rev;        /* changes by operators and by failures; locking does not move it */
    int64_t stream;     /* (definition, deployment, category, type) as one integer */
    int64_t definition; /* the definition's id */
    int64_t deployment; /* 0: none */
    int64_t batch;      /* 0: none */
    int64_t priority;
    int64_t token;   /* the fence drawn at acquisition; 0 while unlocked */
    int64_t owner;   /* executor id of the lock; 0 while unlocked */
    int64_t lane_id; /* 63-bit hash of `lane`; 0: no lane, or not exclusive */
    time_ms due;     /* TIME_NONE: absent */
    time_ms created;
    time_ms lock_expiration; /* TIME_NONE while unlocked */
    time_ms begin_by;        /* monotonic: its start counts for a rate; 0: whenever it may be */
    int32_t retries;         /* runs left */
    int32_t attempt;         /* number of the next (or, in a run, the present) run; from 1 */
    int32_t conflicts;       /* runs in a row that ended with one, up to now */
    int32_t crashes;         /* processes that died while they ran it */
    enum job_type type;
    enum job_state state;
    bool exclusive;
    int32_t suspended;   /* enum suspension: why; 0: it is not */
    bool priority_given; /* draft only: the creator named the priority, overrides do not apply */
    bool retries_given;  /* draft only: the creator named the retries */
    bool starts;         /* draft only, as the next two: see struct repeat */
    enum misfire misfire;
    time_ms origin;
    time_ms delay;                /* draft only: so much later than the cycle's date it is due */
    enum on_conflict on_conflict; /* draft only */
    enum creation creation;       /* out, of store_create: if not created, `holder` has the key */
    int64_t holder;
    bool told;            /* its hooks have been called as it was created (hook.h) */
    bool by_hook;         /* a hook has enqueued it */
    bool refused;         /* out, of store_create: why nothing was created is this job's fault */
    time_ms unique_until; /* draft only: its key outlives it until then; TIME_NONE: does not */
    const char *handler;  /* the definition's name; never NULL */
    const char *lane;     /* NULL: none; the same for every text below */
    const char *instance;
    const char *root;
    const char *activity;
    const char *category;
    const char *tenant;
    const char *repeat;
    const char *zone;     /* draft only: of `repeat` */
    const char *schedule; /* draft only: the schedule that declares the job */
    const char *term;     /* draft only: a timer's date or duration as given */
    const char *unique_key;
    const char *message; /* of the last failure, at most JOB_MESSAGE_MAX characters */
    const char *failed_activity;
    const char *lock_owner; /* "name/id" of the executor; NULL while unlocked */
    const char *payload;    /* JSON text, or NULL for none; not NUL-terminated by contract */
    size_t payload_size;    /* bytes */
    const char *config;     /* of its batch, as JSON text, once it is acquired; NULL: none */
};

/* A deep copy in one block; free with job_free. NULL: no memory. */
struct job *job_copy(const struct job *job);
void job_free(struct job *job);      /* NULL is fine */
void job_free_list(struct job *job); /* the whole `next` chain */

/* The 63-bit id of a lane key, > 0. A collision makes two lanes wait for each other, nothing worse.
 */
int64_t job_lane_id(const char *lane);

/* The prefix of a handler's name under which nobody creates jobs by name and no folder has files:
 * "moonshift/" or "process/" (rules §1). NULL: the name is free. */
const char *job_reserved(const char *handler);

const char *job_state_name(enum job_state state);
const char *job_type_name(enum job_type type);
const char *creation_name(enum creation creation);

/* "keep", "replace" or "refuse". ERROR_INVALID says what was expected. */
bool on_conflict_parse(const char *text, enum on_conflict *on_conflict, struct error *error);

/* The job as users see it: snake_case, times as ISO text, absent = null,
 * payload as JSON. A new reference; NULL: no memory. Used by Lua and by --json alike. */
json_t *job_to_json(const struct job *job);

#endif
