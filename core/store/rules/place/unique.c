#include "store/rules/place/unique.h"
#include "base/crash_point.h"
#include "store/intake.h"
#include "store/rules/ground/engine.h"
#include "store/rules/place/places.h"

#define UNIQUE_INSERT                                                                              \
    "INSERT INTO unique_key(definition, key, job, until, tenant) VALUES(?1, ?2, ?3, ?4, ?5)"       \
    " ON CONFLICT DO NOTHING"
#define EXPIRED "SELECT definition, key FROM unique_key WHERE until<=?1 ORDER BY until LIMIT ?2"

/* The holder is in no place yet: is it there for this store? NO: it never will be. */
static enum answer unique_waits(struct store *store, const char *key, int64_t intake, bool released,
                                struct unique_holder *holder, struct error *error) {
    holder->own = store->intake && store->intake->id == intake;
    holder->runs = released;
    holder->there = holder->own || released;
    if (holder->there)
        return YES;
    if (!store->engine->sign_alive(store, SIGN_INTAKE(intake)))
        return NO;
    error_set(error, ERROR_CONFLICT,
              "unique \"%s\" is held by job %lld, which is still being written (try again)", key,
              (long long)holder->job);
    return FAILED;
}

enum answer unique_taken(struct store *store, int64_t definition, const char *key, int64_t *job,
                         struct error *error) {
    return db_value(&store->db, error, job,
                    "SELECT job FROM unique_key WHERE definition=?1 AND key=?2", "it", definition,
                    key);
}

struct unique_found unique_read(struct row *row, int first) {
    return (struct unique_found){
        .holder = {.job = row_int(row, first),
                   .until = row_time(row, first + 1),
                   .there = row_int32(row, first + 2) != 0,
                   .runs = row_int32(row, first + 3) != 0},
        .intake = row_int(row, first + 4),
        .released = row_int32(row, first + 5) != 0,
    };
}

bool unique_is_over(const struct unique_found *found, time_ms now) {
    const struct unique_holder *holder = &found->holder;
    return !found->intake && !holder->there && (holder->until == TIME_NONE || holder->until <= now);
}

enum answer unique_judge(struct store *store, const char *key, const struct unique_found *found,
                         time_ms now, struct unique_holder *holder, struct error *error) {
    *holder = found->holder;
    if (found->intake)
        return unique_waits(store, key, found->intake, found->released, holder, error);
    return !unique_is_over(found, now);
}

enum answer unique_find(struct store *store, int64_t definition, const char *key, time_ms now,
                        struct unique_holder *holder, struct error *error) {
    struct row *row =
        db_query(&store->db, error,
                 "SELECT " UNIQUE_HOLDER " FROM unique_key u LEFT JOIN live j ON j.id=u.job"
                 " LEFT JOIN locks l ON l.id=u.job"
                 " LEFT JOIN intake i ON u.job>i.reached AND u.job<=i.last"
                 " WHERE u.definition=?1 AND u.key=?2",
                 "it", definition, key);
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step;
    const struct unique_found found = unique_read(row, 0);
    row_done(row);
    return unique_judge(store, key, &found, now, holder, error);
}

bool unique_refuse(const char *handler, const char *key, const struct unique_holder *holder,
                   struct error *error) {
    char until[TIME_TEXT_SIZE];
    time_format(holder->until, until);
    return error_set(error, ERROR_CONFLICT, "unique \"%s\" of \"%s\" is held by job %lld%s%s", key,
                     handler, (long long)holder->job, holder->there ? "" : ", done, until ",
                     holder->there ? "" : until);
}

/* Where its row is there, the holder says whose it is: a program of before gives keys no tenant. */
enum answer unique_own(struct store *store, int64_t definition, const struct job *job,
                       bool replaces, struct error *error) {
    int64_t own = 0;
    if (db_value(&store->db, error, &own,
                 "SELECT CASE WHEN h.tenant IS NOT DISTINCT FROM CAST(?3 AS TEXT)"
                 " OR (h.tenant IS NULL AND ?4=0) THEN 1 ELSE 0 END FROM"
                 " (SELECT CASE WHEN j.id IS NULL THEN u.tenant ELSE j.tenant END AS tenant"
                 " FROM unique_key u LEFT JOIN job j ON j.id=u.job"
                 " WHERE u.definition=?1 AND u.key=?2) AS h",
                 "ittn", definition, job->unique_key, job->tenant, (int)replaces) == FAILED)
        return FAILED;
    if (own)
        return YES;
    error_set(error, ERROR_CONFLICT,
              "unique \"%.255s\" of \"%.255s\" is held by a job of another tenant"
              " (expected one of %s%.255s%s)",
              job->unique_key, job->handler, job->tenant ? "\"" : "",
              job->tenant ? job->tenant : "no tenant", job->tenant ? "\"" : "");
    return NO;
}

