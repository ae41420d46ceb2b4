/* spared.h - jobs that stay in `ready` although their lane runs (rules §4). Only with an engine
 * that takes sets.
 *
 * To park a job and to show it again costs more than to read past it. Behind a run of this executor
 * that is mostly not needed: the run ends before the next acquisition. So the first acquisition
 * that meets the job there spares it, and the next one that does parks it. Behind a run of another
 * executor a job is parked at once: only those that are shown again are told to others. So each
 * executor that might take a spared job still has to look, or has it spared behind its own run. */
#pragma once

#include "store/rules/ground/state.h"

/* An acquisition begins. */
void spared_turn(struct store *store);
/* YES: the job is spared. NO: it was spared by the acquisition before. */
enum answer spared_add(struct store *store, int64_t job, struct error *error);
/* A lane runs no more: if jobs are spared the executor looks for them. */
void spared_look(struct store *store);
void spared_clear(struct store *store);
