/* transaction.c - one write transaction at a time, through the gate of the store.
 *
 * The gate is a lock of the database that goes with the transaction. It is asked for in the message
 * that begins it, and what is read afterwards is what the last holder has committed. */
#include "store/postgres/turn/transaction.h"
#include "store/postgres/db/direct.h"
#include "store/postgres/turn/command.h"
#include "store/postgres/turn/lock_page.h"
#include "store/postgres/turn/reader.h"
#include "store/postgres/turn/server_clock.h"
#include "store/postgres/turn/timeline.h"
#include "store/postgres/turn/turn.h"
#include "store/rules/place/places.h"
#include "store/rules/place/unique.h"
#include "store/rules/work/work.h"
#include <string.h>

#define LONG_WAIT 5 /* ms; who waits so long for the gate has met another writer */

static const char begin_sql[] = "BEGIN ISOLATION LEVEL READ COMMITTED",
                  look_sql[] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                  commit_sql[] = "COMMIT", rollback_sql[] = "ROLLBACK";

bool postgres_reconnect(struct store *store, struct error *error) {
    struct postgres *postgres = postgres_of(store);
    return session_reopen(&postgres->session, &postgres->address, error) &&
           (direct_is_other(store) || !direct_has(store) || postgres->retake(store, error));
}

/* Work goes on while the way past a pool is broken. */
static bool connected(struct store *store, struct error *error) {
    if (postgres_of(store)->session.lost && !postgres_reconnect(store, error))
        return false;
    direct_again(store, NULL);
    return true;
}

bool postgres_gate(struct store *store, bool shared, struct error *error) {
    const int class = postgres_of(store)->class, gate = LOCK_GATE;
    return shared
               ? db_run(&store->db, error, "SELECT pg_advisory_xact_lock_shared(?1::int, ?2::int)",
                        "nn", class, gate)
               : db_run(&store->db, error, "SELECT pg_advisory_xact_lock(?1::int, ?2::int)", "nn",
                        class, gate);
}

/* Ends what is open, whatever has become of it. Nobody waits for that. */
static void abandon(struct store *store) {
    struct session *session = &postgres_of(store)->session;
    session_land(session, NULL, NULL);
    session->failed = session->lost;
    if (!session->lost && db_run(&store->db, NULL, rollback_sql, ""))
        session_part(session);
    session_leave(session);
}

/* A standby, or a primary that was told so: another of the URL's servers may be the primary. */
static bool refuse_read_only(struct store *store, struct error *error) {
    postgres_of(store)->session.lost = true;
    return error_set(error, ERROR_UNAVAILABLE,
                     "store \"%s\": the server is read only (expected the primary)",
                     store->db.name);
}

static bool refuse_schema(struct store *store, const char *is, const char *remedy,
                          struct error *error) {
    return error_set(error, ERROR_CONFIG,
                     "store \"%s\": schema %lld is %s than this program's %lld (%s)",
                     store->db.name, (long long)store->schema.version, is,
                     (long long)postgres_of(store)->program, remedy);
}

/* Somebody has emptied the table. */
bool postgres_version_missing(struct store *store, struct error *error) {
    return error_set(error, ERROR_DAMAGED,
                     "store \"%s\": damaged: schema_version has no row (expected one)",
                     store->db.name);
}

/* A later version may be one that this program can work with: it is only wider. */
bool postgres_version_fits(struct store *store, struct error *error) {
    struct postgres *postgres = postgres_of(store);
    const struct store_schema *schema = &store->schema;
    postgres->outdated = schema->oldest > postgres->program;
    if (postgres->outdated && !postgres->parting)
        return refuse_schema(store, "newer", "upgrade moonshift", error);
    if (schema->version < postgres->program && store->mode != STORE_MIGRATE)
        return refuse_schema(store, "older", "\"moonshift store migrate\" brings it up to date",
                             error);
    return true;
}

/* Reads the version of the schema and the server's clock, in the flight that begins. */
static bool read_begun(struct store *store, bool writing, time_ms begun, struct error *error) {
    struct row *row =
        db_query(&store->db, error,
                 "SELECT version, oldest, " SERVER_NOW ","
                 " pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean,"
                 " CASE WHEN pg_is_in_recovery() THEN 0 ELSE " TIMELINE " END, current_schema()"
                 " FROM schema_version",
                 "");
    enum answer step = db_step(&store->db, row, error);
    if (step == FAILED)
        return false;
    if (step == NO)
        return postgres_version_missing(store, error);
    store->schema.version = row_int(row, 0);
    store->schema.oldest = row_int(row, 1);
    postgres_note_clock(store, begun, row_int(row, 2));
    bool read_only = row_int(row, 3);
    postgres_of(store)->timeline.server = row_int(row, 4);
    bool own =
        !row_text(row, 5) || strcmp(row_text(row, 5), postgres_of(store)->address.schema) == 0;
    row_done(row);
    if (!own)
        return error_set(error, ERROR_CONFIG, "store \"%s\": " SESSION_SHARED, store->db.name);
    if (writing && read_only)
        return refuse_read_only(store, error);
    return postgres_version_fits(store, error);
}

