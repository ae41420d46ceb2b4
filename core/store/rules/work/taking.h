/* taking.h - an acquisition under way; private to acquire.c, taken_lane.c,
 * taken_run.c and shared_item.c. */
#pragma once

#include "store/rules/place/places.h"
#include "store/rules/process/frame_page.h"
#include "store/rules/work/lane_set.h"

#define SHARED_MAX 64 /* items of jobs that share a place, in one turn */

/* Taken jobs of one rank that stand one behind the other in `ready`, or in `parked` in one lane,
 * which they leave together. */
struct run {
    struct place_key first, last;
    int count;
};

struct taken_lane { /* a work item of this acquisition */
    int64_t lane;
    struct job *last;
    int count;
    double time;       /* ms that its jobs are expected to run */
    struct run parked; /* the last of them */
};

/* A work item of this acquisition with short jobs of a definition that has a limit. They share one
 * place under it, as they run one after the other. */
struct shared {
    struct taken_lane item;
    int64_t definition, permit;
    int changes; /* of the definition, up to its last job */
};

struct taking {
    const struct acquire *acquire;
    time_ms now;
    struct merge merge;
    struct sort_key best; /* of the jobs that were left behind */
    struct job *jobs, **end;
    int count, items, parked;
    double time;        /* ms until the horizon that nothing fills yet */
    double soon;        /* ms that jobs with a rate may fill at once */
    int64_t bytes;      /* of payloads and frames that may still be taken */
    int64_t rank, turn; /* under fair share: the last turn taken, of this rank */
    bool served;        /* there is one */
    bool starved;       /* a job with a rate could start, but no worker comes to it at once */
    struct run run;     /* their locks are in the bulk */
    struct run parking; /* they go from `ready` to `parked` */
    bool parks;         /* the last job was parked */
    struct shared shared[SHARED_MAX];
    int shared_count;
    int64_t definition; /* of the last job, */
    int changes;        /* and how often another one came */
    struct taken_lane *lanes;
    size_t lane_count;
    uint32_t *lane_places; /* the items by a hash of their lanes: 1 + index; 0: none */
    size_t lane_mask;
    int parked_runs;                  /* lanes whose `parked` is not empty */
    bool crash_known, crash_runs;     /* a job that has crashed before runs somewhere */
    bool suspect_known, suspect_runs; /* one that this executor began a moment ago */
    struct id_set passed_lanes;       /* of suspects that wait: later jobs of them wait, too */
    struct frame_page frames;         /* of the instances whose jobs are taken */
    struct lane_set known;            /* lanes that need not be asked for one by one */
    int met, laned;                   /* jobs that were looked at, and those of them in lanes; */
    int ready;                        /* and of these, those that were not parked */
};

/* Puts a taken job behind the last one of its item, or behind all (NULL). */
void taking_append(struct taking *taking, struct job *job, struct taken_lane *lane);

/* ---- frames ---- */

/* Says that the job of an instance is taken; counts the frames that have been read by now. */
bool taking_frame(struct taking *taking, struct store *store, const struct job *job,
                  struct error *error);

/* ---- lanes ---- */

/* Makes room for the items of so many jobs; false: no memory. */
bool taking_room(struct taking *taking, int jobs);
/* The item of the lane; NULL: it has none. */
struct taken_lane *taking_lane(const struct taking *taking, int64_t lane);
/* Begins the item of a lane with this job. */
struct taken_lane *taking_item(struct taking *taking, struct job *job);
/* True if the item takes no more jobs of the lane. */
bool taking_full(const struct taking *taking, const struct taken_lane *lane);
/* YES: nothing more is to be asked before the job at this cursor may be taken, or its lane runs. */
enum answer taking_knows(struct taking *taking, struct store *store, const struct cursor *cursor,
                         const struct taken_lane *lane, struct error *error);
/* NO: no job of the lane is parked behind the one that was taken. */
enum answer taking_follows(const struct taking *taking, struct store *store,
                           const struct cursor *taken, struct error *error);
/* The lane of a job that was passed runs no more. */
bool taking_release(struct taking *taking, struct store *store, int64_t lane, struct error *error);
/* How many jobs are read at once: as many as may still be taken, or fewer for their bytes. */
int taking_wanted(const struct taking *taking, struct store *store);
/* Notes how large the jobs were, and whether most were in lanes, for the next acquisition. */
void taking_learn(const struct taking *taking, struct store *store);

/* ---- jobs that leave their place ---- */

/* Takes the job at this cursor out of its place. */
bool taking_remove(struct store *store, const struct cursor *cursor, struct error *error);
/* The same, together with those before and behind it. */
bool taking_leaves(struct taking *taking, struct store *store, const struct cursor *cursor,
                   struct error *error);
/* Takes those of a lane out of `parked`, before it is read again. */
bool taking_parked_out(struct taking *taking, struct store *store, int64_t lane,
                       struct error *error);
/* Parks the job at this cursor. */
bool taking_park(struct taking *taking, struct store *store, const struct cursor *cursor,
                 struct error *error);
/* Writes what is kept back, before a statement asks for a taken job or places another one. */
bool taking_flush(struct taking *taking, struct store *store, struct error *error);

/* ---- short jobs under a limit ---- */

/* The item that fits and has the least to do, and how many fit; NULL: none. */
struct shared *shared_find(struct taking *taking, const struct job *job, int *count);
/* Begins another item if there is a place for it. */
bool shared_begin(struct taking *taking, struct store *store, const struct job *job,
                  struct shared **begun, struct error *error);
void shared_append(struct taking *taking, struct shared *shared, struct job *job);
