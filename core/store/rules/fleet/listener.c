/* listener.c - programs that are told of work of some topics and take none (rules §24). Each has a
 * row among the executors, of a kind of its own, and the proof that it lives. It has no lease, as
 * it has nothing that could be taken from it. */
#include "store/rules/fleet/listener.h"
#include "base/json.h"
#include "store/outside.h"
#include "store/rules/ground/state.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TOLD_MOST = 3 }; /* times that it tells of itself for one look */

/* Never itself: while its session is taken again nobody holds its proof. */
static bool is_dead(struct store *store, const struct peer *peer) {
    return peer->listens && peer->id != store->self.id && store->engine->has_died(store, peer->id);
}

/* Where no executor runs nobody else sees that they have gone. */
static bool dead_removed(struct store *store, struct error *error) {
    bool done = true;
    for (size_t i = 0; done && i < store->peers.count; i++) {
        const struct peer *peer = &store->peers.list[i];
        if (!is_dead(store, peer))
            continue;
        done = store->engine->reaped(store, peer->id) &&
               db_run(&store->db, error, "UPDATE executor SET state=?2 WHERE id=?1", "in", peer->id,
                      (int)EXECUTOR_GONE);
        store->meta.executors++;
    }
    return done;
}

/* On a server a session has to be away for a while before its program counts as dead: those who
 * have joined look again. */
bool store_listeners_tidy(struct store *store, struct error *error) {
    bool dead = false;
    for (size_t i = 0; !dead && i < store->peers.count; i++)
        dead = is_dead(store, &store->peers.list[i]);
    if (!dead || !store->self.listens)
        return true;
    return store_begin(store, STORE_COMMAND, error) &&
           unit_end(store, true, dead_removed(store, error), error);
}

static bool listener_insert(struct store *store, const char *name, const char *topics, time_ms now,
                            int64_t *id, struct error *error) {
    return db_value(&store->db, error, id,
                    "INSERT INTO executor(name, started, lease, seen, aware, state, kind, topics,"
                    " pid, version) VALUES(?1, ?2, ?3, ?2, 0, ?4, 2, ?5, ?6, ?7) RETURNING id",
                    "tiintnt", name, now, TIME_NEVER, (int)EXECUTOR_LIVE, topics, (int)getpid(),
                    MOONSHIFT_VERSION) == YES;
}

static bool listener_join(struct store *store, const char *name, const char *topics, time_ms now,
                          struct error *error) {
    int64_t id = 0;
    if (!store_begin(store, STORE_COMMAND, error))
        return false;
    bool done = dead_removed(store, error) &&
                listener_insert(store, name, topics, now, &id, error) &&
                store->engine->enter(store, id, 0, error);
    store->meta.executors++;
    if (!unit_end(store, true, done, error)) {
        store->engine->quit(store, id);
        return false;
    }
    store->self = (struct self){.id = id,
                                .lease = TIME_NEVER,
                                .lease_until = TIME_NEVER,
                                .now = now,
                                .steady = true,
                                .listens = true};
    snprintf(store->self.owner, sizeof store->self.owner, "%s/%lld", name, (long long)id);
    return store->engine->entered(store, error);
}

/* Tells others that it lives, and of these topics; NULL: of those as before. In the transaction
 * that takes programs for dead its session is seen, so that what is written here stands. */
static bool listener_tell(struct store *store, const char *topics, struct error *error) {
    if (!store_begin(store, STORE_COMMAND, error))
        return false;
    bool done = db_run(&store->db, error,
                       "UPDATE executor SET state=?2, topics=coalesce(?3, topics) WHERE id=?1",
                       "int", store->self.id, (int)EXECUTOR_LIVE, topics);
    if (done && !db_changes(&store->db))
        done = error_set(error, ERROR_NOT_FOUND, "store \"%s\": the row of executor %lld is gone",
                         store->db.name, (long long)store->self.id);
    store->meta.executors++;
    if (!unit_end(store, true, done, error))
        return false;
    store->self.returned = false;
    return true;
}

/* A session that is lost as it looks again is told of again, too. */
bool listener_look(struct store *store, bool *own, struct error *error) {
    for (int tries = 0; store_look(store, own, error); tries++) {
        if (!store->self.listens || !store->self.returned)
            return true;
        store_look_end(store, *own);
        if (tries == TOLD_MOST)
            return error_set(error, ERROR_UNAVAILABLE,
                             "store \"%s\": the connection is lost again and again",
                             store->db.name);
        if (!listener_tell(store, NULL, error))
            return false;
    }
    return false;
}

bool store_listen(struct store *store, const char *name, const json_t *topics, time_ms now,
                  struct error *error) {
    char *text = json_write(topics, NULL);
    bool done = text || error_no_memory(error);
    if (done)
        done = store->self.id ? listener_tell(store, text, error)
                              : listener_join(store, name, text, now, error);
    free(text);
    return done;
}
