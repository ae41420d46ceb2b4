#include "store/sqlite/turn/purge.h"
#include "base/crash_point.h"
#include "store/rules/place/places.h"
#include "store/sqlite/db/engine.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1024, WORDS = BLOCK / 64 };
enum { FULL_BLOCKS = 4 };              /* that go in one turn */
enum { STEP_ROWS = 1000 };             /* that an idle step removes or looks at, about */
enum { SEARCH_ROWS = 200 };            /* that a turn looks at, … */
enum { SEARCH_TURNS = 16 };            /* … once in so many */
enum { REST_ROWS = 32 * BLOCK };       /* of a step as the executor leaves */
enum { REST_TIME = 1000 };             /* ms; it leaves after that */
enum { REST_PAGES = 3000 };            /* of the log, before it is moved between two steps */
enum { PENDING_MAX = 1 << 20 };        /* tombstones, and … */
enum { PENDING_BLOCKS_MAX = 1 << 14 }; /* … blocks: beyond these bounds the oldest go as they are */

/* A thousand ids in a row, and which of them are tombstones. */
struct purge_block {
    int64_t number; /* its first id is number * BLOCK */
    struct purge_block *next_full, *next_gone;
    int count;
    bool gone; /* in the open transaction */
    uint64_t bits[WORDS];
};

/* ---- what is known ---- */

