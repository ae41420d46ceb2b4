/* parameters.h - the query of a request: filters as the store takes them, and other parameters. */
#pragma once

#include "http/api/call.h"

/* Reads every parameter of the request into call->filters and call->options. One that the route
 * has not is refused with "did you mean". */
bool parameters_read(struct call *call, struct error *error);
