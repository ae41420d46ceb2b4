/* batches.h - POST /v1/batches: one operation for many ids, or for all that a query finds. */
#ifndef MOONSHIFT_HTTP_API_BATCHES_H
#define MOONSHIFT_HTTP_API_BATCHES_H

#include "http/api/route.h"

route_run create_batch;

#endif
