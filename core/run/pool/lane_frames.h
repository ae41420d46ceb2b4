/* lane_frames.h - the newest frames of the instances that a work item moves (rules §23).
 *
 * The frame of an instance belongs to the item of its lane, not to a job: the runs of the item move
 * it on, one after the other. Whichever job is taken next gets the newest one, and jobs that were
 * created on the way carry none. Nothing in here has a lock of its own. */
#pragma once

#include "job/outcome.h"

struct lane_frame; /* of one instance */

/* Zero-initialise; free with lane_frames_clear. */
struct lane_frames {
    struct lane_frame *list;
};

void lane_frames_clear(struct lane_frames *frames);
/* Notes where the unit of a run leaves the instances that jobs of the list belong to, and those
 * that are noted already. Runs are noted in their order. False: no memory; no job of these
 * instances may run with what is noted. */
bool lane_frames_note(struct lane_frames *frames, const struct outcome *outcome,
                      const struct job *jobs);
/* Notes the frame that a job was given by the store, as the newest one of its instance. A job
 * without one changes nothing. False: no memory. */
bool lane_frames_note_job(struct lane_frames *frames, const struct job *job);
/* Gives a job (taken over) the frame that is noted of its instance; it may become a copy. Without
 * memory it has no frame: its walk does nothing, and is done again on the stored one. */
struct job *lane_frames_give(const struct lane_frames *frames, struct job *job);
