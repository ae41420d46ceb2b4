/* batches.h - POST /v1/batches: one operation for many ids, or for all that a query finds. */
#pragma once

#include "http/api/route.h"

route_run create_batch;
