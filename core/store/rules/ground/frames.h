/* frames.h - frames of instances that are written with the commit, once for all units of the open
 * transaction (process/instance.h). */
#ifndef MOONSHIFT_STORE_RULES_GROUND_FRAMES_H
#define MOONSHIFT_STORE_RULES_GROUND_FRAMES_H

#include "store/rules/ground/state.h"

/* That of the instance; NULL: none is kept. */
struct frame_change *frame_find(struct store *store, int64_t id);
/* Writes the frames that are kept back. */
bool frames_flush(struct store *store, struct error *error);
extern const struct txn_hook frames_hook;

#endif
