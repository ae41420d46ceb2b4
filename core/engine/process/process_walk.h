/* process_walk.h - one command to a process on its way: the walk, and what is written of it
 * (rules §23). */
#pragma once

#include "engine/process/process_cause.h"
#include "engine/process/process_lane.h"
#include "job/outcome.h"

/* A job without an id: what the walk is given. Zero-initialise but for `command`. */
struct process_walk {
    const json_t *command; /* as engine_process gets it */
    const struct job *job; /* of an activity that a worker outside hands back; NULL: none */
    struct process_cause cause;
    int64_t instance; /* out: what it was done to */
    struct generation *generation;
    char handler[JOB_NAME_MAX + 32];
    char *payload;
    json_t *frame;              /* of the instance, or NULL; its texts are borrowed */
    char *kept;                 /* what handlers did in the walk before, or NULL */
    struct process_instance at; /* whose lane it needs; id 0: none */
    struct outcome_line *lines; /* what handlers printed in all walks, in their order */
    struct outcome *outcome;    /* of the last walk, a success with a unit; NULL: none */
    int walks;                  /* that came to an end */
    time_ms took;               /* in their scripts */
    bool insists;               /* no unit outside of its lanes comes first again */
    bool contends;              /* private: its unit did so, and did not insist */
    time_ms until;              /* monotonic: then other changes have come first too often */
};

/* Reads what the command means; see process_cause_read. */
bool process_walk_read(struct process_walk *walk, struct engine *engine, struct error *error);
void process_walk_clear(struct process_walk *walk);
/* True if the folder has the process, and no live executor has a newer folder. */
bool process_walk_is_ours(const struct process_walk *walk, struct engine *engine);

/* Takes the lane of the instance and walks the command on its newest frame. False: error; nothing
 * is written in any case. */
bool process_walk_run(struct process_walk *walk, struct engine *engine, struct error *error);
/* The instance whose frame it has read. */
struct process_instance process_walk_instance(const struct process_walk *walk);
/* The number of the lane of its instance. */
int64_t process_walk_lane(const struct process_walk *walk, const struct engine *engine);
/* The two halves of it: to find the frame, and to walk on it. NO: the walk came into an instance
 * for whose lane the others had to be given back. They are all held now, and it begins again. */
bool process_walk_meet(struct process_walk *walk, struct engine *engine, struct error *error);
enum answer process_walk_go(struct process_walk *walk, struct engine *engine, struct error *error);

/* Writes the outcome and the entry of the log of operations: `alone` in a transaction of its own,
 * which gives the lanes back, else in the open one. NO: another change came first, and nothing was
 * written. The next walk does not repeat what handlers did. */
enum answer process_walk_settle(struct process_walk *walk, struct engine *engine, bool alone,
                                struct error *error);
/* The same for what workers outside hand back, each settled as the end of its job: all in one
 * transaction, which gives the lanes back. What became of each is process_walk_ended's. */
bool process_walks_end(struct process_walk *const *walks, size_t count, struct engine *engine,
                       struct error *error);
/* NO: another change came first, and nothing was written of this one. */
enum answer process_walk_ended(struct process_walk *walk, struct error *error);
/* Keeps the message, which nothing waits for yet, in the present transaction. NO: something waits
 * for it by now. */
enum answer process_walk_keep(struct process_walk *walk, struct engine *engine,
                              struct error *error);
/* The two halves of it: the message, whose variables are the caller's, and the entry in the log of
 * what is no walk. */
struct unit_message process_walk_message(const struct process_walk *walk, char **variables);
bool process_walk_note(struct process_walk *walk, struct engine *engine, struct error *error);
/* Creates the jobs that give a signal, in the present transaction. */
bool process_walk_signal(struct process_walk *walk, struct engine *engine, struct error *error);
