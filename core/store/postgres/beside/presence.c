/* presence.c - what an executor has beside its row: a lock of its session, crash slots, and a bell.
 *
 * The lock is a sign of life: the server drops it with the connection. The bell is a descriptor
 * that is readable while the server has sent something, or while a notification that came along
 * with an answer has not been heard. */
#include "store/postgres/beside/presence.h"
#include "base/log.h"
#include "job/store_url.h"
#include "store/postgres/beside/crash_slots.h"
#include "store/postgres/db/connection.h"
#include "store/postgres/db/direct.h"
#include "store/postgres/turn/server_clock.h"
#include "store/rules/place/mark.h"
#include <limits.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { LOOK_EVERY = 1000 }; /* ms between two looks at who lives, outside of a transaction */

/* ---- the bell ---- */

static bool watch(int bell, int file) {
    struct epoll_event event = {.events = EPOLLIN};
    return file >= 0 && epoll_ctl(bell, EPOLL_CTL_ADD, file, &event) == 0;
}

/* Of the present connection; the closed socket of one before is watched no more. Rows of the outbox
 * ring all executors (life/functions.c). */
static bool bell_listen(struct store *store, int64_t id, struct error *error) {
    struct postgres *postgres = postgres_of(store);
    char sql[128];
    snprintf(sql, sizeof sql, "LISTEN moonshift_%u_%lld; LISTEN moonshift_%u",
             (unsigned)postgres->class, (long long)id, (unsigned)postgres->class);
    struct session *session = direct_session(store);
    return session && session_execute(session, sql, error) &&
           (watch(postgres->bell, session_socket(session)) ||
            error_set(error, ERROR_FAILED, "store \"%s\": no bell can be made", store->db.name));
}

/* Without a session of its own an executor looks for work again and again, and is dead when its
 * lease is over. */
static void tell_deaf(struct store *store) {
    log_event(LOG_WARN, "behind a pool", "store:s bell:s death:s expected:s", store->db.name,
              "polled", "by lease", "the setting listen_url");
}

static bool bell_make(struct store *store, int64_t id, struct error *error) {
    struct postgres *postgres = postgres_of(store);
    if (!direct_has(store)) {
        tell_deaf(store);
        return true;
    }
    postgres->bell = epoll_create1(EPOLL_CLOEXEC);
    postgres->heard = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (!watch(postgres->bell, postgres->heard))
        return error_set(error, ERROR_FAILED, "store \"%s\": no bell can be made", store->db.name);
    return bell_listen(store, id, error);
}

static void bell_close(struct postgres *postgres) {
    if (postgres->bell >= 0)
        close(postgres->bell);
    if (postgres->heard >= 0)
        close(postgres->heard);
    postgres->bell = postgres->heard = -1;
}

static struct session *bell_session(struct store *store) {
    struct postgres *postgres = postgres_of(store);
    return direct_is_other(store) ? &postgres->direct.session : &postgres->session;
}

/* True: somebody has notified this executor. That rows of the outbox wait is noted. */
static bool notified(struct store *store) {
    char outbox[32];
    snprintf(outbox, sizeof outbox, "moonshift_%u", (unsigned)postgres_of(store)->class);
    return session_notified(bell_session(store), outbox, &store->outbox);
}

/* What came along with the answers of a transaction rings again. */
static void bell_hear(struct store *store) {
    struct postgres *postgres = postgres_of(store);
    const uint64_t one = 1;
    if (postgres->heard < 0 || !notified(store))
        return;
    if (write(postgres->heard, &one, sizeof one) != sizeof one)
        return; /* it is readable already */
}

const struct txn_hook postgres_bell_hook = {.committed = bell_hear, .drop = bell_hear};

/* Empties it. What made it ring may stand before what was taken last. */
static bool bell_rang(struct store *store) {
    struct postgres *postgres = postgres_of(store);
    uint64_t count = 0;
    bool rang = notified(store);
    rang = (postgres->heard >= 0 && read(postgres->heard, &count, sizeof count) > 0) || rang;
    if (rang)
        marks_forget(store);
    return rang;
}

int postgres_bell(const struct store *store) {
    return postgres_of(store)->bell;
}

bool postgres_has_changes(struct store *store) {
    bool rang = bell_rang(store), changed = store->changed;
    store->changed = false;
    return rang || changed;
}

