/* openapi.h - the table of routes as OpenAPI 3.1 describes an API. */
#pragma once

#include "http/api/route.h"
#include <jansson.h>

/* The whole description, the caller's; NULL: no memory. */
json_t *openapi_describe(void);
route_run openapi_answer;
