#include "store/rules/place/parked_lanes.h"
#include "store/rules/ground/txn_hook.h"
#include <string.h>

enum {
    LANES_MAX = 4096, /* so many are told apart */
    RESTS = 16        /* transactions until there may be fewer again */
};

static unsigned bit_of(int64_t lane) {
    return (unsigned)((uint64_t)lane * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PARKED_BITS));
}

void parked_lanes_add(struct store *store, int64_t lane) {
    unsigned bit = bit_of(lane);
    store->parked.bits[bit / 64] |= UINT64_C(1) << bit % 64;
    store->parked.added++;
}

/* From each lane to the next: its other jobs are not read. */
static bool read_all(struct store *store, struct error *error) {
    struct parked_lanes *parked = &store->parked;
    struct row *rows = db_query(
        &store->db, error,
        "WITH RECURSIVE known(lane) AS (SELECT min(lane) FROM parked UNION ALL"
        " SELECT (SELECT min(p.lane) FROM parked p WHERE p.lane>known.lane) FROM known"
        " WHERE known.lane IS NOT NULL) SELECT lane FROM known WHERE lane IS NOT NULL LIMIT ?1",
        "n", LANES_MAX + 1);
    enum answer step = NO;
    memset(parked->bits, 0, sizeof parked->bits);
    parked->added = 0;
    while ((step = db_step(&store->db, rows, error)) == YES)
        parked_lanes_add(store, row_int(rows, 0));
    parked->many = parked->added > LANES_MAX;
    parked->rests = RESTS;
    return step == NO;
}

/* What this connection has parked is known. Lanes in which nothing is parked any more stay, until
 * they are read again. */
static bool look(struct store *store, struct error *error) {
    struct parked_lanes *parked = &store->parked;
    int64_t version = 0;
    if (parked->looked || (parked->many && parked->rests-- > 0)) {
        parked->looked = true;
        return true;
    }
    if (db_value(&store->db, error, &version, store->engine->sql->commits, "") == FAILED)
        return false;
    bool known = parked->version == version && parked->added <= LANES_MAX;
    parked->version = INT64_MIN;
    if (!known && !read_all(store, error))
        return false;
    parked->version = version;
    parked->looked = true;
    return true;
}

enum answer parked_lanes_may(struct store *store, int64_t lane, struct error *error) {
    const struct parked_lanes *parked = &store->parked;
    unsigned bit = bit_of(lane);
    if (store->engine->sets)
        return YES;
    if (!look(store, error))
        return FAILED;
    return parked->many || (parked->bits[bit / 64] >> bit % 64 & 1) ? YES : NO;
}

/* They may have been read without jobs that are parked again now. */
static void parked_lanes_forget(struct store *store) {
    store->parked.looked = store->parked.many = false;
    store->parked.version = INT64_MIN;
}

const struct txn_hook parked_lanes_hook = {.drop = parked_lanes_forget, .parts = true};
