/* process_lane.h - a command beside the runs of its instance (rules §23): it waits for one that has
 * begun, and takes the lane if other changes come first again and again. */
#ifndef MOONSHIFT_ENGINE_PROCESS_LANE_H
#define MOONSHIFT_ENGINE_PROCESS_LANE_H

#include "engine/engine.h"

/* Zero-initialise. */
struct process_lane {
    int64_t instance, id; /* whose lane; its number */
    int64_t token;        /* the command holds it; 0: it does not */
    time_ms until;        /* monotonic: it waits until then */
    bool joined;          /* the engine joined the store for it */
};

/* Says whose lane it is; the wait begins now. `root`: of the instance, or 0. */
void process_lane_begin(struct process_lane *lane, struct engine *engine, int64_t instance,
                        int64_t root);
/* Waits until no run of the instance goes on. *waited: its frame may be another one now.
 * ERROR_CONFLICT, with the job that runs: it took longer than the setting `patience`. */
bool process_lane_wait(struct process_lane *lane, struct engine *engine, bool *waited,
                       struct error *error);
/* True if `patience` is over. */
bool process_lane_late(const struct process_lane *lane);
/* Takes the lane, if it is free. */
bool process_lane_take(struct process_lane *lane, struct engine *engine, struct error *error);
/* Gives it back. */
void process_lane_drop(struct process_lane *lane, struct engine *engine);

#endif
