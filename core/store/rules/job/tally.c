#include "store/rules/job/tally.h"
#include "base/crash_point.h"
#include "job/command.h"
#include "store/rules/job/change.h"
#include <string.h>

static bool batch_counts(const struct store *store, const struct job_row *row) {
    const struct catalog_stream *stream =
        row->batch ? catalog_stream(&store->catalog, row->stream) : NULL;
    return stream &&
           strncmp(stream->definition->name, BATCH_HANDLERS, sizeof BATCH_HANDLERS - 1) == 0;
}

/* One that runs looks by itself once it ends. */
static bool batch_wake(struct store *store, int64_t monitor, time_ms now, struct error *error) {
    struct job_row row;
    enum answer found = row_load(store, monitor, &row, error);
    if (found != YES)
        return found == NO;
    struct job_row old = row;
    row.due = now;
    return row.token || old.due == TIME_NONE || old.due <= now ||
           change_move(store, &old, &row, now, error);
}

/* What is noted of this batch; that of another one is written first. */
static struct tally *batch_tally(struct store *store, int64_t batch, struct error *error) {
    struct tally *tally = &store->tally;
    if (tally->batch != batch) {
        if (!batch_settle(store, error))
            return NULL;
        *tally = (struct tally){.batch = batch, .started = TIME_NONE, .now = TIME_NONE};
    }
    return tally;
}

bool batch_write(struct store *store, struct error *error) {
    const struct tally tally = store->tally;
    int64_t monitor = 0;
    store->tally.batch = 0;
    return !tally.batch ||
           (db_value(&store->db, error, &monitor,
                     "UPDATE batch SET open=open-?2, failed=failed+?3,"
                     " started=coalesce(started, ?4) WHERE id=?1"
                     " RETURNING CASE WHEN open=0 AND made=total THEN monitor END",
                     "innT", tally.batch, tally.gone, tally.failed, tally.started) != FAILED &&
            CRASH_POINT("batch_counted") &&
            (!monitor || !tally.gone || batch_wake(store, monitor, tally.now, error)));
}

/* Ids of a part that was not written are given again. */
static void batch_rolled_back(struct store *store) {
    store->tally.batch = 0;
    store->filling.batch = 0;
}

const struct txn_hook batch_hook = {.flush = batch_write,
                                    .drop = batch_rolled_back,
                                    .size = sizeof(struct tally),
                                    .at = offsetof(struct store, tally)};

bool batch_gone(struct store *store, const struct job_row *row, time_ms started, time_ms now,
                struct error *error) {
    if (!batch_counts(store, row))
        return true;
    struct tally *tally = batch_tally(store, row->batch, error);
    if (!tally)
        return false;
    tally->gone++;
    tally->failed -= row->retries == 0;
    tally->started = tally->started == TIME_NONE ? started : tally->started;
    tally->now = now;
    return true;
}

bool batch_retries(struct store *store, const struct job_row *old, const struct job_row *row,
                   struct error *error) {
    int failed = (row->retries == 0) - (old->retries == 0);
    if (!failed || !batch_counts(store, row))
        return true;
    struct tally *tally = batch_tally(store, row->batch, error);
    if (!tally)
        return false;
    tally->failed += failed;
    return true;
}
