/* unit_ahead.h - what the units of a transaction will ask about their instances, jobs and locks
 * (rules §23), asked at once where each question is a wait. What the transaction changes since is
 * forgotten: then it is asked for when it is needed, as without this. */
#pragma once

#include "job/outcome.h"
#include "store/rules/ground/txn_hook.h"

struct store;
struct instance_waits;

/* What is asked, of one thing and a part of it. */
enum asked {
    ASKED_REV,  /* of an instance: the rev of its frame */
    ASKED_JOB,  /* of an instance, and a token or 0 for all: the jobs that wait for it */
    ASKED_TASK, /* of an instance and a token: what task waits for it */
    ASKED_LOCK, /* of a job and a token: who has this lock, if no command has edited the job */
    ASKED_LANE, /* of a lane and TIME_NEVER: does a run or a command insist on it? */
    ASKED_TURN, /* of a turn outside of the frame: its rev, if its body is open */
    ASKED_HELD  /* of a lane and a token: is it held with this one? */
};

/* An answer: so many rows, of jobs ASKED_JOBS at most, and the value of one. Of a job it is said
 * how it goes, too. */
enum { ASKED_JOBS = 100 };
struct asked_entry {
    enum asked what;
    int64_t of, part;
    bool known;
    int count;
    int64_t value;
};

/* Asks for what these units need, in the open transaction. */
bool unit_ahead_ask(struct store *store, struct outcome *const *outcomes, size_t count,
                    struct error *error);
/* NULL: it is not known. */
const struct asked_entry *unit_ahead_find(const struct store *store, enum asked what, int64_t of,
                                          int64_t part);
/* In the place of asking: all that this unit needs is said of these instances. False: it needs
 * more, and nothing is known. */
bool unit_ahead_known(struct store *store, const struct outcome *outcome,
                      const struct instance_waits *waits, size_t count);
/* A job that waits. */
struct asked_job {
    int64_t of, part, id;
    int64_t goes; /* JOB_STAYS, JOB_GOES, or the lane in which it is ready and goes */
};
/* JOB_GOES: it may go by its id alone, as nothing runs it and only its own rows tell of it. */
enum { JOB_STAYS, JOB_GOES };

/* The jobs that waited for it, *count of them. False: it is not known. */
bool unit_ahead_jobs(const struct store *store, int64_t instance, int64_t token,
                     const struct asked_job **jobs, size_t *count);
/* True if it goes as was asked: nothing has changed it since. */
bool unit_ahead_goes(const struct store *store, const struct asked_job *job);
/* The row of the job changes, or what else says how it goes. */
void unit_ahead_changed(struct store *store, int64_t job);
/* True if the job has ended since. */
bool unit_ahead_gone(const struct store *store, int64_t job);
/* A job ends: its row goes with the transaction. */
bool unit_ahead_ended(struct store *store, int64_t job, struct error *error);
/* It changes: all parts of it. */
void unit_ahead_forget(struct store *store, enum asked what, int64_t of);

/* The same of all things. */
void unit_ahead_forget_kind(struct store *store, enum asked what);

/* The lane that a unit of this outcome waits for if something insists on it; 0: it waits for none,
 * as it is in the lane or insists on one itself. */
int64_t lane_minded(const struct store *store, const struct outcome *outcome,
                    const struct unit_instance *one);
/* A lane changes hands, or the one beside it does. */
void unit_ahead_lane(struct store *store, int64_t lane);

extern const struct txn_hook unit_ahead_hook;
