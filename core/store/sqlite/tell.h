/* tell.h - whom a transaction tells of what it does: people of an incident (rules §10, the setting
 * `notify`), hooks of events that no Lua state has seen. It is noted as it happens, and
 * written as jobs before the transaction ends. */
#ifndef MOONSHIFT_STORE_SQLITE_TELL_H
#define MOONSHIFT_STORE_SQLITE_TELL_H

#include "base/hook.h"
#include "base/job.h"
#include "store/sqlite/connection.h"

/* An incident was opened. */
bool tell_incident(struct store *store, int64_t incident, time_ms now, struct error *error);

/* True if a hook wants to be told of such an event of a job of this handler. */
bool tell_wanted(const struct store *store, enum hook_event event, const char *handler);
/* Notes an event; `facts` (a reference of which is taken) are what the hook sees beside the job. */
bool tell_hooks(struct store *store, enum hook_event event, const struct job *job, json_t *facts,
                time_ms now, struct error *error);
bool tell_created(struct store *store, const struct job *job, time_ms now, struct error *error);
/* The same of a job whose row is there, if a hook wants it. */
bool tell_row(struct store *store, enum hook_event event, int64_t id, int64_t stream, json_t *facts,
              time_ms now, struct error *error);

/* Writes what was noted as jobs. */
bool tell_flush(struct store *store, struct error *error);

/* What is noted so far, to come back to when a part of the transaction is undone. */
struct tell_point {
    size_t incidents, events;
};
struct tell_point tell_point(const struct store *store);
void tell_return(struct store *store, struct tell_point point);
void tell_clear(struct store *store);

#endif