/* ---- writing ---- */

bool postgres_late(struct store *store, time_ms begun, struct error *error) {
    struct error why = {0};
    if (postgres_of(store)->session.lost || !postgres_stalled(store, &why))
        return transaction_late(store, begun, error);
    return error_set(error, ERROR_BUSY, "store \"%s\": busy: %s", store->db.name, why.text);
}

/* How a transaction begins. */
enum beginning { LOOKING, ALONE, BESIDE_CREATIONS };

/* What is asked for in the flight that begins. NULL: it is asked for later, or not at all. */
struct first {
    struct row *meta, *work, *snapshot, *world, *claim;
};

static bool ask_meta(struct store *store, struct first *first, struct error *error) {
    first->meta = meta_ask(store, error);
    return first->meta && statement_send_ahead(first->meta, error);
}

static bool ask_first(struct store *store, enum store_purpose purpose, struct first *first,
                      struct error *error) {
    const bool works = purpose == STORE_TURN || purpose == STORE_COMMAND;
    first->work = works ? work_ask(store, error) : NULL;
    if (!ask_meta(store, first, error) ||
        (works && !(first->work && statement_send_ahead(first->work, error))))
        return false;
    first->snapshot = purpose == STORE_TURN ? reader_ask(store, error) : NULL;
    first->world = purpose == STORE_COMMAND ? command_ask(store, error) : NULL;
    return purpose != STORE_COMMAND || first->world;
}

/* The key of a creation beside others, for the id that it is given. */
static bool ask_claim(struct store *store, enum beginning how, struct first *first,
                      struct error *error) {
    struct unique_ahead *ahead = store->claims;
    if (ahead)
        ahead->asked = ahead->claimed = false;
    if (!ahead || how != BESIDE_CREATIONS)
        return true;
    ahead->job = ahead->given ? ahead->given : postgres_of(store)->drawn.next;
    first->claim = unique_ahead_ask(store, ahead, error);
    return first->claim && statement_send_ahead(first->claim, error);
}

/* Not what is lost without harm. */
static bool unhurry(struct store *store, struct error *error) {
    return db_run(&store->db, error, "SET LOCAL synchronous_commit TO off", "");
}

/* A schema that has not been looked at yet may lack what is asked for. */
static bool begin_flight(struct store *store, enum beginning how, time_ms begun,
                         enum store_purpose purpose, struct first *first, struct error *error) {
    const bool known = store->schema.version != 0;
    *first = (struct first){0};
    if (how == LOOKING)
        return db_run(&store->db, error, look_sql, "") &&
               (!known || ask_meta(store, first, error)) && read_begun(store, false, begun, error);
    if (!db_run(&store->db, error, begin_sql, "") ||
        !postgres_gate(store, how == BESIDE_CREATIONS, error) ||
        (purpose == STORE_HOLD && !unhurry(store, error)))
        return false;
    return (!known || ask_first(store, purpose, first, error)) &&
           ask_claim(store, how, first, error) && read_begun(store, true, begun, error);
}

/* A creation that has no ids drawn on this connection runs alone. */
static enum beginning beginning_of(const struct postgres *postgres, enum store_purpose purpose) {
    bool drawn = postgres->drawn.generation == postgres->session.generation;
    return purpose == STORE_CREATION && drawn ? BESIDE_CREATIONS : ALONE;
}

/* A connection that turns out to be lost is made anew, once: nothing was under way on it. */
static bool begin_any(struct store *store, bool writing, enum store_purpose purpose, time_ms begun,
                      struct first *first, struct error *error) {
    struct postgres *postgres = postgres_of(store);
    struct session *session = &postgres->session;
    for (int tries = 0; connected(store, error); tries++) {
        enum beginning how = writing ? beginning_of(postgres, purpose) : LOOKING;
        postgres->shares = how == BESIDE_CREATIONS;
        session_enter(session);
        if (begin_flight(store, how, begun, purpose, first, error))
            return true;
        abandon(store);
        store->schema.version = 0;
        if (!session->lost || tries)
            return false;
    }
    return false;
}

