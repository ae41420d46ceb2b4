/* orders.h - what POST does but for creation and work: each is a route_run (route.h). */
#pragma once

#include "http/api/route.h"

route_run order_verb;      /* a verb of job/command.c; a thing that the path names is its target */
route_run order_process;   /* a command to a process, see engine_order */
route_run order_execution; /* a job by hand, on this thread */
