/* process_pace.h - whether the walks behind an activity end shortly, by what was seen of late
 * (rules §23). */
#pragma once

#include "engine/engine.h"

/* True if others may be kept waiting for the walk behind the activity of this job. False: the
 * engine does not know it, or it was slow. */
bool process_pace_is_quick(const struct engine *engine, const struct job *job);
/* How long a walk took. A slow one is followed by as many that are not quick as it took
 * milliseconds: so what others wait comes to one of them for each walk. Without memory none is
 * quick. */
void process_pace_note(struct engine *engine, const struct job *job, time_ms took);
