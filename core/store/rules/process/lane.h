/* lane.h - the lane of an instance as commands and units use it that are not in it (rules §23). */
#ifndef MOONSHIFT_STORE_RULES_PROCESS_LANE_H
#define MOONSHIFT_STORE_RULES_PROCESS_LANE_H

#include "store/rules/state.h"

enum { LANE_CONFLICTS = 10 }; /* of a unit in a row; then its run takes the lane */

/* Frees those that a command holds longer than it said: it has died. *changed: some were. */
bool lanes_expire(struct store *store, time_ms now, bool *changed, struct error *error);

/* Takes the lane of its instance for a run outside of it, whose job is behind once more. Then no
 * exclusive job and no command comes first. No effect while another run has the lane. */
bool lane_insist(struct store *store, struct job *job, struct error *error);
/* Gives it back as the run ends. */
bool lane_give_back(struct store *store, const struct job *job, struct error *error);

#endif
