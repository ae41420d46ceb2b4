#include "store/rules/clean/clean.h"
#include "base/crash_point.h"
#include "store/rules/process/message.h"
#include "store/rules/process/past.h"
#include <stdlib.h>

enum {
    BLOCK = 1024,       /* neighbours in the history that one part of the work has */
    LOOK = 20000,       /* ended jobs that one run looks at */
    LOOK_FAILURES = 500 /* failures of jobs that are nowhere any more */
};

struct clean {
    struct store *store;
    struct cleanup *plan;
    struct cleaned *cleaned;
    time_ms now;
    int64_t room; /* rows that may still go */
    struct error *error;
};

/* The youngest of its kind that may go; TIME_NONE: none may. */
static time_ms clean_bound(const struct cleanup *plan, enum history_kind kind, time_ms now) {
    return plan->ttl[kind] ? now - plan->ttl[kind] : TIME_NONE;
}

/* ---- one job ---- */

static bool clean_some(struct store *store, const char *sql, int64_t job, int64_t *room,
                       struct error *error) {
    int64_t most = *room < CLEANUP_ROWS ? *room : CLEANUP_ROWS;
    if (most < 1)
        return true;
    if (!db_run(&store->db, error, sql, "ii", job, most))
        return false;
    *room -= db_changes(&store->db);
    return true;
}

bool clean_job(struct store *store, const struct ended *ended, int64_t *room, bool *gone,
               struct error *error) {
    int64_t before = *room;
    bool failed = ended->attempt != 1; /* a job that ends at its first attempt never failed */
    if (!clean_some(store,
                    "DELETE FROM line WHERE job=?1 AND (n, seq) IN"
                    " (SELECT n, seq FROM line WHERE job=?1 LIMIT ?2)",
                    ended->job, room, error) ||
        !clean_some(store,
                    "DELETE FROM snooze WHERE job=?1 AND seq IN"
                    " (SELECT seq FROM snooze WHERE job=?1 LIMIT ?2)",
                    ended->job, room, error) ||
        (failed && !clean_some(store,
                               "DELETE FROM attempt WHERE job=?1 AND n IN"
                               " (SELECT n FROM attempt WHERE job=?1 LIMIT ?2)",
                               ended->job, room, error)))
        return false;
    *gone = *room > 0 && (ended->seq || *room < before);
    if (!*gone || !ended->seq)
        return true;
    --*room;
    CRASH_POINT("cleanup_hollowed");
    return history_remove(store, ended->job, ended->seq, error);
}

/* ---- ended jobs ---- */

struct found {
    struct ended list[CLEANUP_ROWS];
    int64_t count, max;
};

static void found_add(struct found *found, struct row *row) {
    found->list[found->count++] = (struct ended){
        .seq = row_int(row, 0), .job = row_int(row, 1), .attempt = row_int32(row, 2)};
}

static bool clean_found(struct clean *clean, const struct found *found) {
    for (int64_t i = 0; i < found->count && clean->room > 0; i++) {
        bool gone = false;
        if (!clean_job(clean->store, &found->list[i], &clean->room, &gone, clean->error))
            return false;
        clean->cleaned->count[HISTORY_JOBS] += gone;
    }
    return true;
}

/* Those with a removal time of their own. */
static bool clean_own_time(struct clean *clean, struct found *found) {
    struct row *rows =
        db_query(&clean->store->db, clean->error,
                 "SELECT seq, job, attempt FROM ended WHERE removal<=?1 AND (seq/?2)%?3=?4"
                 " ORDER BY removal LIMIT ?5",
                 "innni", clean->now, BLOCK, clean->plan->parts, clean->plan->part, clean->room);
    enum answer step = NO;
    found->count = 0;
    while ((step = db_step(&clean->store->db, rows, clean->error)) == YES)
        found_add(found, rows);
    return step == NO && clean_found(clean, found);
}

/* Behind a row of another part: the last one before the next block of ours. */
static int64_t clean_skip(const struct cleanup *plan, int64_t seq) {
    int64_t block = seq / BLOCK, ahead = (plan->part - block % plan->parts + plan->parts);
    return (block + ahead % plan->parts) * BLOCK - 1;
}

static bool clean_ours(const struct cleanup *plan, int64_t seq) {
    return seq / BLOCK % plan->parts == plan->part;
}

/* Rows from `*after` on, in the order of their ends, until one that is too young: *stopped. One
 * that has its own removal time, or comes from a clock that was ahead, stops nothing. */
