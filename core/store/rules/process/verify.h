/* verify.h - do frames, the graph, the trail and what waits agree? (rules §23) */
#pragma once

#include "job/job.h"
#include "store/rules/ground/state.h"

/* Adds a sentence to `found` for every token that waits for a job, a task or a subscription that is
 * not there, and for the reverse. What is wrong in a frame by itself, or against the activities of
 * its process, has one as well, and so has a trail that names another activity. At most a hundred;
 * reads the frames of shape 1, all of them. */
bool instances_verify(struct store *store, json_t *found, struct error *error);

/* The same for every text that is read as JSON and is none: variables of kept messages, properties
 * of versions and definitions, candidates of tasks. */
bool texts_verify(struct store *store, json_t *found, struct error *error);

/* What a token of an instance waits for, and that is gone; only one is told. */
struct lost {
    char activity[JOB_NAME_MAX + 1]; /* "": the frame itself cannot be read */
    const char *what;                /* "job", "task", "subscription" */
};
/* An instance with its frame, and what it gets; `what` NULL: nothing is lost. */
struct lost_frame {
    int64_t instance;
    const json_t *frame; /* NULL: it cannot be read */
    struct lost *lost;
};
/* Looks at instances that follow each other by their ids. */
bool instances_lost(struct store *store, struct lost_frame *page, size_t count,
                    struct error *error);
