/* lane_set.h - the lanes that one acquisition meets, asked for and written together (rules §4).
 * Only with an engine that takes sets. */
#pragma once

#include "store/rules/place/merge.h"

struct known_lane {
    int64_t id;
    bool asked, runs, has_parked;
    bool spares;   /* a job behind its run stays ready, see rules/place/spared.h */
    int64_t owner; /* of one that runs */
    size_t item;   /* of this acquisition, counted from 1; 0: none */
};

/* What is parked in a known lane, of one stream and rank. */
struct parked_list {
    int64_t lane, stream, rank;
    struct parked parked;
    int64_t quota;
};

/* Zero-initialise. */
struct lane_set {
    struct known_lane *lanes; /* by id */
    size_t count, room;
    int64_t *held, *tokens, *owners; /* lanes that begin to run, not written yet */
    size_t held_count;
    struct spots { /* of jobs */
        int64_t *list;
        size_t count, room;
    } park, unpark;            /* that are to be parked, or were taken from there */
    struct parked_list *lists; /* by lane, stream and rank */
    size_t list_count;
};

/* YES: all is known of the lane of the job at this cursor. It asks if the job has been read ahead.
 */
enum answer lane_set_knows(struct lane_set *set, struct store *store, const struct merge *merge,
                           struct error *error);
/* True if jobs of a known lane may be parked. */
bool lane_set_has_parked(const struct lane_set *set, int64_t lane);
/* What has been read of them, from the lane, stream and rank of this cursor, and not given to the
 * merge yet. NULL: they were not asked for. */
struct parked *lane_set_parked(const struct lane_set *set, const struct cursor *cursor);
/* Forgets it: a lane that was given back has shown some of them. */
void lane_set_forget(struct lane_set *set, int64_t lane);
/* The known lane, or NULL. */
struct known_lane *lane_set_find(const struct lane_set *set, int64_t lane);
/* Takes a known lane if it is free. */
bool lane_set_hold(struct lane_set *set, const struct store *store, int64_t lane, int64_t token);
/* Takes the job at this cursor out of those that are parked. */
bool lane_set_unpark(struct lane_set *set, struct store *store, const struct cursor *cursor,
                     struct error *error);
/* Parks the job at this cursor, whose lane is known. */
bool lane_set_park(struct lane_set *set, struct store *store, const struct cursor *cursor,
                   struct error *error);
/* Writes what is kept back. */
bool lane_set_write(struct lane_set *set, struct store *store, struct error *error);
void lane_set_clear(struct lane_set *set);
