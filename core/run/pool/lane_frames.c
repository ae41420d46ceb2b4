#include "run/pool/lane_frames.h"
#include "job/instance_batch.h"
#include <stdlib.h>
#include <string.h>

/* Of an instance, or of a turn that stands outside of its frame; or a body with a count for `rev`.
 * Their numbers are never the same. */
struct lane_frame {
    struct lane_frame *next;
    int64_t instance, rev;
    int64_t version; /* of its process */
    char *text;      /* NULL: it has ended */
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

static bool note(struct lane_frames *frames, int64_t instance, const char *text, int64_t rev,
                 int64_t version) {
    struct lane_frame *one = find(frames, instance);
    char *copy = text ? strdup(text) : NULL;
    if ((text && !copy) || (!one && !(one = add(frames, instance)))) {
        free(copy);
        return false;
    }
    free(one->text);
    one->text = copy;
    one->rev = rev;
    one->version = version;
    return true;
}

static bool has_job_of(const struct job *jobs, int64_t instance) {
    while (jobs && job_walked(jobs) != instance && turn_of_token(jobs->execution) != instance)
        jobs = jobs->next;
    return jobs;
}

/* Notes how many turns of a body have ended, and one, once a unit has read it. */
static bool note_count(struct lane_frames *frames, const struct unit_body *body) {
    struct lane_frame *one = find(frames, body->id);
    if (!one && !body->seen)
        return true;
    if (!one && !(one = add(frames, body->id)))
        return false;
    one->rev = (body->seen ? body->seen : one->rev) + body->ended;
    return true;
}

bool lane_frames_note(struct lane_frames *frames, const struct outcome *outcome,
                      const struct job *jobs) {
    const struct unit *unit = outcome->unit;
    bool done = true;
    for (size_t i = 0; unit && i < unit->instance_count; i++) {
        const struct unit_instance *one = &unit->instances[i];
        if (has_job_of(jobs, one->id) || find(frames, one->id))
            done = note(frames, one->id, one->frame, outcome->job->token, one->version) && done;
    }
    for (size_t i = 0; unit && i < unit->turn_count; i++) {
        const struct unit_turn *one = &unit->turns[i];
        if (has_job_of(jobs, one->id) || find(frames, one->id))
            done = note(frames, one->id, one->frame, outcome->job->token, one->version) && done;
    }
    for (size_t i = 0; unit && i < unit->body_count; i++)
        done = note_count(frames, &unit->bodies[i]) && done;
    return done;
}

bool lane_frames_note_job(struct lane_frames *frames, const struct job *job) {
    const int64_t turn = turn_of_token(job->execution);
    if (turn && job->around && !find(frames, job_walked(job)) &&
        !note(frames, job_walked(job), job->around, job->around_rev, job->version))
        return false;
    return !job->frame ||
           note(frames, turn ? turn : job_walked(job), job->frame, job->frame_rev, job->version);
}

/* The newest frames of a job's instance, and of its turn. False: neither is noted. */
static bool show(const struct lane_frames *frames, struct job *job) {
    const int64_t turn = turn_of_token(job->execution);
    const struct lane_frame *instance = find(frames, job_walked(job));
    const struct lane_frame *one = turn ? find(frames, turn) : instance;
    if (one) {
        job->frame = one->text;
        job->frame_rev = one->rev;
        job->version = one->version; /* it may have migrated */
    }
    const struct lane_frame *body = turn && job->body ? find(frames, job->body) : NULL;
    job->body_seen = body ? body->rev : 0;
    if (turn && instance) {
        job->around = instance->text;
        job->around_rev = instance->rev;
    }
    return one || instance;
}

struct job *lane_frames_give(const struct lane_frames *frames, struct job *job) {
    if (!job || !job_walked(job) || !show(frames, job))
        return job;
    struct job *copy = job_copy(job);
    if (copy) {
        job_free(job);
        return copy;
    }
    job->frame = job->around = NULL;
    job->frame_rev = job->around_rev = 0;
    return job;
}
