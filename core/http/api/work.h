/* work.h - work for programs elsewhere over HTTP: each is a route_run (route.h). */
#pragma once

#include "http/api/route.h"

/* Each reads what is asked, and leaves it in the exchange for the clerk, or answers. */
route_run answer_fetch;      /* engine_fetch */
route_run answer_settle;     /* engine_settle: many outcomes, and the next jobs */
route_run answer_settle_one; /* one outcome, whose word is route->key; refused: its own error */

/* True if it may be read with others of a list, for work_walk. */
bool work_joins(const struct exchange *exchange);
/* True of one with `work` if it moves instances. */
bool work_walks(const struct exchange *exchange);
/* Of a list of exchanges with `work` that have been read: writes what moves instances, together,
 * and what only this engine may write. What keeps `work` is still to be written. */
void work_walk(struct engine *engine, struct exchange *list);
/* Writes a list of exchanges with `work` together, and fills in their answers. */
void work_write(struct engine *engine, struct exchange *list);
/* Answers it with an error. */
void work_give_up(struct exchange *exchange, const struct error *error);
