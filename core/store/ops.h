/* ops.h - what an engine is: a table of functions in four chapters. Each function keeps the
 * contract that store.h gives the call of its name; callers use those calls.
 *
 * An engine has what differs from database to database. Turns, commands and questions are decided
 * once, in rules/, over the driver of its database (sql/db.h): their calls are plain functions, and
 * store_command and store_ask are their doors.
 *
 * A new function is a line of the list, its contract in store.h, and its code in each engine. */
#pragma once

#include "store/store.h"

struct store_backup;
struct store_roles;
struct text;

/* OP: type, name, parameters, arguments; DO: the same of one that returns nothing. */
/* clang-format off */
#define STORE_OPS(OP, DO)                                                                          \
    /* ---- transaction ---- */                                                                    \
    OP(bool, begin, (struct store *store, enum store_purpose purpose, struct error *error),        \
       (store, purpose, error))                                                                    \
    OP(bool, commit, (struct store *store, struct error *error), (store, error))                   \
    DO(rollback, (struct store *store), (store))                                                   \
    DO(set_clock, (struct store *store, struct clock *clock), (store, clock))                      \
    OP(bool, tend, (struct store *store, enum store_chore chore, int limit, bool *more,            \
        struct error *error), (store, chore, limit, more, error))                                  \
    DO(purge_behind, (struct store *store), (store))                                               \
    OP(bool, has_pending_purge, (const struct store *store), (store))                              \
    /* ---- work: creation, executors, the turn ---- */                                            \
    OP(bool, enqueue, (struct store *store, struct job_spec *spec, time_ms now,                    \
        struct error *error), (store, spec, now, error))                                           \
    DO(alive, (struct store *store, time_ms now), (store, now))                                    \
    DO(slot_set, (struct store *store, int index, int64_t job, int64_t token, time_ms now),        \
       (store, index, job, token, now))                                                            \
    DO(slot_clear, (struct store *store, int index), (store, index))                               \
    OP(int, bell, (const struct store *store), (store))                                            \
    OP(bool, bell_empty, (struct store *store), (store))                                           \
    OP(bool, has_changes, (struct store *store), (store))                                          \
    OP(bool, read_taken, (struct store *store, struct job **jobs, size_t count,                    \
        struct error *error), (store, jobs, count, error))                                         \
    OP(bool, backup, (struct store *store, const char *to, struct store_backup *backup,            \
        struct error *error), (store, to, backup, error))
/* clang-format on */

#define OP_MEMBER(type, name, parameters, arguments) type(*name) parameters;
#define DO_MEMBER(name, parameters, arguments) void(*name) parameters;

struct store_ops {
    void (*close)(struct store *store);
    /* store_create, for rules in rooms below it */
    bool (*create)(struct store *store, struct job_spec *specs, int64_t deployment, time_ms now,
                   struct error *error);
    /* of a server; NULL: a file has none */
    time_ms (*lag)(struct store *store);
    bool (*drop)(struct store *store, struct error *error);
    int64_t (*backend)(struct store *store);
    STORE_OPS(OP_MEMBER, DO_MEMBER)
};

/* An engine before a store of it is open; in its open.c. A file has no roles. */
struct store_opener {
    struct store *(*open)(const char *at, enum store_mode mode, const struct settings *settings,
                          struct error *error);
    bool (*grants)(const char *url, const struct store_roles *roles, struct text *text,
                   struct error *error);
    bool (*functions)(const char *url, const struct store_roles *roles, struct text *text,
                      struct error *error);
};
extern const struct store_opener sqlite_opener, postgres_opener;

/* The table is the first member of every store. */
static inline const struct store_ops *store_ops(const struct store *store) {
    return *(const struct store_ops *const *)(const void *)store;
}

#define OP_CALL(type, name, parameters, arguments)                                                 \
    static inline type store_##name parameters {                                                   \
        return store_ops(store)->name arguments;                                                   \
    }
#define DO_CALL(name, parameters, arguments)                                                       \
    static inline void store_##name parameters {                                                   \
        store_ops(store)->name arguments;                                                          \
    }
STORE_OPS(OP_CALL, DO_CALL)
