#include "store/sqlite/history.h"

const char *history_end_name(int end) {
    static const char *const names[] = {"", "successful", "deleted", "cancelled"};
    return end > 0 && end <= ENDED_CANCELLED ? names[end] : "unknown";
}

#define HISTORY_ENDED                                                                              \
    "INSERT INTO ended(job, stream, outcome, executor, started, at, retries, attempt, result)"     \
    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"

bool history_removed(struct store *store, const struct row *row, enum history_end end, time_ms now,
                     struct error *error) {
    return store->settings->history != HISTORY_FULL ||
           db_run(&store->db, error, HISTORY_ENDED, "iinzTinnt", row->id, row->stream, (int)end,
                  store->self.id, TIME_NONE, now, row->retries, row->attempt, (char *)NULL);
}

bool history_ended(struct store *store, const struct outcome *outcome, enum history_end end,
                   struct error *error) {
    const struct job *job = outcome->job;
    return store->settings->history != HISTORY_FULL ||
           db_run(&store->db, error, HISTORY_ENDED, "iinzTinnt", job->id, job->stream, (int)end,
                  job->owner, outcome->started, outcome->ended, job->retries, job->attempt,
                  outcome->result);
}

bool history_failed(struct store *store, const struct outcome *outcome, const struct row *before,
                    struct error *error) {
    return store->settings->history == HISTORY_NONE ||
           db_run(&store->db, error,
                  "INSERT OR REPLACE INTO attempt(job, n, at, stream, executor, started, retries,"
                  " due, priority, reason, message, stack)"
                  " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
                  "iniizTnTintt", before->id, before->attempt, outcome->ended, before->stream,
                  outcome->job->owner, outcome->started, before->retries, before->due,
                  before->priority, (int)outcome->reason, outcome->message, outcome->stack);
}

bool history_lines(struct store *store, const struct outcome *outcome, struct error *error) {
    if (store->settings->history == HISTORY_NONE)
        return true;
    for (const struct outcome_line *line = outcome->lines; line; line = line->next)
        if (!store_line(store, outcome->job->id, outcome->job->attempt, line->text, line->at,
                        error))
            return false;
    return !outcome->warning || store_line(store, outcome->job->id, outcome->job->attempt,
                                           outcome->warning, outcome->ended, error);
}

bool store_line(struct store *store, int64_t job, int32_t attempt, const char *text, time_ms now,
                struct error *error) {
    bool own = false;
    if (!unit_begin(store, &own, error))
        return false;
    bool done =
        db_run(&store->db, error,
               "INSERT INTO line(job, n, seq, at, text) SELECT ?1, ?2,"
               " (SELECT coalesce(max(seq), 0) + 1 FROM line WHERE job=?1 AND n=?2), ?3, ?4",
               "init", job, (int)attempt, now, text);
    return unit_end(store, own, done, error);
}

bool store_progress(struct store *store, int64_t job, double fraction, const char *text,
                    time_ms now, struct error *error) {
    bool own = false;
    if (!unit_begin(store, &own, error))
        return false;
    store->progress = true;
    bool done = db_run(&store->db, error,
                       "INSERT OR REPLACE INTO progress(job, fraction, text, at)"
                       " SELECT id, ?2, ?3, ?4 FROM job WHERE id=?1",
                       "idti", job, fraction, text, now);
    return unit_end(store, own, done, error);
}
