#include "store/sqlite/sweep.h"
#include "base/crash_point.h"
#include "store/sqlite/intake.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1024, WORDS = BLOCK / 64 };
enum { FULL_BLOCKS = 4 };           /* that go in one turn */
enum { STEP_ROWS = 1000 };          /* that an idle step removes or looks at, about */
enum { SEARCH_ROWS = 200 };         /* that a turn looks at, … */
enum { SEARCH_TURNS = 16 };         /* … once in so many */
enum { REST_ROWS = 32 * BLOCK };    /* of a step as the executor leaves */
enum { REST_TIME = 1000 };          /* ms; it leaves after that */
enum { DEBT_MAX = 1 << 20 };        /* ghosts, and … */
enum { DEBT_BLOCKS_MAX = 1 << 14 }; /* … blocks: beyond these bounds the oldest go as they are */

/* A thousand ids in a row, and which of them are ghosts. */
struct sweep_block {
    int64_t number; /* its first id is number * BLOCK */
    struct sweep_block *next_full, *next_gone;
    int count;
    bool gone; /* in the open transaction */
    uint64_t bits[WORDS];
};

/* ---- what is known ---- */

/* Where the block is, or would be. */
static size_t block_at(const struct sweep *sweep, int64_t number) {
    size_t low = 0, high = sweep->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sweep->blocks[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct sweep_block *block_insert(struct sweep *sweep, size_t at, int64_t number) {
    if (sweep->count == sweep->room) {
        size_t room = sweep->room ? sweep->room * 2 : 64;
        struct sweep_block **blocks = realloc(sweep->blocks, room * sizeof *blocks);
        if (!blocks)
            return NULL;
        sweep->blocks = blocks;
        sweep->room = room;
    }
    struct sweep_block *block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    block->number = number;
    struct sweep_block **place = sweep->blocks + at;
    memmove(place + 1, place, (sweep->count++ - at) * sizeof *place);
    *place = block;
    return block;
}

/* NULL: out of memory. */
static struct sweep_block *block_of(struct sweep *sweep, int64_t id) {
    int64_t number = id / BLOCK;
    if (sweep->last && sweep->last->number == number)
        return sweep->last;
    size_t at = block_at(sweep, number);
    if (at < sweep->count && sweep->blocks[at]->number == number)
        sweep->last = sweep->blocks[at];
    else
        sweep->last = block_insert(sweep, at, number);
    return sweep->last;
}

static void ghost_note(struct sweep *sweep, int64_t id) {
    struct sweep_block *block = block_of(sweep, id);
    if (!block) {
        sweep->lost = true;
        return;
    }
    uint64_t *word = &block->bits[id % BLOCK / 64], bit = UINT64_C(1) << id % 64;
    if (*word & bit)
        return;
    *word |= bit;
    sweep->debt++;
    if (++block->count < BLOCK)
        return;
    block->next_full = sweep->full;
    sweep->full = block;
}

static void block_forget(struct sweep *sweep, struct sweep_block *block) {
    size_t at = block_at(sweep, block->number);
    struct sweep_block **place = sweep->blocks + at, **full = &sweep->full;
    memmove(place, place + 1, (--sweep->count - at) * sizeof *place);
    while (*full && *full != block)
        full = &(*full)->next_full;
    if (*full)
        *full = block->next_full;
    if (sweep->last == block)
        sweep->last = NULL;
    sweep->debt -= block->count;
    free(block);
}

/* ---- transactions ---- */

bool sweep_leave(struct store *store, int64_t id, bool *left, struct error *error) {
    struct sweep *sweep = &store->sweep;
    *left = sweep->on;
    if (!sweep->on)
        return true;
    if (sweep->fresh_count == sweep->fresh_room) {
        size_t room = sweep->fresh_room ? sweep->fresh_room * 2 : 256;
        int64_t *fresh = realloc(sweep->fresh, room * sizeof *fresh);
        *left = fresh != NULL;
        if (!fresh)
            return true;
        sweep->fresh = fresh;
        sweep->fresh_room = room;
    }
    if (!sweep->mark &&
        !db_run(&store->db, error, "UPDATE executor SET debt=1 WHERE id=?1", "i", store->self.id))
        return false;
    CRASH_POINT("sweep_marked");
    sweep->mark = true;
    sweep->fresh[sweep->fresh_count++] = id;
    return true;
}

struct sweep_point sweep_point(const struct store *store) {
    return (struct sweep_point){store->sweep.fresh_count, store->sweep.mark};
}

void sweep_return(struct store *store, struct sweep_point point) {
    store->sweep.fresh_count = point.fresh;
    store->sweep.mark = point.mark;
}

void sweep_committed(struct store *store) {
    struct sweep *sweep = &store->sweep;
    struct sweep_block *block;
    while ((block = sweep->gone)) {
        sweep->gone = block->next_gone;
        block_forget(sweep, block);
    }
    sweep->lost = sweep->lost && !sweep->searched;
    sweep->searched = false;
    for (size_t i = 0; i < sweep->fresh_count; i++)
        ghost_note(sweep, sweep->fresh[i]);
    sweep->fresh_count = 0;
    sweep->going = 0;
    sweep->marked = sweep->mark;
}

void sweep_rolled_back(struct store *store) {
    struct sweep *sweep = &store->sweep;
    for (; sweep->gone; sweep->gone = sweep->gone->next_gone)
        sweep->gone->gone = false;
    sweep->fresh_count = 0;
    sweep->going = 0;
    sweep->searched = false;
    sweep->mark = sweep->marked;
}

void sweep_clear(struct sweep *sweep) {
    for (size_t i = 0; i < sweep->count; i++)
        free(sweep->blocks[i]);
    free(sweep->blocks);
    free(sweep->fresh);
    *sweep = (struct sweep){0};
}

/* ---- removing ---- */

/* The end of the bits from `at` on that are all set, or all not set. */
static int run_end(const struct sweep_block *block, int at) {
    bool set = block->bits[at / 64] >> at % 64 & 1;
    while (at < BLOCK && (block->bits[at / 64] >> at % 64 & 1) == set)
        at++;
    return at;
}

static bool block_remove(struct store *store, struct sweep_block *block, struct error *error) {
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
    block->next_gone = store->sweep.gone;
    store->sweep.gone = block;
    store->sweep.going += block->count;
    return true;
}

/* Those of which every row has ended. */
static bool remove_full(struct store *store, struct error *error) {
    struct sweep_block *block = store->sweep.full;
    for (int i = 0; block && i < FULL_BLOCKS; block = block->next_full, i++)
        if (!block->gone && !block_remove(store, block, error))
            return false;
    return true;
}

/* Blocks with a gap, or with the jobs of others, are never full. */
static bool remove_old(struct store *store, struct error *error) {
    struct sweep *sweep = &store->sweep;
    for (size_t i = 0; i < sweep->count && (sweep->debt - sweep->going > DEBT_MAX ||
                                            sweep->count - i > DEBT_BLOCKS_MAX);
         i++)
        if (!sweep->blocks[i]->gone && !block_remove(store, sweep->blocks[i], error))
            return false;
    return true;
}

/* About so many rows, at least one block. */
static bool remove_some(struct store *store, int64_t rows, struct error *error) {
    struct sweep *sweep = &store->sweep;
    for (size_t i = 0; i < sweep->count && sweep->going < rows; i++)
        if (!sweep->blocks[i]->gone && !block_remove(store, sweep->blocks[i], error))
            return false;
    return true;
}

/* ---- searching for the ghosts of those who are gone ---- */

static bool search_put(struct store *store, int64_t from, int64_t to, struct error *error) {
    store->meta.sweep_from = from;
    store->meta.sweep_to = to;
    return db_run(&store->db, error,
                  "INSERT OR REPLACE INTO meta(key, value) VALUES('sweep_from', ?1),"
                  " ('sweep_to', ?2)",
                  "ii", from, to);
}

static bool search_over(struct store *store, struct error *error) {
    store->meta.sweep_from = store->meta.sweep_to = 0;
    return db_run(&store->db, error, "DELETE FROM meta WHERE key IN ('sweep_from', 'sweep_to')",
                  "");
}

/* Up to the newest job there is; one that is under way begins anew. */
static bool search_begin(struct store *store, struct error *error) {
    return search_put(store, 0, store->meta.next_id - 1, error);
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
    int64_t from = store->meta.sweep_from, last = store->meta.sweep_to, to = last;
    if (db_value(&store->db, error, &to,
                 "SELECT id FROM job WHERE id>?1 AND id<=?2 ORDER BY id LIMIT 1 OFFSET ?3", "iin",
                 from, last, rows - 1) < 0 ||
        !search_remove(store, from, to, error))
        return false;
    CRASH_POINT("sweep_searched");
    return to < last ? search_put(store, to, last, error) : search_over(store, error);
}

/* ---- steps ---- */

static bool debt_paid(struct store *store, struct error *error) {
    struct sweep *sweep = &store->sweep;
    bool lost = sweep->lost && !sweep->searched;
    if (!sweep->mark || sweep->debt > sweep->going || sweep->fresh_count || lost)
        return true;
    sweep->mark = false;
    CRASH_POINT("sweep_paid");
    return db_run(&store->db, error, "UPDATE executor SET debt=0 WHERE id=?1", "i", store->self.id);
}

/* With time: first its own, then what others have left behind. */
static bool step_idle(struct store *store, int64_t rows, struct error *error) {
    struct sweep *sweep = &store->sweep;
    if (sweep->lost && !search_begin(store, error))
        return false;
    sweep->searched = sweep->lost;
    if (!remove_some(store, rows, error) || !debt_paid(store, error))
        return false;
    return sweep->going || !store->meta.sweep_to || search_step(store, (int)rows, error);
}

static bool step_turn(struct store *store, struct error *error) {
    bool search = store->meta.sweep_to && ++store->sweep.turns >= SEARCH_TURNS;
    if (search)
        store->sweep.turns = 0;
    return remove_full(store, error) && remove_old(store, error) &&
           (!search || search_step(store, SEARCH_ROWS, error));
}

void store_sweep_behind(struct store *store) {
    store->sweep.on = store->self.id != 0;
}

bool store_owes(const struct store *store) {
    return store->sweep.on && (store->sweep.marked || store->meta.sweep_to);
}

bool store_sweep(struct store *store, bool idle, struct error *error) {
    bool own = false;
    if (!store_owes(store))
        return true;
    if (!unit_begin(store, &own, error))
        return false;
    return unit_end(store, own, idle ? step_idle(store, STEP_ROWS, error) : step_turn(store, error),
                    error);
}

/* ---- the end of an executor ---- */

bool sweep_inherit(struct store *store, int64_t executor, struct error *error) {
    return db_run(&store->db, error, "UPDATE executor SET debt=0 WHERE id=?1 AND debt<>0", "i",
                  executor) &&
           (db_changes(&store->db) == 0 || search_begin(store, error));
}

void sweep_rest(struct store *store) {
    struct error ignored = {0};
    time_ms end = clock_monotonic() + REST_TIME;
    bool own = false, done = true;
    while (done && store_owes(store) && clock_monotonic() < end && !store->writing)
        done = unit_begin(store, &own, &ignored) &&
               unit_end(store, own, step_idle(store, REST_ROWS, &ignored), &ignored);
}

bool sweep_bequeath(struct store *store, struct error *error) {
    const struct sweep *sweep = &store->sweep;
    return !sweep->mark || sweep_inherit(store, store->self.id, error);
}
