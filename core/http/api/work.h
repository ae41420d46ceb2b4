/* work.h - work for programs elsewhere over HTTP: each is a route_run (route.h). */
#ifndef MOONSHIFT_HTTP_API_WORK_H
#define MOONSHIFT_HTTP_API_WORK_H

#include "http/api/route.h"

/* Each reads what is asked, and leaves it in the exchange for the clerk, or answers. */
route_run answer_fetch;      /* engine_fetch */
route_run answer_settle;     /* engine_settle: many outcomes, and the next jobs */
route_run answer_settle_one; /* one outcome, whose word is route->key; refused: its own error */

/* Writes a list of exchanges with `work` together, and fills in their answers. */
void work_write(struct engine *engine, struct exchange *list);
/* Answers it with an error. */
void work_give_up(struct exchange *exchange, const struct error *error);

#endif
