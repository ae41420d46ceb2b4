/* engine.h - the SQLite engine: its functions, and what the rules ask of it. */
#ifndef MOONSHIFT_STORE_SQLITE_DB_ENGINE_H
#define MOONSHIFT_STORE_SQLITE_DB_ENGINE_H

#include "store/ops.h"
#include "store/rules/ground/engine.h"

/* In the order of store/ops.h; at last what sqlite_tend does. */
void sqlite_close(struct store *store);
bool sqlite_begin(struct store *store, enum store_purpose purpose, struct error *error);
bool sqlite_commit(struct store *store, struct error *error);
void sqlite_rollback(struct store *store);
void sqlite_purge_behind(struct store *store);
bool sqlite_has_pending_purge(const struct store *store);
bool sqlite_enqueue(struct store *store, struct job_spec *spec, time_ms now, struct error *error);
enum answer sqlite_unit(struct store *store, struct outcome *outcome,
                        const struct store_entry *entry, time_ms now, struct error *error);
void sqlite_alive(struct store *store, time_ms now);
void sqlite_slot_set(struct store *store, int index, int64_t job, int64_t token, time_ms now);
void sqlite_slot_clear(struct store *store, int index);
int sqlite_bell(const struct store *store);
bool sqlite_bell_empty(struct store *store);
bool sqlite_has_changes(struct store *store);
bool sqlite_read_taken(struct store *store, struct job **jobs, size_t count, struct error *error);
bool sqlite_backup(struct store *store, const char *to, struct store_backup *backup,
                   struct error *error);
bool sqlite_checkpoint(struct store *store, int pages, struct error *error);
void sqlite_trim_cache(struct store *store);
bool sqlite_intact(struct store *store, struct error *error);
bool sqlite_purge(struct store *store, bool idle, struct error *error);
void sqlite_set_clock(struct store *store, struct clock *clock);
bool sqlite_tend(struct store *store, enum store_chore chore, int limit, bool *more,
                 struct error *error);

/* ---- for rules/ground/engine.h ---- */

/* What the rules ask in SQLite's own words. */
extern const struct store_sql sqlite_sql;
extern const struct verify_rule sqlite_verify[];

/* Adds " AND j.id IN (…)" to a question that has a WHERE, if it is for suspended jobs, or for those
 * of some handlers or definitions, and there are few of them. Such jobs are found through the
 * narrow tables: reading every wide row of a large store would take seconds. Changes no answer. */
bool few_add(struct store *store, struct query *query, const json_t *wanted, struct error *error);

/* What an executor has beside its row; see rules/ground/engine.h. */
bool executor_enter(struct store *store, int64_t id, int workers, struct error *error);
bool executor_entered(struct store *store, struct error *error);
void executor_quit(struct store *store, int64_t id);
bool executor_part(struct store *store, struct error *error);
bool executor_reaped(struct store *store, int64_t id);

/* Makes the SQL function payload_fits known to the connection. */
bool payload_attach(struct store *store, struct error *error);
/* The payload of the job `j` has this value at this path; see rules/ground/engine.h. */
void payload_is(struct query *query, const char *path, const json_t *value);

/* ---- from one room to another ---- */

/* In a transaction: removes the slots and bells of executors that are gone, but for `self`. */
void leftover_clear(struct store *store, int64_t self);
/* The same of those that the transaction has reaped, after its commit. */
extern const struct txn_hook reap_hook;

/* Checks what is there, or creates it. */
bool migrate(struct store *store, struct error *error);

#endif
