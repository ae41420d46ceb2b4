/* process_lane.h - the lanes that a command to processes holds while it walks (rules §23): a row in
 * the store with the instant at which it is free again, moved on while handlers run. No transaction
 * is open meanwhile, and no job and no other command of the lane runs. */
#pragma once

#include "base/thread.h"
#include "engine/engine.h"
#include "store/store.h"

/* Whose lane it is, and the frame that is known of it. */
struct process_instance {
    int64_t id, root, rev; /* root 0: it is one itself */
    bool ends;             /* the command ends it: a run that has begun loses its lock */
};

struct process_lane {
    struct process_instance of;
    int64_t lane;          /* of it; they stand in the order of these numbers. Below 0: the one
                              beside it, with which the command insists */
    struct lane_hold hold; /* token 0: it is waited for */
    struct process_lane *next;
};

/* The number of its lane, by the setting `lane_scope`. */
int64_t process_lane_of(const struct engine *engine, const struct process_instance *of);
/* Takes the lane, unless the engine holds it, and waits for it as long as `patience` says. *fresh
 * false: the frame is another one by now. ERROR_CONFLICT: what has it kept it longer. */
bool process_lane_take(struct engine *engine, const struct process_instance *of, bool *fresh,
                       struct error *error);
/* Reads what the command is about, and holds the lane of its instance, where that is one request;
 * see store_reach. With a hold the engine has the lane. NO: it is asked for one by one. */
enum answer process_lane_reach(struct engine *engine, struct store_reach *reach,
                               struct error *error);
/* Takes those lanes that nothing has, of instances in the order of their lanes, up to the first
 * that something has. The rev of an instance is 0 then if its frame is another one by now. */
bool process_lanes_begin(struct engine *engine, struct process_instance *of, size_t count,
                         struct error *error);
/* True if the engine holds this one. Of a store in memory nothing else has any. */
bool process_lane_held(struct engine *engine, int64_t lane);
/* True if a walk has come into one more instance whose lane could not be taken in order. */
bool process_lanes_want(const struct engine *engine);
/* Gives back all that are held, and takes them with what is wanted, in the order of their numbers.
 * The frames may be other ones by then. */
bool process_lanes_order(struct engine *engine, struct error *error);
/* Insists on all that are held: what is not in them writes nothing of their instances until they
 * are given back. */
bool process_lanes_insist(struct engine *engine, struct error *error);
/* Lets the unit of a command give back what is held, as far as an entry has room. */
void process_lanes_enter(const struct engine *engine, struct store_entry *entry);
/* It has, with its commit. */
void process_lanes_given(struct engine *engine);
/* Writes in the open transaction that all are free. */
bool process_lanes_write(struct engine *engine, struct error *error);
/* They have become free with a commit. */
void process_lanes_forget(struct engine *engine);
/* Gives back what is still held. */
void process_lanes_drop(struct engine *engine);

/* Moves all of them on, in the background, while a handler runs. An engine has one thread for it,
 * from its first command on. */
struct lane_keeper {
    struct engine *engine;
    struct thread thread;
    struct mutex mutex;
    struct condition condition;
    time_ms span; /* for which they are held */
    bool works, sleeps, stopping;
};
void process_lanes_keep(struct engine *engine);
void process_lanes_rest(struct engine *engine); /* they may change now */
