#include "run/pool/lane_frames.h"
#include <stdlib.h>
#include <string.h>

struct lane_frame {
    struct lane_frame *next;
    int64_t instance, rev;
    char *text; /* NULL: the instance has ended */
};

void lane_frames_clear(struct lane_frames *frames) {
    struct lane_frame *one = frames->list, *next;
    for (; one; one = next) {
        next = one->next;
        free(one->text);
        free(one);
    }
    frames->list = NULL;
}

static struct lane_frame *find(const struct lane_frames *frames, int64_t instance) {
    struct lane_frame *one = frames->list;
    while (one && one->instance != instance)
        one = one->next;
    return one;
}

static struct lane_frame *add(struct lane_frames *frames, int64_t instance) {
    struct lane_frame *one = calloc(1, sizeof *one);
    if (!one)
        return NULL;
    one->instance = instance;
    one->next = frames->list;
    frames->list = one;
    return one;
}

static bool note(struct lane_frames *frames, int64_t instance, const char *text, int64_t rev) {
    struct lane_frame *one = find(frames, instance);
    char *copy = text ? strdup(text) : NULL;
    if ((text && !copy) || (!one && !(one = add(frames, instance)))) {
        free(copy);
        return false;
    }
    free(one->text);
    one->text = copy;
    one->rev = rev;
    return true;
}

static bool has_job_of(const struct job *jobs, int64_t instance) {
    while (jobs && jobs->instance_id != instance)
        jobs = jobs->next;
    return jobs;
}

bool lane_frames_note(struct lane_frames *frames, const struct outcome *outcome,
                      const struct job *jobs) {
    const struct unit *unit = outcome->unit;
    bool done = true;
    for (size_t i = 0; unit && i < unit->instance_count; i++) {
        const struct unit_instance *one = &unit->instances[i];
        if (has_job_of(jobs, one->id) || find(frames, one->id))
            done = note(frames, one->id, one->frame, outcome->job->token) && done;
    }
    return done;
}

bool lane_frames_note_job(struct lane_frames *frames, const struct job *job) {
    return !job->frame || note(frames, job->instance_id, job->frame, job->frame_rev);
}

struct job *lane_frames_give(const struct lane_frames *frames, struct job *job) {
    const struct lane_frame *one = job && job->instance_id ? find(frames, job->instance_id) : NULL;
    if (!one)
        return job;
    job->frame = one->text;
    job->frame_rev = one->rev;
    struct job *copy = job_copy(job);
    if (copy) {
        job_free(job);
        return copy;
    }
    job->frame = NULL;
    job->frame_rev = 0;
    return job;
}
