/* frames.h - frames of instances that are written with the commit, once for all units of the open
 * transaction (process/instance.h). */
#pragma once

#include "store/rules/ground/state.h"

/* That of the instance; NULL: none is kept. */
struct frame_change *frame_find(struct store *store, int64_t id);
/* Keeps a new frame back, of an instance or of a turn outside of its frame. */
bool frame_keep(struct store *store, int64_t id, int64_t rev, const char *text, bool turn,
                struct error *error);
/* What has the frame goes: it is not written. True. */
bool frame_drop(struct store *store, int64_t id);
/* Writes the frames that are kept back. */
bool frames_flush(struct store *store, struct error *error);
extern const struct txn_hook frames_hook;
