#include "store/sqlite/turn/log_sync.h"
#include "base/clamp.h"
#include "base/crash_point.h"
#include "store/sqlite/db/log_index.h"
#include "store/sqlite/turn/gate.h"
#include <string.h>
#include <sys/random.h>

enum {
    READ_TRIES = 100, /* while others write the index's head */
    RISE = 16         /* see log_sync_took */
};

/* A place in the log: its salt, which each new beginning of the log changes, and frames. */
static uint32_t salt_of(uint64_t place) {
    return (uint32_t)(place >> 32);
}

static bool is_behind(uint64_t place, uint64_t other) {
    return salt_of(place) != salt_of(other) || (uint32_t)place < (uint32_t)other;
}

/* How far the log goes now. False: not known. */
static bool place_now(struct store *store, uint64_t *place) {
    struct index_head head;
    bool known = false;
    for (int i = 0; !known && i < READ_TRIES; i++)
        known = index_read(store, &head);
    if (known)
        *place = (uint64_t)head.salt[1] << 32 | head.frames;
    return known;
}

static struct gate_page *page_of(struct store *store) {
    struct gate *gate = &sqlite_of(store)->gate;
    if (store->mode == STORE_READ)
        gate_look(gate, sqlite_of(store)->path);
    return gate->page;
}

static void note_synced(struct store *store, struct gate_page *page, uint64_t place) {
    uint64_t synced = page && !sqlite_of(store)->gate.reads ? atomic_load(&page->synced) : place;
    while (is_behind(synced, place) && !atomic_compare_exchange_weak(&page->synced, &synced, place))
        ;
}

int64_t log_sync_took(int64_t before, int64_t took) {
    return before && took > before ? before + (took - before + RISE - 1) / RISE : took;
}

/* Tells all processes that use the store. */
static void note_took(struct store *store, struct gate_page *page, int64_t took) {
    if (!page || sqlite_of(store)->gate.reads)
        return;
    int64_t known = log_sync_took(atomic_load(&page->sync_took), took);
    atomic_store(&page->sync_took, (uint32_t)clamp(known, 1, UINT32_MAX));
}

/* ---- what a commit changes ---- */

#define PENDING UINT32_MAX /* instead of frames: the commit is under way */

static bool has_changed(const struct store *store, int slot) {
    return store->changes[slot / 64] >> slot % 64 & 1;
}

static bool changes_any(const struct store *store) {
    for (size_t i = 0; i < sizeof store->changes / sizeof *store->changes; i++)
        if (store->changes[i])
            return true;
    return false;
}

/* No two commits of any process have the same. */
static uint64_t mark_next(struct store *store) {
    uint32_t *mark = &sqlite_of(store)->mark;
    while (!*mark && getrandom(mark, sizeof *mark, 0) != sizeof *mark)
        ;
    return (uint64_t)++ * mark << 32 | PENDING;
}

void log_sync_mark(struct store *store) {
    struct gate_page *page = sqlite_of(store)->gate.page;
    if (store->meta.catalog != store->stored.catalog)
        changed_note_common(store);
    if (!page || !changes_any(store))
        return;
    const uint64_t mark = mark_next(store);
    for (int i = 0; i < CHANGED_SLOTS; i++)
        if (has_changed(store, i))
            atomic_store(&page->changed[i], mark);
}

/* Another commit may have marked it since. */
void log_sync_marked(struct store *store) {
    struct gate_page *page = sqlite_of(store)->gate.page;
    const uint64_t mark = (uint64_t)sqlite_of(store)->mark << 32 | PENDING;
    uint64_t place = 0;
    bool known = page && changes_any(store) && place_now(store, &place);
    for (int i = 0; known && i < CHANGED_SLOTS; i++) {
        uint64_t expected = mark;
        if (has_changed(store, i))
            atomic_compare_exchange_strong(&page->changed[i], &expected, place);
    }
    memset(store->changes, 0, sizeof store->changes);
}

