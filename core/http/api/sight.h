/* sight.h - what a caller sees: of all tenants and handlers, or of some; with payloads, or without
 * (docs/security.md). What is out of sight is not there. */
#pragma once

#include "http/api/call.h"

/* True if the caller has one tenant, or some handlers. */
bool sight_is_narrow(const struct call *call);
/* Refuses a narrow caller what tells of all tenants and handlers. */
bool sight_whole(const struct call *call, struct error *error);

/* Narrows filters of a list to what is in sight. Refuses filters that look into payloads. */
bool sight_filters(const struct call *call, enum ask_kind kind, json_t *filters,
                   struct error *error);
/* True if a job, or a row like one, is in sight: by its `tenant`, and by its `handler` or the
 * `process` that it is of. */
bool sight_sees(const struct call *call, const json_t *row);
/* Puts null in place of what only SCOPE_PAYLOAD sees, at every depth. */
void sight_hide(const struct call *call, json_t *answer);

/* Refuses a job, an instance or a user task that is out of sight as one that is not there; true
 * without a question where all is in sight. */
bool sight_job(const struct call *call, int64_t id, struct error *error);
bool sight_instance(const struct call *call, int64_t id, struct error *error);
bool sight_task(const struct call *call, int64_t id, struct error *error);
