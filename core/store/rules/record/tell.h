/* tell.h - whom a transaction tells of what it does: people of an incident (rules §10, the setting
 * `notify`), hooks of events that no Lua state has seen (rules §21). It is noted as it happens, and
 * written as jobs before the transaction ends. */
#pragma once

#include "job/outcome.h"
#include "store/rules/ground/row.h"

/* An incident was opened. */
bool tell_incident(struct store *store, int64_t incident, time_ms now, struct error *error);

/* Of what happens to a job, if a hook wants to be told. */
bool tell_created(struct store *store, const struct job *job, time_ms now, struct error *error);
/* The same of a row that was staged, and is released. */
bool tell_placed(struct store *store, const struct job_row *row, time_ms now, struct error *error);
/* A run failed of which no hook was told; `retries` are left. */
bool tell_failed(struct store *store, const struct outcome *outcome, int32_t retries, time_ms now,
                 struct error *error);
static inline bool tell_failure(struct store *store, const struct outcome *outcome, int32_t retries,
                                time_ms now, struct error *error) {
    return !store->catalog.hooks || tell_failed(store, outcome, retries, now, error);
}
/* An operator changed the retries of a job. */
bool tell_retries(struct store *store, const struct job_row *old, const struct job_row *row,
                  time_ms now, struct error *error);
/* A job goes: `how` as history names it. */
bool tell_ended(struct store *store, const struct job *job, const char *how, time_ms now,
                struct error *error);
/* The same of a job whose row is there still. */
bool tell_removed(struct store *store, const struct job_row *row, const char *how, time_ms now,
                  struct error *error);

/* Writes what was noted as jobs. */
bool tell_write(struct store *store, struct error *error);
static inline bool tell_flush(struct store *store, struct error *error) {
    return (!store->tells.incidents && !store->tells.events) || tell_write(store, error);
}

/* Before the commit what was noted is written; it is forgotten with the transaction. */
extern const struct txn_hook tell_hook;
