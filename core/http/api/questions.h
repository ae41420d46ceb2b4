/* questions.h - what GET answers: each is a route_run (route.h). */
#pragma once

#include "http/api/route.h"

route_run answer_list;      /* a page of the kind; a thing that the path names is a filter */
route_run answer_all;       /* all rows of a kind that has no filters */
route_run answer_one_of;    /* the one row that has the id or name of the path */
route_run answer_thing;     /* what the kind answers for the id of the path, if there is one */
route_run answer_count;     /* how many jobs match */
route_run answer_job;       /* a job, with its ETag */
route_run answer_stack;     /* the traceback of its last failure */
route_run answer_variables; /* of an instance */
route_run answer_dates;     /* the next ones of a schedule */
route_run answer_settings;
route_run answer_metrics; /* of the store, for Prometheus and its like */
route_run answer_picture; /* of a process or an instance, see engine_picture */