/* What stands behind an answer that has not been read is heard by the next transaction only: then
 * nothing is known of why it rang. */
bool postgres_bell_empty(struct store *store) {
    const bool known = store->outbox;
    store->outbox = false;
    const bool rang = bell_rang(store) || !store->outbox;
    store->outbox = store->outbox || known;
    return rang;
}

/* After the commit. To notify is a commit of its own, which need not be on the disk. */
void postgres_notify(struct store *store, int64_t executor) {
    struct error ignored = {0};
    char sql[160];
    snprintf(sql, sizeof sql,
             "BEGIN; SET LOCAL synchronous_commit=off; NOTIFY moonshift_%u_%lld; COMMIT",
             (unsigned)postgres_of(store)->class, (long long)executor);
    session_execute(&postgres_of(store)->session, sql, &ignored);
}

/* ---- joining and leaving ---- */

static bool lock_session(struct store *store, int64_t id, struct error *error) {
    int64_t taken = 0;
    struct db *db = direct_has(store) ? direct_db(store, error) : NULL;
    if (!db)
        return !direct_has(store);
    if (db_value(db, error, &taken, "SELECT pg_try_advisory_lock(?1::int, ?2::int)", "ii",
                 (int64_t)postgres_of(store)->class, LOCK_EXECUTORS + id) != YES)
        return false;
    return taken || error_set(error, ERROR_CONFLICT, "store \"%s\": executor %lld is alive already",
                              store->db.name, (long long)id);
}

/* A session on another server, or in another database, is no sign of life for anybody, and hears no
 * bell. */
static bool lock_is_seen(struct store *store, int64_t id, struct error *error) {
    int64_t seen = 1;
    char shown[STORE_SHOWN];
    if (direct_is_other(store) &&
        db_value(&store->db, error, &seen,
                 "SELECT EXISTS(SELECT 1 FROM pg_locks WHERE locktype='advisory'"
                 " AND database=(SELECT oid FROM pg_database WHERE datname=current_database())"
                 " AND classid::bigint=?1 AND objid::bigint=?2 AND objsubid=2)",
                 "ii", (int64_t)(uint32_t)postgres_of(store)->class, LOCK_EXECUTORS + id) != YES)
        return false;
    return seen || error_set(error, ERROR_CONFIG,
                             "listen_url \"%s\": another server or database than that of \"%s\""
                             " (expected a way to the same one)",
                             store_url_show(store->settings->listen_url, shown), store->db.name);
}

static bool lock_own_session(struct store *store, int64_t id, struct error *error) {
    return lock_session(store, id, error) && lock_is_seen(store, id, error);
}

/* Says which schema its program knows: a step that it could not work with waits until it leaves.
 * And does it hold a lock? If not, its session says nothing of its life. */
static bool note_program(struct store *store, int64_t id, struct error *error) {
    char slots[PATH_MAX + sizeof(struct slots_name)];
    return db_run(&store->db, error,
                  "DELETE FROM program WHERE executor NOT IN"
                  " (SELECT id FROM executor WHERE state<>0)",
                  "") &&
           db_run(&store->db, error,
                  "INSERT INTO program(executor, version, locks, slots) VALUES(?1, ?2, ?3, ?4)",
                  "iint", id, postgres_of(store)->program, (int)direct_has(store),
                  crash_slots_path(store, slots, sizeof slots));
}

bool postgres_enter(struct store *store, int64_t id, int workers, struct error *error) {
    return crash_slots_enter(store, id, workers, error) && note_program(store, id, error) &&
           lock_own_session(store, id, error);
}

bool postgres_entered(struct store *store, struct error *error) {
    postgres_tell_clock(store);
    return bell_make(store, store->self.id, error);
}

/* Its number is this executor's alone: another session that holds it is the old one, of which the
 * server does not know yet that nobody is there. */
static bool end_old_session(struct store *store, struct error *error) {
    int64_t ended = 0;
    struct db *db = direct_db(store, error);
    return db &&
           db_value(db, error, &ended,
                    "SELECT count(pg_terminate_backend(pid, 2000)) FROM pg_locks"
                    " WHERE locktype='advisory' AND pid<>pg_backend_pid()"
                    " AND database=(SELECT oid FROM pg_database WHERE datname=current_database())"
                    " AND classid::bigint=?1 AND objid::bigint=?2 AND objsubid=2",
                    "ii", (int64_t)(uint32_t)postgres_of(store)->class,
                    LOCK_EXECUTORS + store->self.id) != FAILED;
}

