/* ops.h - what an engine is: a table of functions in four chapters. Each function keeps the
 * contract that store.h gives the call of its name; callers use those calls.
 *
 * An engine implements the chapters transaction and work. Commands and questions are decided once,
 * in rules/, over the driver of its database (sql/db.h): the calls of those chapters are plain
 * functions, and store_command and store_ask are their doors. */
#ifndef MOONSHIFT_STORE_OPS_H
#define MOONSHIFT_STORE_OPS_H

#include "store/store.h"

struct store_backup;

struct store_ops {
    /* ---- transaction ---- */
    void (*close)(struct store *store);
    bool (*begin)(struct store *store, enum store_purpose purpose, struct error *error);
    bool (*commit)(struct store *store, struct error *error);
    void (*rollback)(struct store *store);
    time_ms (*now)(struct store *store, time_ms own);
    bool (*tend)(struct store *store, enum store_chore chore, int limit, bool *more,
                 struct error *error);
    void (*set_impatient)(struct store *store, bool (*hurried)(void));
    void (*budget)(struct store *store, time_ms until);
    void (*purge_behind)(struct store *store);
    bool (*has_pending_purge)(const struct store *store);

    /* ---- work: creation, executors, the turn ---- */
    bool (*create)(struct store *store, struct job_spec *specs, int64_t deployment, time_ms now,
                   struct error *error);
    bool (*enqueue)(struct store *store, struct job_spec *spec, time_ms now, struct error *error);
    int64_t (*reserve_ids)(struct store *store, int count, struct error *error);
    bool (*join)(struct store *store, struct store_executor *executor, time_ms now, time_ms lease,
                 struct error *error);
    bool (*leave)(struct store *store, struct error *error);
    bool (*renew)(struct store *store, time_ms now, time_ms lease, struct error *error);
    void (*alive)(struct store *store, time_ms now);
    bool (*metric_add)(struct store *store, int64_t definition, enum metric metric, int64_t value,
                       struct error *error);
    bool (*reap)(struct store *store, time_ms now, struct store_reaped *reaped,
                 struct error *error);
    void (*slot_set)(struct store *store, int index, int64_t job, int64_t token, time_ms now);
    void (*slot_clear)(struct store *store, int index);
    int (*bell)(const struct store *store);
    void (*bell_empty)(struct store *store);
    bool (*has_changes)(struct store *store);
    bool (*settle_bulk)(struct store *store, struct outcome *outcomes, struct error *error);
    bool (*settle)(struct store *store, struct outcome *outcome, time_ms now, enum settled *settled,
                   struct error *error);
    bool (*settle_end)(struct store *store, struct error *error);
    bool (*promote)(struct store *store, time_ms now, int limit, int *count, struct error *error);
    bool (*acquire)(struct store *store, const struct acquire *acquire, time_ms now,
                    struct job **jobs, int *count, bool *more, struct error *error);
    bool (*best)(struct store *store, const struct acquire *acquire, time_ms now,
                 struct sort_key *best, bool *found, struct error *error);
    struct store_acquire_stats (*acquire_stats)(const struct store *store);
    bool (*take)(struct store *store, int64_t id, bool force, time_ms now, struct job **job,
                 struct error *error);
    bool (*extend)(struct store *store, int64_t job, int64_t token, time_ms until,
                   struct error *error);
    enum answer (*holds)(struct store *store, int64_t job, int64_t token, struct error *error);
    bool (*ask_lost)(struct store *store, struct store_claim *claims, size_t count,
                     struct error *error);
    bool (*next)(struct store *store, time_ms now, time_ms *at, struct error *error);
    bool (*retries_wait)(struct store *store, int64_t *count, time_ms *first, struct error *error);
    bool (*backup)(struct store *store, const char *to, struct store_backup *backup,
                   struct error *error);
};

/* The table is the first member of every store. */
static inline const struct store_ops *store_ops(const struct store *store) {
    return *(const struct store_ops *const *)(const void *)store;
}

static inline bool store_begin(struct store *store, enum store_purpose purpose,
                               struct error *error) {
    return store_ops(store)->begin(store, purpose, error);
}

static inline bool store_commit(struct store *store, struct error *error) {
    return store_ops(store)->commit(store, error);
}

static inline void store_rollback(struct store *store) {
    store_ops(store)->rollback(store);
}

static inline time_ms store_now(struct store *store, time_ms own) {
    return store_ops(store)->now(store, own);
}

static inline bool store_tend(struct store *store, enum store_chore chore, int limit, bool *more,
                              struct error *error) {
    return store_ops(store)->tend(store, chore, limit, more, error);
}

static inline void store_set_impatient(struct store *store, bool (*hurried)(void)) {
    store_ops(store)->set_impatient(store, hurried);
}

static inline void store_budget(struct store *store, time_ms until) {
    store_ops(store)->budget(store, until);
}