static bool read_first(struct store *store, const struct first *first, struct error *error) {
    bool done = first->meta ? meta_answer(store, first->meta, error) : meta_read(store, error);
    return done && (!first->work || work_answer(store, first->work, error)) &&
           reader_answer(store, first->snapshot, error) &&
           (!first->world || command_answer(store, first->world, error));
}

static bool claim_answer(struct store *store, const struct first *first, struct error *error) {
    return !first->claim || unique_ahead_answer(store, store->claims, first->claim, error);
}

bool postgres_begin_anyway(struct store *store, enum store_purpose purpose, struct error *error) {
    struct postgres *postgres = postgres_of(store);
    if (!transaction_may_begin(store, error))
        return false;
    struct error reason = {ERROR_NONE, ""};
    reader_prepare(store); /* what that takes is no wait for the gate */
    time_ms begun = clock_monotonic();
    postgres->session.begins = store;
    postgres->session.begun = begun;
    struct first first = {0};
    bool done = begin_any(store, true, purpose, begun, &first, &reason);
    postgres->session.begins = NULL;
    if (clock_monotonic() - begun >= LONG_WAIT)
        transaction_waited(store);
    if (!done)
        return reason.code == ERROR_INTERRUPTED ? postgres_late(store, begun, error)
                                                : error_set(error, reason.code, "%s", reason.text);
    store->writing = true;
    if (!read_first(store, &first, error) || !claim_answer(store, &first, error)) {
        store_rollback(store);
        return false;
    }
    if (postgres->shares)
        store->meta.next_id = postgres->drawn.next;
    if (purpose != STORE_COMMAND || lock_page_none(store, error))
        return true;
    store_rollback(store);
    return false;
}

bool postgres_begin(struct store *store, enum store_purpose purpose, struct error *error) {
    for (int tries = 0; tries < TIMELINE_TRIES; tries++) {
        if (!postgres_begin_anyway(store, purpose, error))
            return false;
        if (timeline_is_known(store))
            return true;
        store_rollback(store);
        if (!timeline_follow(store, error))
            return false;
    }
    return error_set(error, ERROR_BUSY, "store \"%s\": the server is another one again and again",
                     store->db.name);
}

bool postgres_begin_unasked(struct store *store, struct error *error) {
    session_enter(&postgres_of(store)->session);
    if (db_run(&store->db, error, begin_sql, "") && postgres_gate(store, false, error))
        return store->writing = true;
    abandon(store);
    return false;
}

static bool flight(struct store *store, struct row *const rows[2], bool gated,
                   struct error *error) {
    if (!db_run(&store->db, error, begin_sql, "") || !unhurry(store, error))
        return false;
    if (gated && !postgres_gate(store, false, error))
        return false;
    return statement_send_ahead(rows[0], error) &&
           (!rows[1] || statement_send_ahead(rows[1], error)) &&
           db_run(&store->db, error, commit_sql, "") &&
           session_land(&postgres_of(store)->session, NULL, error);
}

bool postgres_flight(struct store *store, struct row *const rows[2], bool gated,
                     struct error *error) {
    struct session *session = &postgres_of(store)->session;
    session->begins = store; /* it waits no longer for the gate than any transaction would */
    session->begun = clock_monotonic();
    session_enter(session);
    bool done = flight(store, rows, gated, error);
    session->begins = NULL;
    if (!done)
        abandon(store);
    session_leave(session);
    return done;
}

/* ---- creations beside each other ---- */

enum { DRAWN_MOST = 64 }; /* ids for single jobs, once a process has created some */

/* NULL: error. */
static struct row *draw_ask(struct store *store, int count, struct error *error) {
    struct row *row =
        db_query(&store->db, error,
                 "UPDATE meta SET value=value+?1 WHERE key='next_id'"
                 " AND EXISTS(SELECT 1 FROM meta WHERE key='timeline' AND value=" TIMELINE ")"
                 " RETURNING value-?1",
                 "n", count);
    return row && statement_send_ahead(row, error) ? row : NULL;
}

/* In a transaction of its own. *first 0: none are drawn, the server is not the one that wrote last.
 */
