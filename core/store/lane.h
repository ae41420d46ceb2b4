/* lane.h - the lanes that commands to processes hold while they walk, and what walks rest on. */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "job/job.h"
#include <jansson.h>

struct store;

/* A lane that a command to a process holds. */
struct lane_hold {
    int64_t lane, token; /* token 0: it is not held */
};

/* What a look has seen may not be on the disk yet (store_look). Waits for that, unless a commit of
 * this store has since: it rests on all that was seen before. */
bool store_seen(struct store *store, struct error *error);
/* The same where only this instance was asked for: handlers that rest on it may be called. 0: none.
 */
bool store_seen_of(struct store *store, int64_t instance, struct error *error);

/* What runs in the lane of an instance. */
struct lane_run {
    bool held;                       /* something does */
    int64_t job, token, owner;       /* job 0: a command */
    char activity[JOB_NAME_MAX + 1]; /* of the job */
};
/* What runs in this lane, or holds it. Runs of processes that have died do not count. */
bool store_lane_look(struct store *store, int64_t lane, struct lane_run *run, struct error *error);
/* A lane that a command wants until an instant, and the instance whose frame it is about to read.
 */
struct lane_want {
    struct lane_hold hold; /* in: the lane; out: the token, and the lane beside it if `ends` */
    int64_t instance;
    bool ends; /* it does not mind a run, but what other commands hold */
    time_ms now, until;
    int64_t rev; /* out: of the frame; 0: it has ended, or had to be taken from the dead */
};
/* Holds it in a transaction of its own. NO: it is taken. */
enum answer store_lane_hold(struct store *store, struct lane_want *want, struct error *error);
enum { LANES_AT_ONCE = 8 }; /* that go with the unit of a command, or are read before it */
/* What a command to a process is about, of which one is given: */
struct store_reach {
    const char *process;       /* the key of one that begins an instance, */
    int64_t number;            /* of its version of this number, or else */
    const char *tag;           /* with this tag; 0 and NULL: of the current one, */
    const char *unique;        /* and it must be the only one with this business key */
    const char *tenant;        /* and this tenant; NULL: any may have the key, */
    int64_t instance, task;    /* an instance, an open task, */
    const char *message, *key; /* or the only receiver of a message: see struct message_to */
    int64_t receiver, token;
    const char *business_key;
    bool starts;           /* only a start event receives it; */
    bool may_start;        /* or one does if nothing waits */
    bool by_root;          /* the lane is that of the root */
    bool beside;           /* one more instance, or version, of what was reached before */
    time_ms now, until;    /* the lane is held until then */
    struct lane_hold hold; /* out: token 0: it is not held */
    json_t *frame;         /* out: of the instance, see ASK_FRAME; NULL: it begins one */
    json_t *found;         /* out: the version, or { instance, token, activity } */
};
/* Reads it and holds the lane of its instance, where that is one request, in a transaction of its
 * own. The command that is written next (store_unit) may be one, too. NO: all has to be asked for
 * one by one, or is not there. store_reach_clear in any case. */
enum answer store_reach(struct store *store, struct store_reach *reach, struct error *error);
void store_reach_clear(struct store_reach *reach);
/* Holds lanes, in the order of their numbers, in a transaction of its own, up to the first that is
 * taken: *held of them, with their tokens and revs. */
bool store_lanes_hold(struct store *store, struct lane_want *wants, size_t count, size_t *held,
                      struct error *error);
/* Insists on a lane that is held, in the open transaction, with the lane beside it: until that is
 * released too, no unit of its instance that is not in the lane is written. *beside: its hold. */
bool store_lane_insist(struct store *store, const struct lane_hold *hold, struct lane_hold *beside,
                       struct error *error);
/* Moves on when it is free again, in the open transaction. */
bool store_lane_extend(struct store *store, const struct lane_hold *hold, time_ms until,
                       struct error *error);
/* Releases it, in the open transaction. */
bool store_lane_release(struct store *store, const struct lane_hold *hold, struct error *error);
