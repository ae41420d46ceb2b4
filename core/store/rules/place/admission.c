#include "store/rules/place/admission.h"
#include "store/rules/place/backlog.h"
#include "store/rules/place/unique.h"

bool admission_end(struct store *store, const struct job_row *row, struct error *error) {
    return (!row->keyed || unique_release(store, row, error)) &&
           backlog_move(store, row->stream, row->lane, -1, error);
}

enum answer admission_again(struct store *store, const struct job_row *row, time_ms now,
                            struct error *error) {
    enum answer held = row->keyed ? unique_retake(store, row, now, error) : YES;
    if (held != YES)
        return held;
    return backlog_move(store, row->stream, row->lane, 1, error) ? YES : FAILED;
}

bool admission_move(struct store *store, const struct job_row *old, const struct job_row *row,
                    time_ms now, struct error *error) {
    if ((old->retries > 0) == (row->retries > 0))
        return true;
    return row->retries > 0 ? admission_again(store, row, now, error) == YES
                            : admission_end(store, row, error);
}

bool admission_done(struct store *store, const struct job *job, time_ms now, struct error *error) {
    struct job_row row;
    if (job->unique_key && !unique_done(store, job, now, error))
        return false;
    if (!backlog_of(store, job->handler))
        return true;
    /* It may have died while it ran. */
    enum answer found = row_load_placeless(store, job->id, &row, error);
    return found == NO || (found == YES && (row.retries == 0 ||
                                            backlog_move(store, row.stream, row.lane, -1, error)));
}