/* NO: the time of no key is over. Where an answer is a wait it is not asked. */
static enum answer unique_any_over(struct store *store, time_ms now, struct error *error) {
    int64_t one = 0;
    if (store->engine->sets)
        return YES;
    return db_value(&store->db, error, &one, "SELECT 1 FROM unique_key WHERE until<=?1 LIMIT 1",
                    "i", now);
}

/* Keys whose time is over: that of a job which is there needs none. */
bool unique_purge(struct store *store, time_ms now, struct error *error) {
    enum answer any = unique_any_over(store, now, error);
    if (any != YES)
        return any == NO;
    return db_run(&store->db, error,
                  "DELETE FROM unique_key WHERE (definition, key) IN (" EXPIRED ")"
                  " AND NOT EXISTS(SELECT 1 FROM live j WHERE j.id=unique_key.job)"
                  " AND NOT " INTAKE_HAS("unique_key.job"),
                  "in", now, UNIQUE_PURGED) &&
           db_run(&store->db, error,
                  "UPDATE unique_key SET until=NULL WHERE (definition, key) IN (" EXPIRED ")"
                  " AND EXISTS(SELECT 1 FROM live j WHERE j.id=unique_key.job)",
                  "in", now, UNIQUE_PURGED);
}

enum answer unique_claim(struct store *store, const struct job *job, time_ms until, time_ms now,
                         struct error *error) {
    until = until > now ? until : TIME_NONE;
    if ((until != TIME_NONE && !unique_purge(store, now, error)) ||
        !db_run(&store->db, error, UNIQUE_INSERT, "itiTt", job->definition, job->unique_key,
                job->id, until, job->tenant))
        return FAILED;
    CRASH_POINT("unique_claimed");
    return db_changes(&store->db) ? YES : NO;
}

struct row *unique_ahead_ask(struct store *store, const struct unique_ahead *ahead,
                             struct error *error) {
    return db_query(&store->db, error, UNIQUE_INSERT " RETURNING job", "itiTt", ahead->definition,
                    ahead->key, ahead->job, ahead->until, ahead->tenant);
}

bool unique_ahead_answer(struct store *store, struct unique_ahead *ahead, struct row *row,
                         struct error *error) {
    int64_t job = 0;
    enum answer claimed = db_first(&store->db, row, &job, error);
    ahead->asked = true;
    ahead->claimed = claimed == YES;
    return claimed != FAILED;
}

bool unique_hold(struct store *store, const struct job *job, time_ms until, time_ms now,
                 struct error *error) {
    enum answer claimed = unique_claim(store, job, until, now, error);
    return claimed == YES ||
           (claimed == NO && db_run(&store->db, error,
                                    "UPDATE unique_key SET job=?3, until=?4, tenant=?5"
                                    " WHERE definition=?1 AND key=?2",
                                    "itiTt", job->definition, job->unique_key, job->id,
                                    until > now ? until : TIME_NONE, job->tenant));
}

bool unique_done(struct store *store, const struct job *job, time_ms now, struct error *error) {
    return db_run(&store->db, error,
                  "DELETE FROM unique_key WHERE definition=?1 AND key=?2 AND job=?3"
                  " AND (until IS NULL OR until<=?4)",
                  "itii", job->definition, job->unique_key, job->id, now) &&
           CRASH_POINT("unique_released");
}

static int64_t unique_scope(const struct store *store, const struct job_row *row) {
    const struct catalog_stream *stream = catalog_stream(&store->catalog, row->stream);
    return stream ? stream->definition->id : 0;
}

bool unique_release(struct store *store, const struct job_row *row, struct error *error) {
    return db_run(&store->db, error,
                  "DELETE FROM unique_key WHERE definition=?1 AND job=?2"
                  " AND key=(SELECT unique_key FROM job WHERE id=?2)",
                  "ii", unique_scope(store, row), row->id);
}

enum answer unique_retake(struct store *store, const struct job_row *row, time_ms now,
                          struct error *error) {
    struct job *job = NULL;
    struct unique_holder holder;
    if (row_job(store, row->id, &job, error) != YES)
        return FAILED;
    enum answer held = unique_find(store, job->definition, job->unique_key, now, &holder, error);
    if (held == YES && holder.job == row->id)
        held = NO;
    if (held == YES &&
        (!job->tenant || unique_own(store, job->definition, job, false, error) == YES))
        unique_refuse(job->handler, job->unique_key, &holder, error);
    if (held == NO)
        held = unique_hold(store, job, TIME_NONE, now, error) ? NO : FAILED;
    job_free(job);
    return answer_not(held);
}

bool unique_follow(struct store *store, const struct job *job, int64_t next, struct error *error) {
    if (!db_run(&store->db, error,
                "UPDATE unique_key SET job=?4 WHERE definition=?1 AND key=?2 AND job=?3", "itii",
                job->definition, job->unique_key, job->id, next))
        return false;
    int64_t without = db_changes(&store->db) ? job->id : next;
    return row_drop_key(store, without, error);
}
