/* life_sign.c - signs of life: locks of the session, which the server drops with the connection.
 * Where there is no session (direct.c) they are notes with a date, which each commit puts off. */
#include "store/postgres/beside/presence.h"
#include "store/postgres/db/connection.h"
#include "store/postgres/db/direct.h"
#include <stdlib.h>

/* A lock of one number: the store's class above, and below what the sign is for and its id. */
static int64_t sign_key(const struct store *store, int64_t sign) {
    return (int64_t)((uint64_t)(uint32_t)postgres_of(store)->class << 32 |
                     (uint64_t)(sign >= SIGN_BATCH(0)) << 31 | ((uint64_t)sign & 0x7fffffff));
}

static bool sign_own(const struct store *store, int64_t sign) {
    const struct signs *signs = &postgres_of(store)->signs;
    for (size_t i = 0; i < signs->count; i++)
        if (signs->list[i] == sign)
            return true;
    return false;
}

#define DATED "(" SERVER_NOW "+600000)::text" /* ten minutes */

static bool note_sign(struct store *store, int64_t sign, struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO note(key, value) VALUES('sign '||?1::bigint, " DATED ")"
                  " ON CONFLICT(key) DO UPDATE SET value=excluded.value",
                  "i", sign);
}

/* *taken 0: another process has it. */
static bool lock_sign(struct store *store, int64_t sign, int64_t *taken, struct error *error) {
    *taken = 1;
    if (!direct_has(store))
        return note_sign(store, sign, error);
    struct db *db = direct_db(store, error);
    return db && db_value(db, error, taken, "SELECT pg_try_advisory_lock(?1)", "i",
                          sign_key(store, sign)) == YES;
}

static void unlock_sign(struct store *store, int64_t sign) {
    int64_t dropped = 0;
    struct db *db = direct_has(store) ? direct_db(store, NULL) : NULL;
    if (db)
        db_value(db, NULL, &dropped, "SELECT pg_advisory_unlock(?1)", "i", sign_key(store, sign));
    else if (!direct_has(store))
        db_run(&store->db, NULL, "DELETE FROM note WHERE key='sign '||?1::bigint", "i", sign);
}

/* Signs that are no locks live on with each commit. */
static bool sign_renew(struct store *store, struct error *error) {
    const struct signs *signs = &postgres_of(store)->signs;
    for (size_t i = 0; i < signs->count && !direct_has(store); i++)
        if (!note_sign(store, signs->list[i], error))
            return false;
    return true;
}

bool postgres_sign_take(struct store *store, int64_t sign, struct error *error) {
    struct signs *signs = &postgres_of(store)->signs;
    if (sign_own(store, sign))
        return true;
    int64_t *list = realloc(signs->list, (signs->count + 1) * sizeof *list), taken = 0;
    if (!list)
        return db_no_memory(&store->db, error);
    signs->list = list;
    if (!lock_sign(store, sign, &taken, error))
        return false;
    if (!taken)
        return error_set(error, ERROR_CONFLICT, "store \"%s\": another process is writing the same",
                         store->db.name);
    list[signs->count++] = sign;
    return true;
}

/* One that cannot be had any more is one that this session holds no longer. */
bool postgres_sign_again(struct store *store, struct error *error) {
    struct signs *signs = &postgres_of(store)->signs;
    int64_t taken = 0;
    for (size_t i = 0; i < signs->count; i++)
        if (!lock_sign(store, signs->list[i], &taken, error))
            return false;
    return true;
}

void postgres_sign_drop(struct store *store, int64_t sign) {
    struct signs *signs = &postgres_of(store)->signs;
    for (size_t i = 0; i < signs->count; i++)
        if (signs->list[i] == sign) {
            signs->list[i] = signs->list[--signs->count];
            unlock_sign(store, sign);
            return;
        }
}

void postgres_sign_drop_after(struct store *store, int64_t sign) {
    postgres_of(store)->signs.ending = sign;
}

static void sign_committed(struct store *store) {
    if (postgres_of(store)->signs.ending)
        postgres_sign_drop(store, postgres_of(store)->signs.ending);
    postgres_of(store)->signs.ending = 0;
}

static void sign_rolled_back(struct store *store) {
    postgres_of(store)->signs.ending = 0;
}

const struct txn_hook postgres_sign_hook = {
    .flush = sign_renew, .committed = sign_committed, .drop = sign_rolled_back};

/* True as well if the server cannot be asked: nobody cleans up then. */
bool postgres_sign_alive(const struct store *store, int64_t sign) {
    struct db *db = &((struct postgres *)(uintptr_t)store)->store.db;
    int64_t alive = 0, key = sign_key(store, sign);
    return sign_own(store, sign) ||
           db_value(db, NULL, &alive,
                    "SELECT EXISTS(SELECT 1 FROM pg_locks WHERE locktype='advisory'"
                    " AND database=(SELECT oid FROM pg_database WHERE datname=current_database())"
                    " AND classid::bigint=?1 AND objid::bigint=?2 AND objsubid=1)"
                    " OR EXISTS(SELECT 1 FROM note WHERE key='sign '||?3::bigint"
                    " AND value::bigint>" SERVER_NOW ")",
                    "iii", (int64_t)((uint64_t)key >> 32), key & 0xffffffff, sign) != YES ||
           alive;
}
