/* taken_frame.c - the frames of the instances whose jobs are taken (rules §23). Where a statement
 * costs more than its rows, those of all jobs that stand ahead are read with the first that is
 * wanted.
 */
#include "job/instance_batch.h"
#include "store/rules/work/taking.h"
#include <stdlib.h>

/* This job, and all that have been read ahead. NULL: no memory. */
static const struct job **jobs_ahead(const struct taking *taking, const struct job *job,
                                     size_t *count) {
    const struct merge *merge = &taking->merge;
    size_t room = 1;
    for (size_t i = 0; i < merge->count; i++)
        room += 1 + (size_t)(merge->cursors[i].count - merge->cursors[i].at);
    const struct job **jobs = malloc(room * sizeof *jobs);
    *count = 0;
    if (!jobs)
        return NULL;
    jobs[(*count)++] = job;
    for (size_t i = 0; i < merge->count; i++) {
        const struct cursor *cursor = &merge->cursors[i];
        if (cursor->job)
            jobs[(*count)++] = cursor->job;
        for (int k = cursor->at; k < cursor->count; k++)
            if (cursor->read[k].job)
                jobs[(*count)++] = cursor->read[k].job;
    }
    return jobs;
}

static bool read_ahead(struct taking *taking, struct store *store, const struct job *job,
                       struct error *error) {
    size_t count = 0;
    const struct job **jobs = jobs_ahead(taking, job, &count);
    const int64_t most = taking->bytes;
    bool done = jobs ? frame_page_ahead(&taking->frames, store, jobs, count, most, error)
                     : db_no_memory(&store->db, error);
    free(jobs);
    return done;
}

bool taking_frame(struct taking *taking, struct store *store, const struct job *job,
                  struct error *error) {
    int64_t bytes = 0;
    bool ahead = store->engine->sets && job_walked(job) && !frame_page_asked(&taking->frames, job);
    bool done = (!ahead || read_ahead(taking, store, job, error)) &&
                frame_page_want(&taking->frames, store, job, &bytes, error);
    taking->bytes -= bytes;
    return done;
}
