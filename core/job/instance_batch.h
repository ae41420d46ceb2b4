/* instance_batch.h - the types of batches that give a command to each instance of a process (rules
 * §17). The jobs of one walk the instances that are their ids
 * (lua/moonshift/process/batches.lua). */
#pragma once

#include "job/job.h"

/* The lane of a job that has one instance. */
enum batch_lane {
    BATCH_LANE_OWN,    /* that of the instance */
    BATCH_LANE_BESIDE, /* the one beside it: what ends the instance waits for no run */
    BATCH_LANE_NONE    /* the instance has ended */
};

struct instance_batch {
    const char *type;
    const char *kind; /* of the command that each instance is given */
    enum batch_lane lane;
    const char *keys[8]; /* what its config may tell the command; ends with NULL */
    const char *needed;  /* what it must tell, or NULL */
};

/* The types in their order; NULL behind the last. */
const struct instance_batch *instance_batch_at(size_t at);
/* NULL: another type. */
const struct instance_batch *instance_batch_find(const char *type);
/* The same by the handler of its execution jobs, "batch/TYPE". */
const struct instance_batch *instance_batch_of(const char *handler);

/* True for a job of a process, or of such a batch: its handler is the walk. */
bool job_walks(const struct job *job);
/* The instance whose frame a job gets with it: its own, or the only one that it has as the job of
 * such a batch. 0: none. */
int64_t job_walked(const struct job *job);
