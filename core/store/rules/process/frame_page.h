/* frame_page.h - the frames for the jobs of one page (rules §23), read many at once. */
#pragma once

#include "base/arena.h"
#include "store/rules/ground/id_set.h"
#include "store/rules/ground/state.h"
#include "store/rules/process/turn.h"

enum { FRAMES_AT_ONCE = 32 };

/* Of an instance, or of a turn that stands outside of its frame. */
struct frame_row {
    int64_t id, version, rev, parent;
    const char *frame, *key;
    int64_t body, body_token; /* of a turn */
};

/* Those that are not read yet; one that two jobs want is there twice. */
struct frames_wanted {
    int64_t ids[FRAMES_AT_ONCE];
    size_t count;
};

/* The columns of such a row. */
#define INSTANCE_FRAME "SELECT id, version, rev, parent, frame, key, 0, 0 FROM instance WHERE id"
#define TURN_FRAME                                                                                 \
    "SELECT t.id, 0, t.rev, NULL, t.frame, NULL, t.body, " OPEN_BODY(                              \
        "token") " FROM body_turn t WHERE " OPEN_BODY("closed") "=0 AND t.id"

/* Zero-initialise. */
struct frame_page {
    struct frames_wanted instances, turns;
    struct frame_row *rows;
    size_t count, room;
    size_t ahead; /* of them, in the order of their ids: they were read for jobs that may come */
    struct id_set asked;
    struct arena arena;
};

/* Where sets are taken: reads the frames of these jobs, which may come into the page, but no more
 * once they have so many bytes. */
bool frame_page_ahead(struct frame_page *page, struct store *store, const struct job *const *jobs,
                      size_t count, int64_t most, struct error *error);
/* The frames of this job have been asked for so. */
bool frame_page_asked(const struct frame_page *page, const struct job *job);
/* Says that the job is in the page. *bytes: those of frames read by this, once for each job. */
bool frame_page_want(struct frame_page *page, struct store *store, const struct job *job,
                     int64_t *bytes, struct error *error);
/* Gives each job of the list its frame: it becomes a copy with it. A job whose instance is not
 * there stays without one; its walk says so. */
bool frame_page_give(struct frame_page *page, struct store *store, struct job **jobs,
                     struct error *error);
void frame_page_clear(struct frame_page *page);

/* All of it for a list of jobs. */
bool frames_attach(struct store *store, struct job **jobs, struct error *error);

/* True if none was found for the job of an instance: it has ended, or the body of the turn, and the
 * job is removed behind it. */
static inline bool frame_is_gone(const struct job *job) {
    return job->instance_id && !job->frame;
}