static bool clean_walk(struct clean *clean, struct found *found, int64_t *after, bool *stopped) {
    time_ms bound = clean_bound(clean->plan, HISTORY_JOBS, clean->now);
    struct row *rows = db_query(&clean->store->db, clean->error,
                                "SELECT seq, job, attempt, at, removal FROM ended WHERE seq>?1"
                                " ORDER BY seq LIMIT ?2",
                                "in", *after, LOOK);
    enum answer step = rows ? YES : FAILED;
    *stopped = false;
    while (rows && found->count < found->max &&
           (step = db_step(&clean->store->db, rows, clean->error)) == YES) {
        int64_t seq = row_int(rows, 0);
        time_ms at = row_int(rows, 3);
        bool own = !row_null(rows, 4);
        *stopped = !own && at > bound && at <= clean->now;
        if (*stopped)
            break;
        bool ours = clean_ours(clean->plan, seq);
        *after = ours ? seq : clean_skip(clean->plan, seq);
        if (ours && !own && at <= bound)
            found_add(found, rows);
        if (!ours)
            break;
    }
    if (rows)
        row_done(rows);
    return step != FAILED;
}

/* *left: the walk has not come to its end. */
static bool clean_collect(struct clean *clean, struct found *found, bool *left) {
    int64_t after = clean->plan->ended, last = 0;
    bool stopped = false, done = true;
    found->count = 0;
    found->max = clean->room;
    if (db_value(&clean->store->db, clean->error, &last, "SELECT coalesce(max(seq), 0) FROM ended",
                 "") == FAILED)
        return false;
    for (int64_t from = after;
         done && !stopped && after < last && found->count < found->max && after - from < LOOK;)
        done = clean_walk(clean, found, &after, &stopped);
    *left = !stopped && after < last;
    clean->plan->ended = after;
    return done;
}

static bool clean_by_ttl(struct clean *clean, struct found *found) {
    bool left = false;
    if (!clean->plan->ttl[HISTORY_JOBS] || clean->room < 1)
        return true;
    if (!clean_collect(clean, found, &left) || !clean_found(clean, found))
        return false;
    if (clean->room < 1 && found->count) /* the last one may have something left */
        clean->plan->ended = found->list[0].seq - 1;
    clean->cleaned->more = clean->cleaned->more || left;
    return true;
}

/* ---- failures of jobs whose end was not noted ---- */

/* Gone, its last failure old enough. */
#define CLEAN_NOWHERE                                                                              \
    "NOT EXISTS(SELECT 1 FROM live j WHERE j.id=a.job)"                                            \
    " AND NOT EXISTS(SELECT 1 FROM ended_by_job b WHERE b.job=a.job)"                              \
    " AND NOT EXISTS(SELECT 1 FROM attempt y WHERE y.job=a.job AND y.at>?4)"                       \
    " AND NOT EXISTS(SELECT 1 FROM ended e WHERE e.seq>?5 AND e.job=a.job)"

static struct row *failures_query(struct clean *clean, time_ms bound, int64_t filed) {
    const int64_t *from = clean->plan->attempt;
    return db_query(&clean->store->db, clean->error,
                    "SELECT a.at, a.job, a.n, " CLEAN_NOWHERE " FROM attempt a"
                    " WHERE (a.at, a.job, a.n)>(?1, ?2, ?3) AND a.at<=?4"
                    " ORDER BY a.at, a.job, a.n LIMIT ?6",
                    "iiiiin", from[0], from[1], from[2], bound, filed, LOOK_FAILURES);
}

static bool failures_find(struct clean *clean, struct found *found, time_ms bound) {
    int64_t filed = 0;
    if (!history_filed(clean->store, &filed, clean->error))
        return false;
    struct row *rows = failures_query(clean, bound, filed);
    enum answer step = NO;
    int looked = 0;
    found->count = 0;
    for (; (step = db_step(&clean->store->db, rows, clean->error)) == YES; looked++) {
        int64_t job = row_int(rows, 1);
        for (int i = 0; i < 3; i++)
            clean->plan->attempt[i] = row_int(rows, i);
        if (row_int32(rows, 3) && job / BLOCK % clean->plan->parts == clean->plan->part)
            found->list[found->count++] = (struct ended){.job = job};
    }
    clean->cleaned->more = clean->cleaned->more || looked == LOOK_FAILURES;
    return step == NO;
}

static bool clean_failures(struct clean *clean, struct found *found) {
    time_ms bound = clean_bound(clean->plan, HISTORY_JOBS, clean->now);
    if (bound == TIME_NONE || clean->room < 1)
        return true;
    if (!failures_find(clean, found, bound) || !clean_found(clean, found))
        return false;
    if (clean->room < 1)
        clean->plan->attempt[0] = INT64_MIN; /* some may be left */
    return true;
}

/* ---- what is no job ---- */

/* Those whose time to live is over (?1), and those whose own removal time has come (?3). */
#define CLEAN_ENDED(table)                                                                         \
    "SELECT id FROM (SELECT id FROM (SELECT id FROM " table " WHERE ended<=?1 AND removal IS NULL" \
    " ORDER BY ended LIMIT ?2) AS old UNION ALL SELECT id FROM " table " WHERE removal<=?3) AS s"  \
    " LIMIT ?2"

