/* engine.h - the PostgreSQL engine: its functions, and what the rules ask of it.
 */
#pragma once

#include "store/ops.h"
#include "store/rules/ground/engine.h"

/* rights.c: adds the statements that give the roles their rights; see store/provision.h. */
bool postgres_grants(const char *url, const struct store_roles *roles, struct text *text,
                     struct error *error);

/* functions.c: adds the statements that let programs enqueue; see store/provision.h. */
bool postgres_functions(const char *url, const struct store_roles *roles, struct text *text,
                        struct error *error);

time_ms postgres_lag(struct store *store); /* replica.c; see store/store.h */

/* scratch.c; see store/provision.h. */
int64_t postgres_backend(struct store *store);
bool postgres_drop(struct store *store, struct error *error);

/* The functions of store/ops.h, each behind "postgres_"; rules has the others. */
#define POSTGRES_OP(type, name, parameters, arguments) type postgres_##name parameters;
#define POSTGRES_DO(name, parameters, arguments) void postgres_##name parameters;
STORE_OPS(POSTGRES_OP, POSTGRES_DO)
void postgres_close(struct store *store);

/* ---- for rules/ground/engine.h ---- */

/* What the rules ask in PostgreSQL's own words. */
extern const struct store_sql postgres_sql;
extern const struct verify_rule postgres_verify[];

/* bulk.c: sends the rows as arrays. */
bool postgres_bulk(struct store *store, struct bulk *bulk, enum bulk_kind kind,
                   struct error *error);

/* transaction.c */
bool postgres_draw_ids(struct store *store, int count, struct error *error);
int64_t postgres_give_ids(struct store *store, int count);

/* command.c */
enum answer postgres_hold(struct store *store, struct lane_want *want, bool *known,
                          struct error *error);
enum answer postgres_reach(struct store *store, struct store_reach *reach, struct error *error);
enum answer postgres_resume(struct store *store, const struct outcome *outcome,
                            struct error *error);
bool postgres_vain(const struct store *store);

/* set.c */
bool postgres_set(struct store *store, struct set *set, struct error *error);

/* unit_rows.c */
bool postgres_unit_rows(struct store *store, enum unit_rows kind, const struct kept_rows *rows,
                        struct error *error);

struct row *postgres_asked_rows(struct store *store, enum asked_rows kind,
                                const struct kept_rows *rows, struct error *error);

/* lock_page.c */
bool postgres_lock_settles(struct store *store, const struct job *job, struct error *error);
bool postgres_lock_own(struct store *store, int64_t id, struct error *error);

/* page.c */
bool postgres_ready_page(struct store *store, struct ready_page *page, struct error *error);

/* left.c: rows of jobs that have succeeded. */
bool postgres_leave_row(struct store *store, int64_t id, bool *left, struct error *error);
bool postgres_left_remove(struct store *store, struct error *error);

/* presence.c: the lock of an executor's session, and its bell. */
bool postgres_enter(struct store *store, int64_t id, int workers, struct error *error);
bool postgres_entered(struct store *store, struct error *error);
void postgres_quit(struct store *store, int64_t id);
bool postgres_part(struct store *store, struct error *error);
bool postgres_bequeath(struct store *store, int64_t executor, struct error *error);
bool postgres_reaped(struct store *store, int64_t id);
bool postgres_has_died(struct store *store, int64_t executor);
time_ms postgres_leases_rest(const struct store *store);
bool postgres_running(struct store *store, int64_t executor, struct running *running);
void postgres_notify(struct store *store, int64_t executor);

/* life_sign.c */
bool postgres_sign_take(struct store *store, int64_t sign, struct error *error);
void postgres_sign_drop(struct store *store, int64_t sign);
void postgres_sign_drop_after(struct store *store, int64_t sign);
bool postgres_sign_alive(const struct store *store, int64_t sign);

/* old_reader.c */
json_t *postgres_log(struct store *store, struct error *error);

/* standby.c; not in a transaction that has failed */
bool postgres_stalled(struct store *store, struct error *why);

/* payload.c */
void postgres_payload_is(struct query *query, const char *path, const json_t *value);
