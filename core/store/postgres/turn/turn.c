#include "store/postgres/turn/turn.h"
#include "store/postgres/db/connection.h"
#include "store/postgres/turn/transaction.h"
#include <poll.h>
#include <string.h>
#include <sys/random.h>

#define PAUSE_FIRST 20 /* ms between two attempts to connect, doubled each time */
#define PAUSE_MOST 500

/* Not 0, and the same for as long as the store is open. */
static bool draw(struct postgres *postgres, struct error *error) {
    uint64_t drawn = 0;
    if (postgres->ticket)
        return true;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
        return error_set(error, ERROR_FAILED, "store \"%s\": no random numbers",
                         postgres->store.db.name);
    postgres->ticket = (int64_t)(drawn >> 1 | 1);
    return true;
}

bool turn_write(struct store *store, struct error *error) {
    struct postgres *postgres = postgres_of(store);
    return draw(postgres, error) &&
           db_run(&store->db, error,
                  "INSERT INTO turn(session, n, at) VALUES(?1, ?2, " SERVER_NOW ")"
                  " ON CONFLICT(session) DO UPDATE SET n=excluded.n, at=excluded.at",
                  "ii", postgres->ticket, postgres->turn + 1);
}

void turn_written(struct store *store) {
    postgres_of(store)->turn++;
}

void turn_forget(struct store *store) {
    struct postgres *postgres = postgres_of(store);
    if (postgres->turn && !postgres->session.lost)
        db_run(&store->db, NULL, "DELETE FROM turn WHERE session=?1 OR at<" SERVER_NOW "-?2", "ii",
               postgres->ticket, TURN_KEPT);
}

bool turn_read(struct store *store, int64_t *turn, struct error *error) {
    enum answer found = db_value(&store->db, error, turn, "SELECT n FROM turn WHERE session=?1",
                                 "i", postgres_of(store)->ticket);
    *turn = found == YES ? *turn : 0;
    return found != FAILED;
}

/* A standby may be promoted without what it has not replayed yet, so it cannot tell. */
static bool is_primary(struct store *store, struct error *error) {
    int64_t primary = 0;
    return db_value(&store->db, error, &primary, "SELECT 1 WHERE NOT pg_is_in_recovery()", "") ==
           YES;
}

/* Reads the number and writes it again. The commit may be there without the standby that it waited
 * for, as after a crash: the one that is under way then waits for both. */
static bool renew(struct store *store, int64_t *turn, struct error *error) {
    *turn = 0;
    return db_value(&store->db, error, turn, "UPDATE turn SET n=n WHERE session=?1 RETURNING n",
                    "i", postgres_of(store)->ticket) != FAILED;
}

static bool commit(struct store *store, struct error *error) {
    struct session *session = &postgres_of(store)->session;
    session->ending = true;
    bool done = db_run(&store->db, error, "COMMIT", "") && session_land(session, NULL, error);
    session->ending = false;
    return done;
}

/* The transaction may still be under way on the old connection: it holds the gate until it ends. */
static bool turn_ask(struct store *store, int64_t *turn, struct error *error) {
    struct session *session = &postgres_of(store)->session;
    session_enter(session);
    bool asked = db_run(&store->db, error, "BEGIN", "") && postgres_gate(store, false, error) &&
                 is_primary(store, error);
    asked = asked && renew(store, turn, error) && commit(store, error);
    session_leave(session);
    return asked;
}

/* If earlier transactions are lost as well, the next one that begins says so; see timeline.h. */
static enum answer judge(struct store *store, int64_t turn, struct error *error) {
    if (turn == postgres_of(store)->turn + 1)
        return YES;
    error_set(error, ERROR_BUSY, "store \"%s\": the connection was lost before a commit took place",
              store->db.name);
    return NO;
}

/* An executor goes on: what became of the commit is found out when it connects; see timeline.h. */
static enum answer give_up(struct store *store, const struct error *stalled, struct error *error) {
    const enum error_code code = store->self.id ? ERROR_UNAVAILABLE : ERROR_IO;
    if (stalled->code)
        error_set(error, code, "store \"%s\": a commit has not ended: %s", store->db.name,
                  stalled->text);
    else
        error_set(error, code,
                  "store \"%s\": the connection was lost during a commit, and the server cannot be "
                  "asked whether it took place",
                  store->db.name);
    return FAILED;
}

/* What waits for a standby holds the gate, so that asking would be another wait. */
static bool recall(struct store *store, struct error *stalled, int64_t *turn, struct error *error) {
    return postgres_reconnect(store, error) && !postgres_stalled(store, stalled) &&
           turn_ask(store, turn, error);
}

enum answer turn_recall(struct store *store, time_ms begun, struct error *error) {
    struct session *session = &postgres_of(store)->session;
    const time_ms from = clock_monotonic();
    struct error stalled = {0};
    int64_t turn = 0;
    bool known = false;
    session->ends_by = begun + RECALL_WAIT;
    for (int pause = PAUSE_FIRST; !(known = recall(store, &stalled, &turn, error)) &&
                                  !stalled.code && clock_monotonic() < session->ends_by &&
                                  clock_monotonic() < transaction_patience(store, from);
         pause = pause * 2 < PAUSE_MOST ? pause * 2 : PAUSE_MOST)
        poll(NULL, 0, pause);
    session->ends_by = 0;
    return known ? judge(store, turn, error) : give_up(store, &stalled, error);
}
