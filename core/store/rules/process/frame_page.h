/* frame_page.h - the frames for the jobs of one page (rules §23), read many at once. */
#ifndef MOONSHIFT_STORE_RULES_PROCESS_FRAME_PAGE_H
#define MOONSHIFT_STORE_RULES_PROCESS_FRAME_PAGE_H

#include "base/arena.h"
#include "store/rules/ground/state.h"

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

/* Zero-initialise. */
struct frame_page {
    struct frames_wanted instances, turns;
    struct frame_row *rows;
    size_t count, room;
    struct arena arena;
};

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

#endif
