/* open.c - from a URL to an open store. */
#include "store/postgres/beside/presence.h"
#include "store/postgres/db/direct.h"
#include "store/postgres/life/schema.h"
#include "store/postgres/turn/command.h"
#include "store/postgres/turn/lock_page.h"
#include "store/postgres/turn/reader.h"
#include "store/postgres/turn/transaction.h"
#include "store/postgres/turn/turn.h"
#include "store/rules/batch/batch.h"
#include "store/rules/ground/unit_ahead.h"
#include "store/rules/place/fair_share.h"
#include "store/rules/place/spared.h"
#include "store/rules/place/suspects.h"
#include "store/rules/work/hooks.h"
#include "store/rules/work/work.h"
#include <stdlib.h>
#include <string.h>

static const struct txn_hook *const hooks[] =
    TXN_HOOKS(&postgres_left_hook, &postgres_sign_hook, &postgres_bell_hook, &lock_page_hook,
              &unit_ahead_hook);

/* ---- what a server has no need of ---- */

void postgres_purge_behind(struct store *store) {
    (void)store; /* rows of jobs go with the transaction in which they succeed */
}

bool postgres_has_pending_purge(const struct store *store) {
    (void)store;
    return false;
}

bool postgres_backup(struct store *store, const char *to, struct store_backup *backup,
                     struct error *error) {
    (void)to, (void)backup;
    return error_set(error, ERROR_CONFIG,
                     "store \"%s\": a server is backed up by its own tools (expected pg_dump "
                     "--schema=%s)",
                     store->db.name, postgres_of(store)->address.schema);
}

/* ---- the tables of functions ---- */

#define OP_ROW(type, name, parameters, arguments) .name = postgres_##name,
#define DO_ROW(name, parameters, arguments) .name = postgres_##name,

static const struct store_ops ops = {.close = postgres_close,
                                     .create = store_create,
                                     .lag = postgres_lag,
                                     .drop = postgres_drop,
                                     .backend = postgres_backend,
                                     STORE_OPS(OP_ROW, DO_ROW)};

static const struct store_engine engine = {
    .sql = &postgres_sql,
    .verify = postgres_verify,
    .snapshot = postgres_look,
    .snapshot_end = postgres_look_end,
    .sets = true,
    .ahead = 2048,
    .ready_page = postgres_ready_page,
    .set = postgres_set,
    .unit_rows = postgres_unit_rows,
    .asked_rows = postgres_asked_rows,
    .lock_own = postgres_lock_own,
    .lock_settles = postgres_lock_settles,
    .draw_ids = postgres_draw_ids,
    .give_ids = postgres_give_ids,
    .hold = postgres_hold,
    .reach = postgres_reach,
    .resume = postgres_resume,
    .vain = postgres_vain,
    .bulk = postgres_bulk,
    .leave_row = postgres_leave_row,
    .left_remove = postgres_left_remove,
    .settled = postgres_left_remove,
    .enter = postgres_enter,
    .entered = postgres_entered,
    .quit = postgres_quit,
    .part = postgres_part,
    .bequeath = postgres_bequeath,
    .reaped = postgres_reaped,
    .sign_take = postgres_sign_take,
    .sign_drop = postgres_sign_drop,
    .sign_drop_after = postgres_sign_drop_after,
    .sign_alive = postgres_sign_alive,
    .has_died = postgres_has_died,
    .leases_rest = postgres_leases_rest,
    .running = postgres_running,
    .log = postgres_log,
    .stalled = postgres_stalled,
    .notify = postgres_notify,
    .payload_is = postgres_payload_is,
};

/* ---- opening ---- */

static bool open_all(struct postgres *postgres, const char *url, struct error *error) {
    struct store *store = &postgres->store;
    if (!address_read(&postgres->address, url, error))
        return false;
    postgres->class = address_class(&postgres->address);
    store->name = postgres->address.name;
    store->url = strdup(url);
    if (!store->url)
        return error_no_memory(error);
    return session_open(&postgres->session, &store->db, &postgres->address, error) &&
           postgres_migrate(store, error) && fair_share_settle(store, error);
}

static struct store *postgres_open(const char *url, enum store_mode mode,
                                   const struct settings *settings, struct error *error) {
    struct postgres *postgres = calloc(1, sizeof *postgres);
    if (!postgres)
        return error_null(error_no_memory(error));
    struct store *store = &postgres->store;
    store->settings = settings;
    store->rules = &settings->write;
    store->hooks = hooks;
    store->ops = &ops;
    store->engine = &engine;
    store->kind = STORE_SERVER;
    store->mode = mode;
    store->releases = &postgres->releases;
    postgres->retake = postgres_enter_again;
    postgres->bell = postgres->heard = -1;
    if (open_all(postgres, url, error))
        return store;
    store_close(store);
    return NULL;
}

const struct store_opener postgres_opener = {postgres_open, postgres_grants, postgres_functions};

void postgres_close(struct store *store) {
    struct postgres *postgres = postgres_of(store);
    store_rollback(store);
    if (store->self.id)
        store_leave(store, NULL);
    turn_forget(store);
    reader_close(store);
    direct_close(store);
    /* The server would notice a little later that nobody holds them any more. */
    if (store->db.driver && !postgres->session.lost && !postgres->address.pooled)
        session_execute(&postgres->session, "SELECT pg_catalog.pg_advisory_unlock_all()", NULL);
    db_close(&store->db);
    address_clear(&postgres->address);
    row_want_end(store);
    bulk_clear(&store->bulk);
    bulk_clear(&store->endings);
    bulk_clear(&store->failures);
    bulk_clear(&store->keys);
    unit_rows_clear(store);
    lasting_clear(&store->lasting);
    occupancy_clear(store);
    catalog_clear(&store->catalog);
    peers_clear(&store->peers);
    suspects_clear(&store->suspects);
    free(postgres->signs.list);
    free(postgres->state_dir);
    free(postgres->left.ids);
    command_clear(store);
    free(store->marks.list);
    free(store->config.text);
    id_set_clear(&store->filling.ids);
    spared_clear(store);
    free(store->unserved);
    free(store->url);
    free(store);
}
