/* presence.c - what an executor has beside the database: a byte of the gate, crash slots, a bell.
 */
#include "base/crash_point.h"
#include "store/sqlite/beside/bell.h"
#include "store/sqlite/beside/location.h"
#include "store/sqlite/turn/gate.h"
#include "store/sqlite/turn/purge.h"
#include "store/sqlite/turn/turn.h"
#include <stdlib.h>

/* ---- joining and leaving ---- */

static bool make_files(struct store *store, int64_t id, int workers, struct error *error) {
    if (!sqlite_of(store)->path)
        return true;
    if (!gate_take(&sqlite_of(store)->gate, GATE_EXECUTORS + id, true))
        return error_set(error, ERROR_IO, "store \"%s\": cannot lock \"%s-gate\"", store->db.name,
                         sqlite_of(store)->path);
    leftover_clear(store, id);
    bell_make(&sqlite_of(store)->bell, sqlite_of(store)->path, id);
    struct slots_name slots = slots_beside(sqlite_of(store)->path, id);
    return workers < 1 || slots_make(&sqlite_of(store)->slots, &slots, workers + 1, error);
}

bool executor_enter(struct store *store, int64_t id, int workers, struct error *error) {
    return location_note(store, &sqlite_of(store)->moved, error) &&
           make_files(store, id, workers, error);
}

bool executor_entered(struct store *store, struct error *error) {
    struct sqlite *sqlite = sqlite_of(store);
    if (store->self.listens) /* the chores are for executors */
        return true;
    sqlite->checkpointer = sqlite->path && gate_take(&sqlite->gate, GATE_CHECKPOINTER, true);
    intact_remember(store);
    return !sqlite->moved || store_tend(store, CHORE_LOG, 0, NULL, error);
}

void executor_quit(struct store *store, int64_t id) {
    struct sqlite *sqlite = sqlite_of(store);
    if (sqlite->checkpointer)
        gate_drop(&sqlite->gate, GATE_CHECKPOINTER);
    sqlite->checkpointer = false;
    purge_clear(&sqlite->purge);
    slots_close(&sqlite->slots);
    bell_close(&sqlite->bell);
    gate_drop(&sqlite->gate, GATE_EXECUTORS + id);
    if (!sqlite->path || !id)
        return;
    struct slots_name slots = slots_beside(sqlite->path, id);
    slots_remove(&slots);
    CRASH_POINT("slots_removed");
    bell_remove(sqlite->path, id);
}

bool executor_part(struct store *store, struct error *error) {
    if (!sqlite_of(store)->outdated)
        purge_rest(store);
    sqlite_of(store)->parting = true;
    bool begun = store_begin(store, STORE_COMMAND, error);
    sqlite_of(store)->parting = false;
    return begun;
}

/* ---- the dead ---- */

bool executor_reaped(struct store *store, int64_t id) {
    struct sqlite *sqlite = sqlite_of(store);
    int64_t *gone = realloc(sqlite->gone, (sqlite->gone_count + 1) * sizeof *gone);
    if (!gone)
        return false;
    sqlite->gone = gone;
    gone[sqlite->gone_count++] = id;
    return true;
}

static void reap_committed(struct store *store) {
    for (size_t i = 0; sqlite_of(store)->path && i < sqlite_of(store)->gone_count; i++) {
        bell_remove(sqlite_of(store)->path, sqlite_of(store)->gone[i]);
        CRASH_POINT("dead_bell_removed");
        struct slots_name slots = slots_beside(sqlite_of(store)->path, sqlite_of(store)->gone[i]);
        slots_remove(&slots);
    }
    sqlite_of(store)->gone_count = 0;
}

static void reap_rolled_back(struct store *store) {
    sqlite_of(store)->gone_count = 0;
}

const struct txn_hook reap_hook = {.committed = reap_committed, .drop = reap_rolled_back};

/* ---- signs of life, slots, the bell ---- */

void sqlite_alive(struct store *store, time_ms now) {
    slots_alive(&sqlite_of(store)->slots, now);
}

void sqlite_slot_set(struct store *store, int index, int64_t job, int64_t token, time_ms now) {
    slots_set(&sqlite_of(store)->slots, index, job, token, now);
}

void sqlite_slot_clear(struct store *store, int index) {
    slots_set(&sqlite_of(store)->slots, index, 0, 0, 0);
}

int sqlite_bell(const struct store *store) {
    return sqlite_of(store)->bell.socket;
}

bool sqlite_bell_empty(struct store *store) {
    bell_empty(&sqlite_of(store)->bell);
    return true;
}

bool sqlite_has_changes(struct store *store) {
    bool rang = bell_empty(&sqlite_of(store)->bell), changed = store->changed;
    store->changed = false;
    return rang || changed;
}
