/* direct.c - a session of the store's own: for locks that outlive a transaction, and for the bell.
 *
 * It is the store's connection, unless the setting listen_url names another way to the server.
 * Behind a pool that hands connections out by the transaction there is none without that setting.
 */
#include "store/postgres/db/direct.h"
#include "store/postgres/db/connection.h"

enum { AGAIN_EVERY = 1000 }; /* ms between two attempts to connect again */

static const char *listen_url(const struct store *store) {
    const char *url = store->settings ? store->settings->listen_url : NULL;
    return url && *url ? url : NULL;
}

bool direct_has(const struct store *store) {
    return listen_url(store) || !postgres_of(store)->address.pooled;
}

static bool direct_open(struct store *store, struct direct *direct, struct error *error) {
    const struct address *main = &postgres_of(store)->address;
    if (!address_read(&direct->address, listen_url(store), error))
        return false;
    memcpy(direct->address.schema, main->schema, sizeof main->schema);
    return session_open(&direct->session, &direct->db, &direct->address, error);
}

struct db *direct_db(struct store *store, struct error *error) {
    struct postgres *postgres = postgres_of(store);
    if (!listen_url(store) && !postgres->address.pooled)
        return &store->db;
    if (!listen_url(store)) {
        error_set(error, ERROR_CONFIG,
                  "store \"%s\": needs a session of its own behind a pool (expected the setting "
                  "listen_url, a way to the server itself)",
                  store->db.name);
        return NULL;
    }
    struct direct *direct = &postgres->direct;
    if (!direct->db.driver && !direct_open(store, direct, error)) {
        direct_close(store);
        return NULL;
    }
    return &direct->db;
}

struct session *direct_session(struct store *store) {
    struct db *db = direct_has(store) ? direct_db(store, NULL) : NULL;
    return db ? db->handle : NULL;
}

bool direct_is_other(const struct store *store) {
    return postgres_of(store)->direct.db.driver != NULL;
}

bool direct_again(struct store *store, struct error *error) {
    struct direct *direct = &postgres_of(store)->direct;
    const time_ms now = clock_monotonic();
    if (!direct->db.driver || !direct->session.lost || now < direct->tried + AGAIN_EVERY)
        return true;
    direct->tried = now;
    return session_reopen(&direct->session, &direct->address, error) &&
           postgres_of(store)->retake(store, error);
}

void direct_close(struct store *store) {
    struct direct *direct = &postgres_of(store)->direct;
    db_close(&direct->db);
    address_clear(&direct->address);
    *direct = (struct direct){0};
}