/* Of these each part of the work has whole kinds. */
static bool clean_kind(struct clean *clean, enum history_kind kind, const char *sql) {
    time_ms bound = clean_bound(clean->plan, kind, clean->now);
    if (clean->room < 1 || (int)kind % clean->plan->parts != clean->plan->part)
        return true;
    if (!db_run(&clean->store->db, clean->error, sql, "Tii", bound, clean->room, clean->now))
        return false;
    int count = db_changes(&clean->store->db);
    clean->cleaned->count[kind] += count;
    clean->room -= count;
    return true;
}

/* What batches were told goes with them: the same number of rows, not counted. */
static bool clean_configs(struct clean *clean) {
    time_ms bound = clean_bound(clean->plan, HISTORY_BATCHES, clean->now);
    return clean->room < 1 || HISTORY_BATCHES % clean->plan->parts != clean->plan->part ||
           db_run(&clean->store->db, clean->error,
                  "DELETE FROM batch_config WHERE batch IN (" CLEAN_ENDED("batch") ")", "Tii",
                  bound, clean->room, clean->now);
}

static bool clean_jobs(struct clean *clean) {
    struct found *found = malloc(sizeof *found);
    bool done = found ? clean_own_time(clean, found) && clean_by_ttl(clean, found) &&
                            clean_failures(clean, found)
                      : error_no_memory(clean->error);
    free(found);
    return done;
}

bool clean_run(struct store *store, struct cleanup *plan, struct cleaned *cleaned, time_ms now,
               struct error *error) {
    *cleaned = (struct cleaned){0};
    struct clean clean = {store, plan, cleaned, now, plan->batch_size, error};
    bool done = clean_jobs(&clean) &&
                clean_kind(&clean, HISTORY_INCIDENTS,
                           "DELETE FROM incident WHERE id IN (" CLEAN_ENDED("incident") ")") &&
                clean_configs(&clean) &&
                clean_kind(&clean, HISTORY_BATCHES,
                           "DELETE FROM batch WHERE id IN (" CLEAN_ENDED("batch") ")") &&
                clean_kind(&clean, HISTORY_OPERATIONS,
                           "DELETE FROM operation WHERE id IN (SELECT id FROM (SELECT id, at"
                           " FROM operation ORDER BY id LIMIT 2000) AS o WHERE at<=?1 AND ?3>0"
                           " LIMIT ?2)");
    if (done && plan->part == 0)
        done = past_clean(store, &clean.room, &cleaned->count[HISTORY_INSTANCES], now, error) &&
               messages_clean(store, &clean.room, now, error);
    cleaned->more = cleaned->more || clean.room < 1;
    return done;
}

/* ---- how much it would be ---- */

#define MAY_GO "(ended<=?1 AND removal IS NULL) OR removal<=?2"

static bool count_kind(struct clean *clean, enum history_kind kind, const char *sql) {
    time_ms bound = clean_bound(clean->plan, kind, clean->now);
    return db_value(&clean->store->db, clean->error, &clean->cleaned->count[kind], sql, "Ti", bound,
                    clean->now) != FAILED;
}

static bool count_jobs(struct clean *clean, struct found *found) {
    bool left = clean->plan->ttl[HISTORY_JOBS] != 0;
    if (db_value(&clean->store->db, clean->error, &clean->cleaned->count[HISTORY_JOBS],
                 "SELECT count(*) FROM ended WHERE removal<=?1", "i", clean->now) == FAILED)
        return false;
    while (left) {
        if (!clean_collect(clean, found, &left))
            return false;
        clean->cleaned->count[HISTORY_JOBS] += found->count;
    }
    return true;
}

bool clean_count(struct store *store, const struct cleanup *plan, struct cleaned *cleaned,
                 time_ms now, struct error *error) {
    *cleaned = (struct cleaned){0};
    struct cleanup whole = *plan;
    whole.part = 0;
    whole.parts = 1;
    whole.ended = 0;
    struct clean clean = {store, &whole, cleaned, now, CLEANUP_ROWS, error};
    struct found *found = malloc(sizeof *found);
    bool done =
        (found || error_no_memory(error)) && count_jobs(&clean, found) &&
        count_kind(&clean, HISTORY_INCIDENTS, "SELECT count(*) FROM incident WHERE " MAY_GO) &&
        count_kind(&clean, HISTORY_BATCHES, "SELECT count(*) FROM batch WHERE " MAY_GO) &&
        count_kind(&clean, HISTORY_OPERATIONS,
                   "SELECT count(*) FROM operation WHERE at<=?1 AND ?2>0") &&
        db_value(&store->db, error, &cleaned->count[HISTORY_INSTANCES],
                 "SELECT count(*) FROM past WHERE removal<=?1", "i", now) != FAILED;
    free(found);
    return done;
}