static bool draw_flight(struct store *store, int count, bool lasts, int64_t *first,
                        struct error *error) {
    if (!db_run(&store->db, error, begin_sql, "") || (!lasts && !unhurry(store, error)) ||
        !postgres_gate(store, true, error))
        return false;
    struct row *row = draw_ask(store, count, error);
    return row && db_run(&store->db, error, commit_sql, "") &&
           session_land(&postgres_of(store)->session, NULL, error) &&
           db_first(&store->db, row, first, error) != FAILED;
}

static bool draw(struct store *store, int count, bool lasts, int64_t *first, struct error *error) {
    struct session *session = &postgres_of(store)->session;
    session_enter(session);
    bool done = draw_flight(store, count, lasts, first, error);
    if (!done)
        abandon(store);
    session_leave(session);
    return done;
}

/* Whoever has them may use them on the connection after this one: they must not be given again. */
int64_t postgres_give_ids(struct store *store, int count) {
    int64_t first = 0;
    struct error reason = {0};
    struct session *session = &postgres_of(store)->session;
    if (!store->schema.version || session->lost || store->mode == STORE_READ)
        return 0;
    session->begins = store; /* it waits no longer for the gate than any transaction would */
    session->begun = clock_monotonic();
    bool done = draw(store, count, true, &first, &reason);
    session->begins = NULL;
    if (!done || !first)
        return 0;
    timeline_given(store, first + count);
    return first;
}

/* They need not be on the disk: what uses them is written behind them, on this connection. */
bool postgres_draw_ids(struct store *store, int count, struct error *error) {
    struct postgres *postgres = postgres_of(store);
    struct drawn *drawn = &postgres->drawn;
    int64_t first = 0;
    if (!connected(store, error))
        return false;
    if (drawn->generation == postgres->session.generation && drawn->end - drawn->next >= count)
        return true;
    int more = drawn->last * 2 < DRAWN_MOST ? drawn->last * 2 : DRAWN_MOST;
    more = more > count ? more : count;
    bool done = draw(store, more, false, &first, error);
    if (done)
        *drawn = (struct drawn){0};
    if (done && first)
        *drawn = (struct drawn){first, first + more, more, postgres->session.generation};
    return done;
}

/* The ids of a creation are counted here, not in the table. */
static bool count_drawn(struct store *store, struct error *error) {
    struct postgres *postgres = postgres_of(store);
    if (!postgres->shares)
        return true;
    if (store->meta.next_id > postgres->drawn.end)
        return error_set(error, ERROR_FAILED, "store \"%s\": more ids were given than drawn",
                         store->db.name);
    postgres->drawn.next = store->stored.next_id = store->meta.next_id;
    return true;
}

/* One flight with all that has been queued. Where it is lost the store is asked what became of it.
 */
static bool commit_sent(struct store *store, struct error *error) {
    struct session *session = &postgres_of(store)->session;
    struct error reason = {ERROR_NONE, ""};
    const time_ms begun = clock_monotonic();
    session->ending = true;
    session->ends_by = begun + COMMIT_WAIT;
    bool done = turn_write(store, &reason) && db_run(&store->db, &reason, commit_sql, "") &&
                session_land(session, NULL, &reason);
    session->ending = false;
    session->ends_by = 0;
    if (!done && session->lost)
        return turn_recall(store, begun, error) == YES;
    return done || error_set(error, reason.code, "%s", reason.text);
}

bool postgres_commit(struct store *store, struct error *error) {
    if (!store->writing)
        return error_set(error, ERROR_FAILED, "store \"%s\": no transaction is open",
                         store->db.name);
    struct error reason = {ERROR_NONE, ""};
    if (!transaction_before_commit(store, &reason) || !count_drawn(store, &reason) ||
        !command_counts(store, &reason) || !meta_write(store, &reason) ||
        !commit_sent(store, &reason)) {
        store_rollback(store);
        return error_set(error, reason.code, "%s", reason.text);
    }
    turn_written(store);
    timeline_committed(store);
    session_leave(&postgres_of(store)->session);
    command_over(store, true);
    transaction_committed(store);
    return true;
}

void postgres_rollback(struct store *store) {
    if (!store->writing)
        return;
    abandon(store);
    command_over(store, false);
    transaction_rolled_back(store);
}

/* ---- reading ---- */

bool postgres_look(struct store *store, struct error *error) {
    struct first first;
    if (!begin_any(store, false, STORE_TURN, clock_monotonic(), &first, error))
        return false;
    if (read_first(store, &first, error))
        return true;
    abandon(store);
    return false;
}

/* A program that listens waits for the end: a notification stands behind its answer. */
void postgres_look_end(struct store *store) {
    abandon(store);
    if (store->self.listens)
        session_return(&postgres_of(store)->session);
}
