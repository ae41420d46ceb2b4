/* work.h - work for programs elsewhere over HTTP: each is a route_run (route.h). */
#ifndef MOONSHIFT_HTTP_API_WORK_H
#define MOONSHIFT_HTTP_API_WORK_H

#include "http/api/route.h"

route_run answer_fetch;      /* engine_fetch */
route_run answer_settle;     /* engine_settle: many outcomes, and the next jobs */
route_run answer_settle_one; /* one outcome, whose word is route->key; refused: its own error */

#endif