static inline void store_purge_behind(struct store *store) {
    store_ops(store)->purge_behind(store);
}

static inline bool store_has_pending_purge(const struct store *store) {
    return store_ops(store)->has_pending_purge(store);
}

static inline bool store_create(struct store *store, struct job_spec *specs, int64_t deployment,
                                time_ms now, struct error *error) {
    return store_ops(store)->create(store, specs, deployment, now, error);
}

static inline bool store_enqueue(struct store *store, struct job_spec *spec, time_ms now,
                                 struct error *error) {
    return store_ops(store)->enqueue(store, spec, now, error);
}

static inline int64_t store_reserve_ids(struct store *store, int count, struct error *error) {
    return store_ops(store)->reserve_ids(store, count, error);
}

static inline bool store_join(struct store *store, struct store_executor *executor, time_ms now,
                              time_ms lease, struct error *error) {
    return store_ops(store)->join(store, executor, now, lease, error);
}

static inline bool store_leave(struct store *store, struct error *error) {
    return store_ops(store)->leave(store, error);
}

static inline bool store_renew(struct store *store, time_ms now, time_ms lease,
                               struct error *error) {
    return store_ops(store)->renew(store, now, lease, error);
}

static inline void store_alive(struct store *store, time_ms now) {
    store_ops(store)->alive(store, now);
}

static inline bool store_metric_add(struct store *store, int64_t definition, enum metric metric,
                                    int64_t value, struct error *error) {
    return store_ops(store)->metric_add(store, definition, metric, value, error);
}

static inline bool store_reap(struct store *store, time_ms now, struct store_reaped *reaped,
                              struct error *error) {
    return store_ops(store)->reap(store, now, reaped, error);
}

static inline void store_slot_set(struct store *store, int index, int64_t job, int64_t token,
                                  time_ms now) {
    store_ops(store)->slot_set(store, index, job, token, now);
}

static inline void store_slot_clear(struct store *store, int index) {
    store_ops(store)->slot_clear(store, index);
}

static inline int store_bell(const struct store *store) {
    return store_ops(store)->bell(store);
}

static inline void store_bell_empty(struct store *store) {
    store_ops(store)->bell_empty(store);
}

static inline bool store_has_changes(struct store *store) {
    return store_ops(store)->has_changes(store);
}

static inline bool store_settle_bulk(struct store *store, struct outcome *outcomes,
                                     struct error *error) {
    return store_ops(store)->settle_bulk(store, outcomes, error);
}

static inline bool store_settle(struct store *store, struct outcome *outcome, time_ms now,
                                enum settled *settled, struct error *error) {
    return store_ops(store)->settle(store, outcome, now, settled, error);
}

static inline bool store_settle_end(struct store *store, struct error *error) {
    return store_ops(store)->settle_end(store, error);
}

static inline bool store_promote(struct store *store, time_ms now, int limit, int *count,
                                 struct error *error) {
    return store_ops(store)->promote(store, now, limit, count, error);
}

static inline bool store_acquire(struct store *store, const struct acquire *acquire, time_ms now,
                                 struct job **jobs, int *count, bool *more, struct error *error) {
    return store_ops(store)->acquire(store, acquire, now, jobs, count, more, error);
}

static inline bool store_best(struct store *store, const struct acquire *acquire, time_ms now,
                              struct sort_key *best, bool *found, struct error *error) {
    return store_ops(store)->best(store, acquire, now, best, found, error);
}

static inline struct store_acquire_stats store_acquire_stats(const struct store *store) {
    return store_ops(store)->acquire_stats(store);
}

static inline bool store_take(struct store *store, int64_t id, bool force, time_ms now,
                              struct job **job, struct error *error) {
    return store_ops(store)->take(store, id, force, now, job, error);
}

static inline bool store_extend(struct store *store, int64_t job, int64_t token, time_ms until,
                                struct error *error) {
    return store_ops(store)->extend(store, job, token, until, error);
}

static inline enum answer store_holds(struct store *store, int64_t job, int64_t token,
                                      struct error *error) {
    return store_ops(store)->holds(store, job, token, error);
}

static inline bool store_ask_lost(struct store *store, struct store_claim *claims, size_t count,
                                  struct error *error) {
    return store_ops(store)->ask_lost(store, claims, count, error);
}

static inline bool store_next(struct store *store, time_ms now, time_ms *at, struct error *error) {
    return store_ops(store)->next(store, now, at, error);
}

static inline bool store_retries_wait(struct store *store, int64_t *count, time_ms *first,
                                      struct error *error) {
    return store_ops(store)->retries_wait(store, count, first, error);
}

static inline bool store_backup(struct store *store, const char *to, struct store_backup *backup,
                                struct error *error) {
    return store_ops(store)->backup(store, to, backup, error);
}

#endif
