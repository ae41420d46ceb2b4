/* lane_set.h - the lanes that one acquisition meets, asked for and written together (rules §4).
 * Only with an engine that takes sets. */
#ifndef MOONSHIFT_STORE_RULES_WORK_LANE_SET_H
#define MOONSHIFT_STORE_RULES_WORK_LANE_SET_H

#include "store/rules/merge.h"

struct known_lane {
    int64_t id;
    bool asked, runs, has_parked;
};

/* Zero-initialise. */
struct lane_set {
    struct known_lane *lanes; /* by id */
    size_t count, room;
    int64_t *held, *tokens, *owners; /* lanes that begin to run, not written yet */
    size_t held_count;
    int64_t *spots; /* of jobs that are to be parked */
    size_t parked_count, spot_room;
};

/* Asks for the lanes of all jobs that the merge has read ahead, unless they are known. */
bool lane_set_read(struct lane_set *set, struct store *store, const struct merge *merge,
                   struct error *error);
/* YES: all is known of the lane of the job at this cursor. It asks if the job has been read ahead.
 */
enum answer lane_set_knows(struct lane_set *set, struct store *store, const struct merge *merge,
                           struct error *error);
/* True if jobs of a known lane are parked. */
bool lane_set_has_parked(const struct lane_set *set, int64_t lane);
/* Takes a known lane if it is free. */
bool lane_set_hold(struct lane_set *set, const struct store *store, int64_t lane, int64_t token);
/* Parks the job at this cursor, whose lane is known. */
bool lane_set_park(struct lane_set *set, struct store *store, const struct cursor *cursor,
                   struct error *error);
/* Writes what is kept back. */
bool lane_set_write(struct lane_set *set, struct store *store, struct error *error);
void lane_set_clear(struct lane_set *set);

#endif
