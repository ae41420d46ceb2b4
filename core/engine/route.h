/* route.h - routes of the folder: functions that answer requests over HTTP (rules §25). */
#pragma once

#include "engine/engine.h"

/* What the newest folder says of a route, as script_report has it; borrowed until the next reload.
 * NULL: it has none of this name, or the engine keeps no Lua state. */
const json_t *engine_route(struct engine *engine, const char *name);

/* Calls the function of a route that is there; see script_answer. Nothing is written: the jobs of
 * the answer are the caller's to create. NULL: error. */
json_t *engine_route_answer(struct engine *engine, const json_t *asked, struct error *error);
