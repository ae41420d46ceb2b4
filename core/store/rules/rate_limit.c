#include "store/rules/rate_limit.h"

#define FREE INT64_MIN  /* no start stands in this place */
#define SLOW_MAX 6      /* a grace is doubled so often at the most */
#define ANCHOR_OF_ALL 0 /* the definition under whose name the anchor stands */

const struct catalog_definition *rate_limit_find(const struct store *store, int64_t stream) {
    const struct catalog_stream *of = catalog_stream(&store->catalog, stream);
    return of && of->definition->rate.count ? of->definition : NULL;
}

/* ---- the clock of the instants ---- */

/* This boot of the machine as a number. */
static int64_t anchor_boot(void) {
    char boot[CLOCK_BOOT];
    uint64_t hash = UINT64_C(14695981039346656037);
    clock_boot(boot);
    for (const char *at = boot; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    return (int64_t)(hash >> 1);
}

/* What was noted before the last boot and would lie ahead has begun this moment, as far as anybody
 * knows. */
static bool anchor_drop(struct store *store, int64_t boot, time_ms now, struct error *error) {
    store->rate_clock.offset = now - clock_monotonic();
    return db_run(&store->db, error, "DELETE FROM rate WHERE definition=?1", "n", ANCHOR_OF_ALL) &&
           db_run(&store->db, error, "UPDATE rate SET at=?1 WHERE at>?1", "i", now) &&
           db_run(&store->db, error, "INSERT INTO rate(definition, at, slot) VALUES(?1, ?2, ?3)",
                  "nii", ANCHOR_OF_ALL, store->rate_clock.offset, boot);
}

static bool anchor_find(struct store *store, time_ms now, struct error *error) {
    int64_t boot = anchor_boot();
    enum answer found =
        db_value(&store->db, error, &store->rate_clock.offset,
                 "SELECT at FROM rate WHERE definition=?1 AND slot=?2", "ni", ANCHOR_OF_ALL, boot);
    if (found == FAILED ||
        (found == NO && store->self.steady && !anchor_drop(store, boot, now, error)))
        return false;
    store->rate_clock.anchored = found == YES || store->self.steady;
    return true;
}

bool rate_limit_start(struct store *store, time_ms now, struct error *error) {
    struct rate_clock *clock = &store->rate_clock;
    if (store->self.id && !store->self.steady)
        return true;
    if (!clock->anchored && !anchor_find(store, now, error))
        return false;
    if (clock->anchored)
        clock->now = clock_monotonic() + clock->offset;
    return true;
}

/* ---- the instants ---- */

/* The place that the next start takes. */
static enum answer rate_limit_least(struct store *store, int64_t definition, time_ms *at,
                                    int64_t *slot, struct error *error) {
    struct row *row = db_query(
        &store->db, error,
        "SELECT at, slot FROM rate WHERE definition=?1 ORDER BY at, slot LIMIT 1", "i", definition);
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step;
    *at = row_int(row, 0);
    *slot = row_int(row, 1);
    row_done(row);
    return YES;
}

enum answer rate_limit_open(struct store *store, const struct catalog_definition *definition,
                            time_ms *at, struct error *error) {
    int64_t least = 0, slot = 0;
    enum answer found = rate_limit_least(store, definition->id, &least, &slot, error);
    if (found != YES || least == FREE || least + definition->rate.window <= store->rate_clock.now)
        return found == FAILED ? -1 : YES;
    *at = store->rate_clock.wall + (least + definition->rate.window - store->rate_clock.now);
    return NO;
}

/* Where workers came too late, the next ones are given longer. */
static time_ms rate_limit_grace(const struct store *store,
                                const struct catalog_definition *definition) {
    return store->self.steady ? rate_grace(&definition->rate) << store->rate_clock.slow : 0;
}

bool rate_limit_add(struct store *store, const struct catalog_definition *definition,
                    struct job *job, struct error *error) {
    int64_t least = 0, slot = 0;
    time_ms grace = rate_limit_grace(store, definition);
    enum answer found = rate_limit_least(store, definition->id, &least, &slot, error);
    job->begin_by = store->self.steady ? clock_monotonic() + (grace + 1) / 2 : 0;
    return found == NO ||
           (found == YES &&
            db_run(&store->db, error,
                   "UPDATE rate SET at=?4, slot=?5 WHERE definition=?1 AND at=?2 AND slot=?3",
                   "iiiii", definition->id, least, slot, store->rate_clock.now + grace,
                   job->token));
}

/* The slot keeps the token's number, with a sign that no token has. */
static bool rate_limit_free(struct store *store, const struct catalog_definition *definition,
                            const struct job *job, struct error *error) {
    store->rate_clock.slow += job->begin_by && store->rate_clock.slow < SLOW_MAX;
    store->ring.everybody = true; /* the start may be anybody's now */
    return db_run(&store->db, error,
                  "UPDATE rate SET at=?3, slot=-slot WHERE definition=?1 AND slot=?2", "iii",
                  definition->id, job->token, FREE);
}

bool rate_limit_ended(struct store *store, const struct catalog_definition *definition,
                      const struct outcome *outcome, struct error *error) {
    if (outcome->kind == OUTCOME_RETURNED && outcome->started == TIME_NONE)
        return rate_limit_free(store, definition, outcome->job, error);
    store->rate_clock.slow -= store->rate_clock.slow > 0;
    return true;
}

/* ---- deployment ---- */

bool rate_limit_deploy(struct store *store, const struct definition *definition,
                       struct error *error) {
    int64_t count = 0, wanted = definition->rate.count;
    if (db_value(&store->db, error, &count, "SELECT count(*) FROM rate WHERE definition=?1", "i",
                 definition->id) == FAILED)
        return false;
    if (count != wanted)
        store->ring.everybody = true;
    if (count > wanted)
        return db_run(&store->db, error,
                      "DELETE FROM rate WHERE definition=?1 AND (at, slot) IN (SELECT at, slot FROM"
                      " rate WHERE definition=?1 ORDER BY at, slot LIMIT ?2)",
                      "ii", definition->id, count - wanted);
    /* numbers that no token has, below those of starts that were none */
    for (; count < wanted; count++)
        if (!db_run(&store->db, error,
                    "INSERT INTO rate(definition, at, slot) SELECT ?1, ?2, min(s.slot)-1 FROM"
                    " (SELECT CAST(?3 AS BIGINT) AS slot UNION ALL"
                    " SELECT slot FROM rate WHERE definition=?1) AS s",
                    "iii", definition->id, FREE, INT64_MIN / 2))
            return false;
    return true;
}

static void rate_limit_rolled_back(struct store *store) {
    store->rate_clock.anchored = false;
}

const struct txn_hook rate_limit_hook = {.rolled_back = rate_limit_rolled_back};
