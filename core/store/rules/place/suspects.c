#include "store/rules/place/suspects.h"
#include "store/rules/place/places.h"
#include <stdlib.h>
#include <string.h>

enum { ALONE = 10000 };   /* ms that a suspect runs alone at most, */
enum { BEGIN_BY = 1000 }; /* within which it has to begin once it is locked, */
enum { SPARED = 10000 };  /* and for which an executor is waited for after the store was away */

/* ---- their runs ---- */

enum answer suspects_run(struct store *store, int64_t owner, time_ms now, struct suspect_run *run,
                         struct error *error) {
    time_ms started = 0;
    enum answer found = db_read(&store->db, error,
                                "SELECT s.job, s.started FROM suspect s JOIN locked l ON l.id=s.job"
                                " AND l.token=s.token WHERE s.token IS NOT NULL AND l.owner=?1"
                                " ORDER BY s.started DESC LIMIT 1",
                                "ii<i", &run->job, &started, owner);
    if (found != YES)
        return found;
    run->until = started + ALONE;
    return now < run->until ? YES : NO;
}

enum answer suspects_wait(struct store *store, time_ms now, struct error *error) {
    struct suspect_run run;
    enum answer found = suspects_run(store, store->self.id, now, &run, error);
    if (found == YES && run.until < store->rate_clock.next)
        store->rate_clock.next = run.until;
    return found;
}

enum answer suspects_ask(struct store *store, int64_t job, struct error *error) {
    int64_t one = 0;
    return db_value(&store->db, error, &one, "SELECT 1 FROM suspect WHERE job=?1", "i", job);
}

bool suspects_start(struct store *store, struct job *job, time_ms now, struct error *error) {
    if (!job->begin_by && store->self.steady)
        job->begin_by = clock_monotonic() + BEGIN_BY;
    return db_run(&store->db, error, "UPDATE suspect SET token=?2, started=?3 WHERE job=?1", "iii",
                  job->id, job->token, now);
}

bool suspects_acquit(struct store *store, const struct job *job, struct error *error) {
    struct suspects *suspects = &store->suspects;
    int64_t *found = suspects_at(suspects, job->id);
    if (found) {
        suspects->count--;
        memmove(found, found + 1,
                (size_t)(suspects->list + suspects->count - found) * sizeof *found);
    }
    return db_run(&store->db, error, "DELETE FROM suspect WHERE job=?1", "i", job->id);
}

/* ---- of executors that have vanished ---- */

bool suspects_add(struct store *store, int64_t owner, bool expired_only, time_ms now,
                  struct error *error) {
    store->suspects.version = 0;
    return db_run(&store->db, error,
                  "INSERT INTO suspect(job) SELECT id FROM locks WHERE owner=?1"
                  " AND (?2=0 OR until IS NULL OR until<=?3)"
                  " ON CONFLICT(job) DO UPDATE SET token=NULL, started=NULL",
                  "ini", owner, (int)expired_only, now);
}

bool suspects_spare(struct store *store, int64_t owner, time_ms now, struct error *error) {
    return place_spare(store, owner, now, now + SPARED, error);
}

bool suspects_tidy(struct store *store, struct error *error) {
    return db_run(&store->db, error,
                  "DELETE FROM suspect WHERE NOT EXISTS(SELECT 1 FROM live WHERE id=suspect.job)",
                  "");
}
