#include "store/rules/place/rate_limit.h"
#include "store/rules/ground/capacity.h"

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
           db_run(&store->db, error,
                  "INSERT INTO rate(definition, at, n) SELECT definition, ?1, max(n) FROM rate"
                  " WHERE at>?1 GROUP BY definition"
                  " ON CONFLICT(definition, at) DO UPDATE SET n=excluded.n",
                  "i", now) &&
           db_run(&store->db, error, "DELETE FROM rate WHERE at>?1", "i", now) &&
           db_run(&store->db, error, "INSERT INTO rate(definition, at, n) VALUES(?1, ?2, ?3)",
                  "nii", ANCHOR_OF_ALL, store->rate_clock.offset, boot);
}

static bool anchor_find(struct store *store, time_ms now, struct error *error) {
    int64_t boot = anchor_boot();
    enum answer found =
        db_value(&store->db, error, &store->rate_clock.offset,
                 "SELECT at FROM rate WHERE definition=?1 AND n=?2", "ni", ANCHOR_OF_ALL, boot);
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

/* ---- what the open transaction changes ---- */

enum { SHIFTS = sizeof((struct rate_clock *)0)->shifts / sizeof(struct rate_shift) };

/* A row for the first instant, with the starts up to it. */
static bool shift_begin(struct store *store, const struct rate_shift *shift, struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO rate(definition, at, n) SELECT ?1, ?2, n FROM rate"
                  " WHERE definition=?1 AND at<=?2 ORDER BY at DESC LIMIT 1 ON CONFLICT DO NOTHING",
                  "ii", shift->definition, shift->from);
}

/* Removes the rows of starts that no window will hold any more. As many of the latest ones stay as
 * the rate allows, for the window may be longer in the next deployment. */
static bool shift_forget(struct store *store, const struct rate_shift *shift, struct error *error) {
    int stay = shift->rate.count > RATE_EXACT ? 0 : shift->rate.count;
    return db_run(&store->db, error,
                  "DELETE FROM rate WHERE definition=?1 AND at<(SELECT max(at) FROM rate"
                  " WHERE definition=?1 AND at<(SELECT at FROM rate WHERE definition=?1 AND (at>?2"
                  " OR n>(SELECT n FROM rate WHERE definition=?1 ORDER BY at DESC LIMIT 1)-?3)"
                  " ORDER BY at LIMIT 1))",
                  "iin", shift->definition, store->rate_clock.now - shift->rate.window, stay);
}

static bool shift_write(struct store *store, const struct rate_shift *shift, struct error *error) {
    return shift_begin(store, shift, error) &&
           db_run(&store->db, error,
                  "UPDATE rate SET n=n+?4 WHERE definition=?1 AND at>=?2 AND at<?3", "iiii",
                  shift->definition, shift->from, shift->to, shift->count) &&
           shift_forget(store, shift, error);
}

static bool rate_limit_write(struct store *store, struct error *error) {
    struct rate_clock *clock = &store->rate_clock;
    for (int i = 0; i < clock->shift_count; i++)
        if (!shift_write(store, &clock->shifts[i], error))
            return false;
    clock->shift_count = 0;
    return true;
}

/* Counts so many starts from `from` on, and up to before `to` no more. */
static bool rate_limit_shift(struct store *store, const struct catalog_definition *definition,
                             time_ms from, time_ms to, int count, struct error *error) {
    struct rate_clock *clock = &store->rate_clock;
    int at = 0;
    while (at < clock->shift_count &&
           (clock->shifts[at].definition != definition->id || clock->shifts[at].from != from ||
            clock->shifts[at].to != to))
        at++;
    if (at == SHIFTS && !rate_limit_write(store, error))
        return false;
    if (at >= clock->shift_count) {
        at = clock->shift_count++;
        clock->shifts[at] = (struct rate_shift){definition->id, 0, definition->rate, from, to};
    }
    clock->shifts[at].count += count;
    return true;
}

/* ---- the starts ---- */

/* Where workers came too late, the next ones are given longer. */
static time_ms rate_limit_grace(const struct store *store,
                                const struct catalog_definition *definition, bool brief) {
    time_ms grace = rate_grace(&definition->rate, brief);
    return store->self.steady ? grace << store->rate_clock.slow : 0;
}

bool rate_limit_add(struct store *store, const struct catalog_definition *definition,
                    struct job *job, bool brief, struct error *error) {
    const struct rate_clock *clock = &store->rate_clock;
    time_ms grace = rate_limit_grace(store, definition, brief);
    job->begin_by = store->self.steady ? clock->now - clock->offset + (grace + 1) / 2 : 0;
    job->counted_at = rate_counted(&definition->rate, clock->now + grace);
    return rate_limit_shift(store, definition, job->counted_at, TIME_NEVER, 1, error);
}

