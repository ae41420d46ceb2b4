/* taking.h - an acquisition under way; private to acquire.c and shared_item.c. */
#ifndef MOONSHIFT_STORE_RULES_WORK_TAKING_H
#define MOONSHIFT_STORE_RULES_WORK_TAKING_H

#include "store/rules/places.h"
#include "store/rules/process/frame_page.h"
#include "store/rules/work/lane_set.h"

#define SHARED_MAX 64 /* items of jobs that share a place, in one turn */

struct taken_lane { /* a work item of this acquisition */
    int64_t lane;
    struct job *last;
    int count;
    double time; /* ms that its jobs are expected to run */
};

/* A work item of this acquisition with short jobs of a definition that has a limit. They share one
 * place under it, as they run one after the other. */
struct shared {
    struct taken_lane item;
    int64_t definition, permit;
    int changes; /* of the definition, up to its last job */
};

/* Taken jobs of one rank that stand one behind the other in `ready`, which they leave together. */
struct run {
    struct place_key first, last;
    int count;
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
    struct shared shared[SHARED_MAX];
    int shared_count;
    int64_t definition; /* of the last job, */
    int changes;        /* and how often another one came */
    struct taken_lane *lanes;
    size_t lane_count;
    bool crash_known, crash_runs; /* a job that has crashed before runs somewhere */
    struct frame_page frames;     /* of the instances whose jobs are taken */
    struct lane_set known;        /* lanes that need not be asked for one by one */
};

/* True if a run of the job is known to be short, so that it is over soon after its start. */
bool taking_brief(const struct taking *taking, int64_t definition);
/* Puts a taken job behind the last one of its item, or behind all (NULL). */
void taking_append(struct taking *taking, struct job *job, struct taken_lane *lane);

/* ---- short jobs under a limit ---- */

/* The item that fits and has the least to do, and how many fit; NULL: none. */
struct shared *shared_find(struct taking *taking, const struct job *job, int *count);
/* Begins another item if there is a place for it. */
bool shared_begin(struct taking *taking, struct store *store, const struct job *job,
                  struct shared **begun, struct error *error);
void shared_append(struct taking *taking, struct shared *shared, struct job *job);

#endif
