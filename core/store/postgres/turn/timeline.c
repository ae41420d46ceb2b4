#include "store/postgres/turn/timeline.h"
#include "base/log.h"
#include "store/postgres/db/connection.h"
#include "store/postgres/turn/lock_page.h"
#include "store/postgres/turn/transaction.h"
#include "store/postgres/turn/turn.h"
#include "store/rules/job/locks.h"
#include "store/rules/place/mark.h"
#include "store/rules/record/operation.h"
#include <stdio.h>

#define GAP INT64_C(1000000) /* more than a lost tail has handed out */

static unsigned shown(int64_t timeline) {
    return (unsigned)(timeline & UINT32_MAX);
}

bool timeline_is_known(struct store *store) {
    struct postgres *postgres = postgres_of(store);
    struct timeline *timeline = &postgres->timeline;
    const unsigned generation = postgres->session.generation;
    if (!store->meta.timeline) /* a new store */
        store->meta.timeline = timeline->server;
    bool same = timeline->known == timeline->server && timeline->generation == generation;
    bool owes = timeline->lost || timeline->late;
    if (store->meta.timeline != timeline->server || (postgres->turn && !same) || owes)
        return false;
    timeline->known = timeline->server;
    timeline->generation = generation;
    return true;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

void timeline_committed(struct store *store) {
    struct timeline *timeline = &postgres_of(store)->timeline;
    timeline->id = larger(timeline->id, store->meta.next_id);
    timeline->token = larger(timeline->token, store->meta.next_token);
    timeline->committed = clock_monotonic();
}

void timeline_given(struct store *store, int64_t id) {
    struct timeline *timeline = &postgres_of(store)->timeline;
    timeline->id = larger(timeline->id, id);
}

/* ---- no number is handed out twice ---- */

static bool move_sequences(struct store *store, struct error *error) {
    int64_t moved = 0;
    return db_value(&store->db, error, &moved,
                    "SELECT count(setval(s.oid, coalesce(pg_sequence_last_value(s.oid), 0)+?2))"
                    " FROM pg_catalog.pg_class s"
                    " JOIN pg_catalog.pg_namespace n ON n.oid=s.relnamespace"
                    " WHERE n.nspname=?1 AND s.relkind='S'",
                    "ti", postgres_of(store)->address.schema, GAP) == YES;
}

/* What other processes keep in memory they read anew, as its number has moved. */
static void move_counters(struct store *store) {
    const struct timeline *timeline = &postgres_of(store)->timeline;
    struct meta *meta = &store->meta;
    meta->next_id = larger(meta->next_id, timeline->id) + GAP;
    meta->next_token = larger(meta->next_token, timeline->token) + GAP;
    meta->catalog += GAP;
    meta->executors += GAP;
    meta->cuts += GAP;
    meta->timeline = timeline->server;
}

static bool move_on(struct store *store, time_ms now, struct error *error) {
    char from[40], to[40];
    snprintf(from, sizeof from, "timeline %u", shown(store->meta.timeline));
    snprintf(to, sizeof to, "timeline %u", shown(postgres_of(store)->timeline.server));
    move_counters(store);
    store->ring.everybody = true;
    return move_sequences(store, error) &&
           operation_write(store, "failover", "server", 1, from, to, now, error);
}

/* Another process that followed first may have seen less. */
static void raise_counters(struct store *store) {
    const struct timeline *timeline = &postgres_of(store)->timeline;
    struct meta *meta = &store->meta;
    if (meta->next_id < timeline->id)
        meta->next_id = timeline->id + GAP;
    if (meta->next_token < timeline->token)
        meta->next_token = timeline->token + GAP;
}

/* ---- what this process has lost ---- */

/* After a long rest the number may have been cleaned up. */
static bool count_lost(struct store *store, struct error *error) {
    struct postgres *postgres = postgres_of(store);
    struct timeline *timeline = &postgres->timeline;
    int64_t turn = 0;
    if (!turn_read(store, &turn, error))
        return false;
    bool recent = clock_monotonic() - timeline->committed < TURN_KEPT / 2;
    if (turn < postgres->turn && (turn || recent))
        timeline->lost += postgres->turn - turn;
    timeline->late = timeline->late || turn > postgres->turn;
    postgres->turn = turn;
    return true;
}

/* Without its row the others take its place, and without its folder nobody knows its handlers. */
static enum answer is_registered(struct store *store, struct error *error) {
    int64_t any = 0;
    return db_value(&store->db, error, &any,
                    "SELECT 1 FROM executor WHERE id=?1"
                    " AND (?2=0 OR EXISTS(SELECT 1 FROM deployment WHERE id=?2))",
                    "ii", store->self.id, store->deployed);
}

/* Jobs that are locked by this executor in the store, and it does not know so, would never end. */
static bool drop_all(struct store *store, time_ms now, struct error *error) {
    char entity[JOB_NAME_MAX + 48];
    const struct locks_free all = {.owner = store->self.id, .now = now};
    const int64_t lost = postgres_of(store)->timeline.lost;
    snprintf(entity, sizeof entity, "executor %s", store->self.owner);
    store->meta.cuts++;
    if (store->self.id && (!lock_page_none(store, error) || !locks_free(store, &all, error)))
        return false;
    return !lost || operation_write(store, "lose_commits", store->self.id ? entity : "program",
                                    (int)lost, NULL, NULL, now, error);
}

static bool timeline_refuse(struct store *store, enum answer registered, struct error *error) {
    struct timeline *timeline = &postgres_of(store)->timeline;
    const bool over = store->self.id && registered == NO;
    const long long lost = timeline->lost;
    timeline->lost = 0;
    timeline->late = false;
    log_event(LOG_ERROR, "store went back", "store:s lost:l timeline:l", store->db.name,
              (int64_t)lost, (int64_t)shown(timeline->server));
    return error_set(error, store->self.id && !over ? ERROR_BUSY : ERROR_IO,
                     "store \"%s\": the store went back: the server lacks the last %lld"
                     " transactions of this process%s",
                     store->db.name, lost, over ? ", and with them its registration" : "");
}

/* What the commit has settled and locked the executor does not know. A program was told already. */
static bool refuse_late(struct store *store, struct error *error) {
    postgres_of(store)->timeline.late = false;
    return !store->self.id ||
           error_set(error, ERROR_BUSY,
                     "store \"%s\": a commit has taken place that was given up; the jobs of this"
                     " executor are given back",
                     store->db.name);
}

/* ---- all of it ---- */

static bool follow(struct store *store, bool *moves, enum answer *registered, struct error *error) {
    struct timeline *timeline = &postgres_of(store)->timeline;
    const time_ms now = postgres_of(store)->server_clock.ahead + clock_since_boot();
    *moves = store->meta.timeline != timeline->server;
    if ((*moves && !move_on(store, now, error)) || !count_lost(store, error))
        return false;
    raise_counters(store);
    if (!timeline->lost && !timeline->late)
        return true;
    *registered = store->self.id ? is_registered(store, error) : YES;
    return *registered != FAILED && drop_all(store, now, error);
}

/* The command that is about to go on has an entry of its own in the log of operations. */
static bool follow_apart(struct store *store, bool *moves, enum answer *registered,
                         struct error *error) {
    const struct journal kept = store->journal;
    store->journal = (struct journal){0};
    bool done = unit_end(store, true, follow(store, moves, registered, error), error);
    store->journal = kept;
    return done;
}

/* Ids drawn ahead, and marks, are of the server before. */
static void followed(struct store *store) {
    struct postgres *postgres = postgres_of(store);
    postgres->drawn = (struct drawn){0};
    postgres->timeline.known = postgres->timeline.server;
    postgres->timeline.generation = postgres->session.generation;
    marks_forget(store);
}

bool timeline_follow(struct store *store, struct error *error) {
    struct timeline *timeline = &postgres_of(store)->timeline;
    enum answer registered = YES;
    bool moves = false;
    if (!postgres_begin_anyway(store, STORE_COMMAND, error))
        return false;
    const unsigned before = shown(store->meta.timeline);
    if (!follow_apart(store, &moves, &registered, error))
        return false;
    followed(store);
    if (moves)
        log_event(LOG_WARN, "another server", "store:s timeline:l before:l", store->db.name,
                  (int64_t)shown(timeline->server), (int64_t)before);
    if (timeline->lost)
        return timeline_refuse(store, registered, error);
    return !timeline->late || refuse_late(store, error);
}