/* The start may be anybody's now. */
static bool rate_limit_free(struct store *store, const struct catalog_definition *definition,
                            const struct job *job, struct error *error) {
    store->rate_clock.late |= job->begin_by != 0;
    store->ring.everybody = true;
    return rate_limit_shift(store, definition, job->counted_at, TIME_NEVER, -1, error);
}

bool rate_limit_ended(struct store *store, const struct catalog_definition *definition,
                      const struct outcome *outcome, struct error *error) {
    struct rate_clock *clock = &store->rate_clock;
    const struct job *job = outcome->job;
    const struct rate *rate = &definition->rate;
    if (!job->counted_at) /* locked before the definition had a rate */
        return true;
    if (outcome->kind == OUTCOME_RETURNED && outcome->started == TIME_NONE)
        return rate_limit_free(store, definition, job, error);
    if (!clock->anchored || !store->self.steady)
        return true;
    if (!clock->ended) /* all that this transaction settles had ended before it */
        clock->ended = clock_monotonic() + clock->offset + 1;
    time_ms ended = rate_counted(rate, clock->ended);
    if (job->counted_at - ended < rate->window / 10)
        return true;
    capacity_blind(store); /* the next one may start earlier than was known */
    return rate_limit_shift(store, definition, ended, job->counted_at, 1, error);
}

/* The starts up to the end of the last window. */
static enum answer rate_limit_before(struct store *store,
                                     const struct catalog_definition *definition, int64_t *n,
                                     struct error *error) {
    enum answer found =
        db_value(&store->db, error, n,
                 "SELECT n FROM rate WHERE definition=?1 AND at<=?2 ORDER BY at DESC LIMIT 1", "ii",
                 definition->id, store->rate_clock.now - definition->rate.window);
    return found != NO ? found
                       : db_value(&store->db, error, n,
                                  "SELECT n FROM rate WHERE definition=?1 ORDER BY at LIMIT 1", "i",
                                  definition->id);
}

/* When the first one leaves the window without which there is room for another. */
static bool rate_limit_next(struct store *store, const struct catalog_definition *definition,
                            int64_t n, time_ms *at, struct error *error) {
    const struct rate_clock *clock = &store->rate_clock;
    int64_t first = 0;
    enum answer found = db_value(
        &store->db, error, &first,
        "SELECT at FROM rate WHERE definition=?1 AND at>?2 AND n>?3 ORDER BY at LIMIT 1", "iii",
        definition->id, clock->now - definition->rate.window, n - definition->rate.count);
    *at = clock->wall + (first + definition->rate.window - clock->now);
    return found != FAILED;
}

bool rate_limit_left(struct store *store, const struct catalog_definition *definition,
                     int64_t *left, time_ms *at, struct error *error) {
    int64_t all = 0, before = 0;
    if (!rate_limit_write(store, error) ||
        db_value(&store->db, error, &all,
                 "SELECT n FROM rate WHERE definition=?1 ORDER BY at DESC LIMIT 1", "i",
                 definition->id) == FAILED ||
        rate_limit_before(store, definition, &before, error) == FAILED)
        return false;
    *left = definition->rate.count - (all - before);
    return *left > 0 || rate_limit_next(store, definition, all, at, error);
}

/* ---- a new rate ---- */

bool rate_limit_count(struct store *store, const struct catalog_definition *definition,
                      struct error *error) {
    if (!definition->rate.count)
        return db_run(&store->db, error, "DELETE FROM rate WHERE definition=?1", "i",
                      definition->id);
    store->ring.everybody = true;
    return db_run(&store->db, error,
                  "INSERT INTO rate(definition, at, n) SELECT ?1, ?2, 0 WHERE NOT EXISTS"
                  " (SELECT 1 FROM rate WHERE definition=?1)",
                  "ii", definition->id, INT64_MIN);
}

/* ---- the ends of a transaction ---- */

static void rate_limit_committed(struct store *store) {
    struct rate_clock *clock = &store->rate_clock;
    if (clock->late && clock->slow < SLOW_MAX)
        clock->slow++;
    else if (clock->ended && !clock->late && clock->slow > 0)
        clock->slow--;
    clock->late = false;
    clock->ended = 0;
}

static void rate_limit_rolled_back(struct store *store) {
    store->rate_clock.anchored = store->rate_clock.late = false;
    store->rate_clock.ended = 0;
    store->rate_clock.shift_count = 0;
}

const struct txn_hook rate_limit_hook = {.flush = rate_limit_write,
                                         .committed = rate_limit_committed,
                                         .drop = rate_limit_rolled_back,
                                         .size = sizeof(struct rate_clock),
                                         .at = offsetof(struct store, rate_clock)};
