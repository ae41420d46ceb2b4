/* walk.h - runs of jobs that belong to a process instance: what they return is a unit.
 *
 * This room declares how a unit leaves a Lua state. core/process/unit_read.c does it, because a
 * room includes nothing from a room below it. */
#pragma once

#include "script/script_state.h"

/* Why no request can be made in a walk, but for what its activities call. */
#define WALK_MUTE "in a condition or a mapping"

/* Copies the unit that a walk has returned, the table at the absolute `index`, into an empty one.
 * Its jobs are left to the run. Raises what is wrong; the unit is the caller's in any case. */
extern void (*const walk_unit)(lua_State *L, int index, struct unit *unit);

/* Keeps the unit at the absolute `index` with the outcome of the run, and the jobs of the unit with
 * what the run creates. Raises what is wrong. */
void walk_keep(lua_State *L, int index, struct run *run);

/* The activity at which the last walk has failed, where it is another than that of the job. NULL:
 * it is not, or the walk cannot say. The caller frees it. */
char *walk_failed_at(struct script *script, const struct job *job);

/* Sets what the walk asks for, as fields of the table on top. */
void walk_add(struct script *script, lua_State *L);