/* Where the block is, or would be. */
static size_t block_at(const struct purge *purge, int64_t number) {
    size_t low = 0, high = purge->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (purge->blocks[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct purge_block *block_insert(struct purge *purge, size_t at, int64_t number) {
    if (purge->count == purge->room) {
        size_t room = purge->room ? purge->room * 2 : 64;
        struct purge_block **blocks = realloc(purge->blocks, room * sizeof *blocks);
        if (!blocks)
            return NULL;
        purge->blocks = blocks;
        purge->room = room;
    }
    struct purge_block *block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    block->number = number;
    struct purge_block **place = purge->blocks + at;
    memmove(place + 1, place, (purge->count++ - at) * sizeof *place);
    *place = block;
    return block;
}

/* NULL: out of memory. */
static struct purge_block *block_of(struct purge *purge, int64_t id) {
    int64_t number = id / BLOCK;
    if (purge->last && purge->last->number == number)
        return purge->last;
    size_t at = block_at(purge, number);
    if (at < purge->count && purge->blocks[at]->number == number)
        purge->last = purge->blocks[at];
    else
        purge->last = block_insert(purge, at, number);
    return purge->last;
}

static void tombstone_note(struct purge *purge, int64_t id) {
    if (id < 0) /* of a row that was written by hand */
        return;
    struct purge_block *block = block_of(purge, id);
    if (!block) {
        purge->lost = true;
        return;
    }
    uint64_t *word = &block->bits[id % BLOCK / 64], bit = UINT64_C(1) << id % 64;
    if (*word & bit)
        return;
    *word |= bit;
    purge->pending++;
    if (++block->count < BLOCK)
        return;
    block->next_full = purge->full;
    purge->full = block;
}

static void block_forget(struct purge *purge, struct purge_block *block) {
    size_t at = block_at(purge, block->number);
    struct purge_block **place = purge->blocks + at, **full = &purge->full;
    memmove(place, place + 1, (--purge->count - at) * sizeof *place);
    while (*full && *full != block)
        full = &(*full)->next_full;
    if (*full)
        *full = block->next_full;
    if (purge->last == block)
        purge->last = NULL;
    purge->pending -= block->count;
    free(block);
}

/* ---- transactions ---- */

bool purge_leave(struct store *store, int64_t id, bool *left, struct error *error) {
    struct purge *purge = &sqlite_of(store)->purge;
    *left = purge->on;
    if (!purge->on)
        return true;
    if (purge->fresh_count == purge->fresh_room) {
        size_t room = purge->fresh_room ? purge->fresh_room * 2 : 256;
        int64_t *fresh = realloc(purge->fresh, room * sizeof *fresh);
        *left = fresh != NULL;
        if (!fresh)
            return true;
        purge->fresh = fresh;
        purge->fresh_room = room;
    }
    if (!purge->mark &&
        !db_run(&store->db, error, "UPDATE executor SET debt=1 WHERE id=?1", "i", store->self.id))
        return false;
    CRASH_POINT("sweep_marked");
    purge->mark = true;
    purge->fresh[purge->fresh_count++] = id;
    return true;
}

/* How far the open transaction has come. */
struct purge_point {
    size_t fresh_count;
    bool mark;
};

static void purge_mark(struct store *store, void *point) {
    const struct purge *purge = &sqlite_of(store)->purge;
    *(struct purge_point *)point = (struct purge_point){purge->fresh_count, purge->mark};
}

static bool purge_back(struct store *store, const void *point, struct error *error) {
    const struct purge_point *before = point;
    (void)error;
    sqlite_of(store)->purge.fresh_count = before->fresh_count;
    sqlite_of(store)->purge.mark = before->mark;
    return true;
}

static void purge_committed(struct store *store) {
    struct purge *purge = &sqlite_of(store)->purge;
    struct purge_block *block;
    while ((block = purge->gone)) {
        purge->gone = block->next_gone;
        block_forget(purge, block);
    }
    purge->lost = purge->lost && !purge->searched;
    purge->searched = false;
    for (size_t i = 0; i < purge->fresh_count; i++)
        tombstone_note(purge, purge->fresh[i]);
    purge->fresh_count = 0;
    purge->going = 0;
    purge->marked = purge->mark;
}

static void purge_rolled_back(struct store *store) {
    struct purge *purge = &sqlite_of(store)->purge;
    for (; purge->gone; purge->gone = purge->gone->next_gone)
        purge->gone->gone = false;
    purge->fresh_count = 0;
    purge->going = 0;
    purge->searched = false;
    purge->mark = purge->marked;
}

const struct txn_hook purge_hook = {.committed = purge_committed,
                                    .drop = purge_rolled_back,
                                    .size = sizeof(struct purge_point),
                                    .mark = purge_mark,
                                    .back = purge_back};

void purge_clear(struct purge *purge) {
    for (size_t i = 0; i < purge->count; i++)
        free(purge->blocks[i]);
    free(purge->blocks);
    free(purge->fresh);
    *purge = (struct purge){0};
}

/* ---- removing ---- */

/* The end of the bits from `at` on that are all set, or all not set. */
static int run_end(const struct purge_block *block, int at) {
    bool set = block->bits[at / 64] >> at % 64 & 1;
    while (at < BLOCK && (block->bits[at / 64] >> at % 64 & 1) == set)
        at++;
    return at;
}

static bool block_remove(struct store *store, struct purge_block *block, struct error *error) {
    int64_t first = block->number * BLOCK;
    for (int at = 0, end; at < BLOCK; at = end) {
        end = run_end(block, at);
        if ((block->bits[at / 64] >> at % 64 & 1) &&
            !db_run(&store->db, error, "DELETE FROM job WHERE id BETWEEN ?1 AND ?2", "ii",
                    first + at, first + end - 1))
            return false;
    }
    CRASH_POINT("sweep_removed");
    block->gone = true;
    block->next_gone = sqlite_of(store)->purge.gone;
    sqlite_of(store)->purge.gone = block;
    sqlite_of(store)->purge.going += block->count;
    return true;
}

/* Those of which every row has ended. */
static bool remove_full(struct store *store, struct error *error) {
    struct purge_block *block = sqlite_of(store)->purge.full;
    for (int i = 0; block && i < FULL_BLOCKS; block = block->next_full, i++)
        if (!block->gone && !block_remove(store, block, error))
            return false;
    return true;
}

/* Blocks with a gap, or with the jobs of others, are never full. */
static bool remove_old(struct store *store, struct error *error) {
    struct purge *purge = &sqlite_of(store)->purge;
    for (size_t i = 0; i < purge->count && (purge->pending - purge->going > PENDING_MAX ||
                                            purge->count - i > PENDING_BLOCKS_MAX);
         i++)
        if (!purge->blocks[i]->gone && !block_remove(store, purge->blocks[i], error))
            return false;
    return true;
}

/* About so many rows, at least one block. */
static bool remove_some(struct store *store, int64_t rows, struct error *error) {
    struct purge *purge = &sqlite_of(store)->purge;
    for (size_t i = 0; i < purge->count && purge->going < rows; i++)
        if (!purge->blocks[i]->gone && !block_remove(store, purge->blocks[i], error))
            return false;
    return true;
}

/* ---- searching for the tombstones of those who are gone ---- */

static bool search_put(struct store *store, int64_t from, int64_t to, struct error *error) {
    store->meta.purge_from = from;
    store->meta.purge_to = to;
    return db_run(&store->db, error,
                  "INSERT OR REPLACE INTO meta(key, value) VALUES('sweep_from', ?1),"
                  " ('sweep_to', ?2)",
                  "ii", from, to);
}

static bool search_over(struct store *store, struct error *error) {
    store->meta.purge_from = store->meta.purge_to = 0;
    return db_run(&store->db, error, "DELETE FROM meta WHERE key IN ('sweep_from', 'sweep_to')",
                  "");
}

/* Up to the newest job there is; one that is under way begins anew. */
static bool search_begin(struct store *store, struct error *error) {
    return search_put(store, 0, meta_bound(store), error);
}

static bool search_remove(struct store *store, int64_t from, int64_t to, struct error *error) {
    return db_run(&store->db, error,
                  "DELETE FROM job WHERE id IN (SELECT id FROM job WHERE id>?1 AND id<=?2"
                  " EXCEPT SELECT id FROM live WHERE id>?1 AND id<=?2) AND NOT " INTAKE_HAS("id"),
                  "ii", from, to) &&
           db_run(&store->db, error,
                  "DELETE FROM progress WHERE job>?1 AND job<=?2"
                  " AND NOT EXISTS(SELECT 1 FROM job WHERE id=progress.job)",
                  "ii", from, to);
}

static bool search_step(struct store *store, int rows, struct error *error) {
    int64_t from = store->meta.purge_from, last = store->meta.purge_to, to = last;
    if (db_value(&store->db, error, &to,
                 "SELECT id FROM job WHERE id>?1 AND id<=?2 ORDER BY id LIMIT 1 OFFSET ?3", "iin",
                 from, last, rows - 1) == FAILED ||
        !search_remove(store, from, to, error))
        return false;
    CRASH_POINT("sweep_searched");
    return to < last ? search_put(store, to, last, error) : search_over(store, error);
}

/* ---- steps ---- */

static bool pending_paid(struct store *store, struct error *error) {
    struct purge *purge = &sqlite_of(store)->purge;
    bool lost = purge->lost && !purge->searched;
    if (!purge->mark || purge->pending > purge->going || purge->fresh_count || lost)
        return true;
    purge->mark = false;
    CRASH_POINT("sweep_paid");
    return db_run(&store->db, error, "UPDATE executor SET debt=0 WHERE id=?1", "i", store->self.id);
}

/* With time: first its own, then what others have left behind. */
static bool step_idle(struct store *store, int64_t rows, struct error *error) {
    struct purge *purge = &sqlite_of(store)->purge;
    if (purge->lost && !search_begin(store, error))
        return false;
    purge->searched = purge->lost;
    if (!remove_some(store, rows, error) || !pending_paid(store, error))
        return false;
    return purge->going || !store->meta.purge_to || search_step(store, (int)rows, error);
}

static bool step_turn(struct store *store, struct error *error) {
    bool search = store->meta.purge_to && ++sqlite_of(store)->purge.turns >= SEARCH_TURNS;
    if (search)
        sqlite_of(store)->purge.turns = 0;
    return remove_full(store, error) && remove_old(store, error) &&
           (!search || search_step(store, SEARCH_ROWS, error));
}

bool purge_settled(struct store *store, struct error *error) {
    return sqlite_purge(store, false, error);
}

void sqlite_purge_behind(struct store *store) {
    sqlite_of(store)->purge.on = store->self.id != 0;
}

bool sqlite_has_pending_purge(const struct store *store) {
    return sqlite_of(store)->purge.on && (sqlite_of(store)->purge.marked || store->meta.purge_to);
}

bool sqlite_purge(struct store *store, bool idle, struct error *error) {
    bool own = false;
    if (!store_has_pending_purge(store))
        return true;
    if (!unit_begin(store, STORE_TURN, &own, error))
        return false;
    return unit_end(store, own, idle ? step_idle(store, STEP_ROWS, error) : step_turn(store, error),
                    error);
}

/* ---- the end of an executor ---- */

bool purge_bequeath(struct store *store, int64_t executor, struct error *error) {
    return db_run(&store->db, error, "UPDATE executor SET debt=0 WHERE id=?1 AND debt<>0", "i",
                  executor) &&
           (db_changes(&store->db) == 0 || search_begin(store, error));
}

void purge_rest(struct store *store) {
    struct error ignored = {0};
    time_ms end = clock_monotonic() + REST_TIME;
    bool own = false, done = true;
    while (done && store_has_pending_purge(store) && clock_monotonic() < end && !store->writing)
        done = unit_begin(store, STORE_TURN, &own, &ignored) &&
               unit_end(store, own, step_idle(store, REST_ROWS, &ignored), &ignored) &&
               sqlite_checkpoint(store, REST_PAGES, &ignored);
}