bool postgres_enter_again(struct store *store, struct error *error) {
    const int64_t id = store->self.id;
    store->self.returned = true;
    return postgres_sign_again(store, error) &&
           (!id || (end_old_session(store, error) && lock_session(store, id, error) &&
                    bell_listen(store, id, error)));
}

void postgres_quit(struct store *store, int64_t id) {
    int64_t dropped = 0;
    struct error ignored = {0};
    bell_close(postgres_of(store));
    crash_slots_quit(store);
    struct session *session = id ? direct_session(store) : NULL;
    if (!session || session->lost)
        return;
    session_execute(session, "UNLISTEN *", &ignored);
    db_value(session->db, &ignored, &dropped, "SELECT pg_advisory_unlock(?1::int, ?2::int)", "ii",
             (int64_t)postgres_of(store)->class, LOCK_EXECUTORS + id);
}

bool postgres_part(struct store *store, struct error *error) {
    postgres_of(store)->parting = true;
    bool begun = store_begin(store, STORE_COMMAND, error);
    postgres_of(store)->parting = false;
    return begun;
}

/* Nothing is left behind in this engine. */
bool postgres_bequeath(struct store *store, int64_t executor, struct error *error) {
    (void)store;
    (void)executor;
    (void)error;
    return true;
}

bool postgres_reaped(struct store *store, int64_t id) {
    (void)store;
    (void)id;
    return true;
}

/* ---- who lives ---- */

/* Is its session away? *silent: and no sign of life has come for a while by the server's clock.
 * What cannot be asked lives. */
static bool ask_away(struct store *store, int64_t executor, bool *silent) {
    bool away = false;
    *silent = false;
    db_read(&store->db, NULL,
            "SELECT NOT EXISTS(SELECT 1 FROM pg_locks WHERE locktype='advisory'"
            " AND database=(SELECT oid FROM pg_database WHERE datname=current_database())"
            " AND classid::bigint=?1 AND objid::bigint=?2 AND objsubid=2),"
            " EXISTS(SELECT 1 FROM executor e WHERE id=?3"
            " AND NOT EXISTS(SELECT 1 FROM program p WHERE p.executor=e.id AND p.locks=0)"
            " AND seen<" SERVER_NOW "-?4)",
            "ff<iiin", &away, silent, (int64_t)(uint32_t)postgres_of(store)->class,
            LOCK_EXECUTORS + executor, executor, DEAD_AFTER);
    *silent = away && *silent;
    return away;
}

/* The one that is watched, or the one that has been watched longest. */
static struct watched *watched_of(struct postgres *postgres, int64_t executor) {
    struct watched *oldest = postgres->watched;
    for (struct watched *one = oldest; one < postgres->watched + WATCHED; one++) {
        if (one->executor == executor)
            return one;
        if (one->looked < oldest->looked)
            oldest = one;
    }
    *oldest = (struct watched){.executor = executor};
    return oldest;
}

/* A process that holds its slots lives, whatever has become of its session. */
static void watch_again(struct store *store, struct watched *watched, time_ms now) {
    enum slots_life life = crash_slots_life(store, watched->executor);
    watched->looked = now;
    watched->dead = life == SLOTS_FREE;
    if (life != SLOTS_NONE || !ask_away(store, watched->executor, &watched->silent))
        watched->since = 0;
    else if (!watched->since)
        watched->since = now;
}

/* After a server has started again every session is gone, and the living come back one by one. So a
 * session must have been seen to be away for a while. */
bool postgres_has_died(struct store *store, int64_t executor) {
    struct watched *watched = watched_of(postgres_of(store), executor);
    time_ms now = clock_monotonic();
    if (!watched->looked || now >= watched->looked + LOOK_EVERY || store->writing)
        watch_again(store, watched, now);
    time_ms since = watched->since;
    if (since < postgres_connected(store)) /* while the server was away nobody could come back */
        since = postgres_connected(store);
    return watched->dead || (watched->silent && watched->since && now >= since + DEAD_AFTER);
}

/* The first connection says nothing of how long the server was there. */
time_ms postgres_leases_rest(const struct store *store) {
    bool again = postgres_of(store)->session.generation > 1;
    return again ? postgres_connected(store) + DEAD_AFTER : clock_monotonic();
}
