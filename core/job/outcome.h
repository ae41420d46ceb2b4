/* outcome.h - how one run of a job ended; what a worker hands back and the store settles
 * (rules §8). */
#pragma once

#include "job/job_spec.h"
#include "job/unit.h"

/* A new kind is a line here, its traits in outcome.c, what makes it in script/run.c, and what
 * becomes of the row in settle_again or settle_kind. */
enum outcome_kind {
    OUTCOME_SUCCESS,
    OUTCOME_FAILURE,
    OUTCOME_SNOOZE,    /* comes back at `due`, retries and attempt untouched */
    OUTCOME_CANCELLED, /* the row goes; logged as cancelled */
    OUTCOME_RETURNED,  /* did not run (or was cut off): unlocked, nothing counted */
    OUTCOME_CONFLICT,  /* another was first, or the store was away: runs again, not counted */
    OUTCOME_SKIPPED    /* of a process: the instance has nothing to do for the job; the row goes */
};

/* What a kind means, wherever that is asked. Indexed by enum outcome_kind. */
struct outcome_traits {
    const char *name; /* in the log and for hooks: "successful" */
    bool ends;        /* the job is over and its row goes; else it comes back */
    bool keeps;       /* what the handler created and asked for is written with it */
    bool counts;      /* the run has the number of an attempt; else the next run has it again */
    bool fails;       /* `job execute` raises its message */
};
extern const struct outcome_traits outcome_traits[];

enum { FOLLOW_MAX = 100 }; /* follow-ups in a row in one lane; then the others have their turn */

enum settled {
    SETTLED,        /* written */
    SETTLED_DEAD,   /* written, retries are 0: an incident is open */
    SETTLED_STALE,  /* the lock was lost: nothing written (its lane is released all the same) */
    SETTLED_BEHIND, /* of its unit another frame was written first: nothing is, the lock stands */
    SETTLED_WAITS   /* another run insists on the lane of its instance: settle it again later */
};

/* How the store writes an outcome; see rules/work/work.h. */
enum way {
    WAY_UNASKED, /* or no longer known */
    WAY_OTHERS,  /* its lock has ended with others, and its rows are kept back */
    WAY_KEPT,    /* it reads no other job's row: its rows are kept back */
    WAY_ALONE,   /* it may ask for any row: what is kept back is written first */
    WAY_ASKS,    /* the same, and for locks: none of the turn has ended before its own time */
    WAY_CAREFUL, /* the same, and it may be refused: it stands behind a savepoint */
    WAY_COMMAND  /* it has neither job nor lock */
};

/* The last one is what a worker outside calls a business error, of a job without an instance. */
enum failure_reason {
    REASON_ERROR,
    REASON_TIMEOUT,
    REASON_MEMORY,
    REASON_WORKER_DIED,
    REASON_BUSINESS_ERROR
};

/* One job:log / print line, kept with the attempt. */
struct outcome_line {
    struct outcome_line *next;
    time_ms at;
    char *text;
};

struct outcome {
    struct outcome *next;
    struct job *job; /* owned; as it was acquired (token, owner, retries, due) */
    enum outcome_kind kind;
    enum failure_reason reason; /* of a failure */
    bool permanent;             /* the failure said so: no more retries */
    time_ms retry_after;        /* the failure said so: not due before so many ms; 0: none */
    bool outlived;              /* of a run that was given up and has ended after all: only its
                                   lane is released (rules §8) */
    bool undone;                /* out, of store_settle: refused alone, as if never settled */
    enum settled settled;       /* out, for the turn: what the store said of it */
    bool at_rest;               /* of a command that moves nothing: suspension does not refuse it */
    bool held;                  /* a conflict: a suspended instance, which called its own, would go
                                   on; it waits for the activation */
    bool told;                  /* hooks have been called with it, on its worker */
    bool decided;               /* a failure: retries and due below are the strategy's decision */
    bool refused;               /* a failure since the store has refused it: to be decided first */
    enum way way;               /* from store_settle_bulk or store_settle on, until it is written */
    bool lane_ends;             /* the last of its work item: its lane is released */
    bool lane_kept;             /* not yet: what an earlier job of the item created goes on in it */
    int64_t lane_token;         /* token of the item's first job: the lane row's fence */
    int followed;               /* follow-ups in a row up to the jobs of this item */
    bool late;                  /* given back because no worker was going to be free soon */
    double took;                /* ms that the run took; below 0: not measured */
    int awaited;                /* 1 + the worker that waits for follow-ups; 0: none */
    struct job *follows;        /* what it created that is locked to run next in its lane; owned */
    time_ms started;            /* wall clock; TIME_NONE if it never ran */
    time_ms ended;
    time_ms ended_by; /* as late as `ended` can be: delays count from it */
    int32_t retries;  /* left, after a failure */
    time_ms due;      /* after a failure or snooze; TIME_NONE: at once, due date stays absent */
    char *message;    /* of a failure; valid UTF-8, at most JOB_STACK_MAX bytes; owned, as below */
    char *stack;
    char *failed_activity;    /* of a walk: where it failed; NULL: at the job's own activity */
    char *result;             /* JSON text of what the handler returned, or NULL */
    char *stuck;              /* the run does not end: where it was last seen; NULL: it has ended */
    char *warning;            /* its last line: a strategy that raised, a result that is not JSON */
    struct job_spec *created; /* what the handler creates, in order; written with this outcome or
                                 not at all */
    json_t *effects; /* operator verbs the handler asked for, in order (store_operate): done with
                        this outcome or not at all; an array or NULL; owned */
    struct outcome_line *lines;
    struct unit *unit; /* of a job of a process instance, or NULL; owned */
    struct job *newer; /* out: of a unit that is behind the job with the frame of now; owned */
};

/* Takes the job over. NULL: no memory (the job is left to the caller). */
struct outcome *outcome_new(struct job *job, enum outcome_kind kind);
void outcome_free(struct outcome *outcome);
/* Forgets what the run would leave: its unit, the jobs it created, its effects. */
void outcome_forget(struct outcome *outcome);
void outcome_free_list(struct outcome *outcome);
void outcome_lines_free(struct outcome_line *line);
/* The lines as a text, for a job that is walked again and calls its handlers no more. The caller
 * frees it. NULL: there are none, or no memory. */
char *outcome_lines_text(const struct outcome_line *line);
/* The lines of such a text; NULL: none, or no memory. */
struct outcome_line *outcome_lines_read(const char *text);

/* The run has ended now. */
void outcome_end(struct outcome *outcome, const struct clock *clock);

/* The standard rule, for a failure that no strategy has decided (rules §8): a retry less, due
 * `wait` ms after `at` (0: at once); permanent: none left. Nothing is due before `wait` ms after
 * the end of the run, and before the failure has asked for. */
void outcome_decide(struct outcome *outcome, time_ms wait, time_ms at);
/* What a rule has decided waits as long as the failure asks for. */
void outcome_put_off(struct outcome *outcome);

/* It has a unit that is to be held against the frames of its instances, and written. */
bool outcome_has_walked(const struct outcome *outcome);

/* Something it created may have to run next in its lane (rules §4: the follow-up rule): an
 * exclusive job of the same lane that is not for later. */
bool outcome_may_follow(const struct outcome *outcome);

const char *failure_reason_name(enum failure_reason reason); /* "error", "timeout", "memory",
                                                                "workerDied", "businessError" */