/* A log that has begun anew since was on the disk, and is in the database. */
static bool is_durable(const struct gate_page *page, int slot, uint64_t now) {
    const uint64_t place = atomic_load(&page->changed[slot]);
    return (uint32_t)place != PENDING &&
           (salt_of(place) != salt_of(now) || !is_behind(atomic_load(&page->synced), place));
}

bool log_sync_seen_of(struct store *store, int64_t instance, struct error *error) {
    const struct gate_page *page = page_of(store);
    uint64_t now = 0;
    bool durable = page && sqlite_of(store)->synced && place_now(store, &now) &&
                   is_durable(page, CHANGED_COMMON, now) &&
                   (!instance || is_durable(page, (int)changed_slot(instance), now));
    return durable ? log_sync_sound(store, error) : log_sync_seen(store, error);
}

/* It is not tried again: what the disk has is not known any more. */
static bool sync_failed(struct store *store, sqlite3_file *log, const uint64_t *place,
                        struct error *error) {
    struct gate_page *page = page_of(store);
    int reason = 0;
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &reason);
    sqlite_of(store)->broken = sqlite_of(store)->torn = true;
    if (page && !sqlite_of(store)->gate.reads && place)
        atomic_store(&page->failed, *place);
    return error_set(error, ERROR_IO, "store \"%s\": its log cannot be synced%s%s%s",
                     store->db.name, reason ? " (" : "", reason ? strerror(reason) : "",
                     reason ? ")" : "");
}

/* A place of another log says nothing about this one. */
static bool has_failed(struct store *store) {
    const struct gate_page *page = sqlite_of(store)->gate.page;
    uint64_t place = 0;
    uint64_t failed = page ? atomic_load(&page->failed) : 0;
    return failed && place_now(store, &place) && salt_of(place) == salt_of(failed);
}

bool log_sync_sound(struct store *store, struct error *error) {
    return (!sqlite_of(store)->torn && !has_failed(store)) ||
           error_set(error, ERROR_IO,
                     "store \"%s\": a sync of its log has failed (expected: every program that "
                     "uses it ends, then one that writes is started)",
                     store->db.name);
}

static bool sync_seen(struct store *store, struct error *error) {
    struct sqlite *sqlite = sqlite_of(store);
    uint64_t place = 0;
    if (!sqlite->path || (sqlite->broken && !sqlite->torn))
        return true;
    bool known = place_now(store, &place);
    if (known && (uint32_t)place == 0)
        return true; /* a checkpoint has synced all that there was */
    struct gate_page *page = page_of(store);
    if (!log_sync_sound(store, error))
        return false;
    bool writes = store->mode != STORE_READ;
    if (known && page && (sqlite->synced || !writes) &&
        !is_behind(atomic_load(&page->synced), place))
        return true;
    sqlite3_file *log = index_file(store, SQLITE_FCNTL_JOURNAL_POINTER);
    if (!log)
        return true;
    int64_t begun = clock_monotonic_us();
    if (log->pMethods->xSync(log, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY) != SQLITE_OK)
        return sync_failed(store, log, known ? &place : NULL, error);
    CRASH_POINT("log_synced");
    note_took(store, page, clock_monotonic_us() - begun);
    sqlite->synced = true;
    if (known)
        note_synced(store, page, place);
    return true;
}

bool log_sync_seen(struct store *store, struct error *error) {
    bool done = sync_seen(store, error);
    store->unsure = store->unsure && !done;
    return done;
}

void log_sync_mend(struct store *store) {
    struct gate *gate = &sqlite_of(store)->gate;
    if (store->mode == STORE_READ || !has_failed(store) || !gate_take(gate, GATE_OPEN, true))
        return;
    sqlite_of(store)->mending = true;
    store_tend(store, CHORE_LOG, 0, NULL, NULL);
    sqlite_of(store)->mending = false;
    gate_take(gate, GATE_OPEN, false);
}
