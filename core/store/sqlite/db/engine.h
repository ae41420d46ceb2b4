/* engine.h - the SQLite engine: its functions, and what the rules ask of it. */
#pragma once

#include "store/ops.h"
#include "store/rules/ground/engine.h"

/* The functions of store/ops.h, each behind "sqlite_"; rules has the others. */
#define SQLITE_OP(type, name, parameters, arguments) type sqlite_##name parameters;
#define SQLITE_DO(name, parameters, arguments) void sqlite_##name parameters;
STORE_OPS(SQLITE_OP, SQLITE_DO)
void sqlite_close(struct store *store);
enum answer sqlite_unit(struct store *store, struct outcome *outcome,
                        const struct store_entry *entry, time_ms now, struct error *error);
bool sqlite_checkpoint(struct store *store, int pages, struct error *error);
void sqlite_trim_cache(struct store *store);
bool sqlite_intact(struct store *store, struct error *error);
bool sqlite_purge(struct store *store, bool idle, struct error *error);

/* ---- for rules/ground/engine.h ---- */

/* What the rules ask in SQLite's own words. */
extern const struct store_sql sqlite_sql;
extern const struct verify_rule sqlite_verify[];

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
