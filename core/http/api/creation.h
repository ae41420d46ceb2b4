/* creation.h - POST /v1/jobs: a job, a list of jobs, or a line each (NDJSON). */
#ifndef MOONSHIFT_HTTP_API_CREATION_H
#define MOONSHIFT_HTTP_API_CREATION_H

#include "http/api/route.h"

enum { CREATION_MOST = 1000 }; /* jobs of one request */

route_run create_jobs;

#endif
