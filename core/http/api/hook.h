/* hook.h - /hooks/NAME: requests that a route of the folder answers (rules §25). */
#pragma once

#include "http/api/route.h"

/* True if the route itself finds out who asks: it has a secret. */
bool hook_is_open(struct engine *engine, const struct exchange *exchange);

route_run answer_hook;
