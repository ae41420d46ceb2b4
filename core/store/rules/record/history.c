#include "store/rules/record/history.h"
#include "base/crash_point.h"
#include "base/json.h"
#include "store/rules/record/trail.h"
#include <stdlib.h>

#define SNOOZES_KEPT 100 /* of one job, which may go on for ever */
#define LINES_KEPT 1000  /* of one attempt, however many runs it took; a run is kept whole */

const char *history_end_name(int end) {
    static const char *const names[] = {"", "successful", "deleted", "cancelled", "skipped"};
    return end > 0 && end <= ENDED_SKIPPED ? names[end] : "unknown";
}

enum history_end history_end_of(const struct outcome *outcome) {
    if (outcome->kind == OUTCOME_SKIPPED)
        return ENDED_SKIPPED;
    return outcome->kind == OUTCOME_SUCCESS ? ENDED_SUCCESSFUL : ENDED_CANCELLED;
}

/* No entry tells of this end: what the last run said belongs to nothing. */
static bool history_hush(struct store *store, int64_t job, int attempt, struct error *error) {
    int64_t some = 0;
    if (store->lines < 0) {
        if (db_value(&store->db, error, &some,
                     "SELECT EXISTS(SELECT 1 FROM line) OR EXISTS(SELECT 1 FROM snooze)",
                     "") == FAILED)
            return false;
        store->lines = some != 0;
    }
    return !store->lines ||
           (db_run(&store->db, error, "DELETE FROM line WHERE job=?1 AND n=?2", "in", job,
                   attempt) &&
            db_run(&store->db, error, "DELETE FROM snooze WHERE job=?1", "i", job));
}

/* The entry written last gets a number above that of a newer one that was removed. */
static bool history_number(struct store *store, struct error *error) {
    int64_t number = store->meta.ended + 1;
    if (number == 1)
        return true;
    store->meta.ended = 0;
    return db_run(&store->db, error,
                  "UPDATE ended SET seq=?1 WHERE seq=(SELECT max(seq) FROM ended) AND seq<?1", "i",
                  number);
}

bool history_remove(struct store *store, int64_t job, int64_t seq, struct error *error) {
    int64_t last = 0;
    if (!db_run(&store->db, error, "DELETE FROM ended_by_job WHERE job=?1 AND seq=?2", "ii", job,
                seq) ||
        !db_run(&store->db, error,
                "DELETE FROM ended_by_instance WHERE seq=?1 AND instance="
                "(SELECT instance FROM ended WHERE seq=?1)",
                "i", seq) ||
        !db_run(&store->db, error, "DELETE FROM ended WHERE seq=?1", "i", seq) ||
        db_value(&store->db, error, &last, "SELECT coalesce(max(seq), 0) FROM ended", "") == FAILED)
        return false;
    if (last < seq && store->meta.ended < seq)
        store->meta.ended = seq;
    return true;
}

bool history_removed(struct store *store, const struct job_row *row, enum history_end end,
                     time_ms now, struct error *error) {
    if (store->rules->history != HISTORY_FULL)
        return history_hush(store, row->id, row->attempt, error);
    return db_run(&store->db, error,
                  "INSERT INTO ended(job, stream, outcome, executor, at, retries, attempt, created,"
                  " due, priority, batch, " BELONGS ")"
                  " SELECT id, stream, ?2, ?3, ?4, retries, attempt, created, due, priority,"
                  " batch, " BELONGS_ROW " FROM job WHERE id=?1",
                  "inzi", row->id, (int)end, store->self.id, now) &&
           history_number(store, error);
}

bool history_ended(struct store *store, const struct outcome *outcome, enum history_end end,
                   struct error *error) {
    const struct job *job = outcome->job;
    if (store->rules->history != HISTORY_FULL)
        return history_hush(store, job->id, job->attempt, error);
    return db_run(&store->db, error,
                  "INSERT INTO ended(job, stream, outcome, executor, started, at, retries, attempt,"
                  " result, created, due, priority, batch, " BELONGS ") VALUES(?1, ?2, ?3, ?4, ?5,"
                  " ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
                  "iinzTinntiTiztttttt", job->id, job->stream, (int)end, job->owner,
                  outcome->started, outcome->ended, job->retries, job->attempt, outcome->result,
                  job->created, job->due, job->priority, job->batch, job->instance, job->root,
                  job->activity, job->tenant, job->lane, job->schedule) &&
           history_number(store, error);
}

bool history_snoozed(struct store *store, const struct outcome *outcome, const struct job_row *row,
                     struct error *error) {
    if (store->rules->history != HISTORY_FULL)
        return true;
    const struct job *job = outcome->job;
    store->lines = 1;
    return db_run(&store->db, error,
                  "INSERT INTO snooze(job, seq, n, at, stream, executor, started, until, retries,"
                  " priority, message, batch, " BELONGS ") VALUES(?1, (SELECT"
                  " coalesce(max(seq), 0)+1 FROM snooze WHERE job=?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
                  " ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
                  "iniizTTnitztttttt", row->id, (int)row->attempt, outcome->ended, row->stream,
                  outcome->job->owner, outcome->started, row->due, (int)row->retries, row->priority,
                  outcome->message, row->batch, job->instance, job->root, job->activity,
                  job->tenant, job->lane, job->schedule) &&
           db_run(&store->db, error,
                  "DELETE FROM snooze WHERE job=?1 AND seq<=(SELECT max(seq) FROM snooze WHERE"
                  " job=?1)-?2",
                  "in", row->id, SNOOZES_KEPT);
}

bool history_failed(struct store *store, const struct outcome *outcome,
                    const struct job_row *before, struct error *error) {
    const struct job *job = outcome->job;
    return store->rules->history == HISTORY_NONE ||
           db_run(&store->db, error,
                  "INSERT INTO attempt(" ATTEMPT ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
                  " ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19) " ATTEMPT_AGAIN,
                  "iniizTnTinttztttttt", before->id, before->attempt, outcome->ended,
                  before->stream, outcome->job->owner, outcome->started, before->retries,
                  before->due, before->priority, (int)outcome->reason, outcome->message,
                  outcome->stack, job->batch, job->instance, job->root, job->activity, job->tenant,
                  job->lane, job->schedule);
}

/* A run that is not counted (a snooze, a conflict) speaks under the number of the next: of those
 * that go on for ever only the newest lines are kept. */
static bool history_cut_lines(struct store *store, const struct outcome *outcome,
                              struct error *error) {
    return outcome_traits[outcome->kind].counts ||
           db_run(&store->db, error,
                  "DELETE FROM line WHERE job=?1 AND n=?2 AND seq<="
                  "(SELECT max(seq) FROM line WHERE job=?1 AND n=?2)-?3",
                  "inn", outcome->job->id, (int)outcome->job->attempt, LINES_KEPT);
}

/* The lines of a run are one row; its number is that of the last of them. */
static bool history_write_lines(struct store *store, int64_t job, int32_t attempt, json_t *lines,
                                time_ms at, struct error *error) {
    char *text = lines ? json_write(lines, NULL) : NULL;
    store->lines = 1;
    bool done = text ? db_run(&store->db, error,
                              "INSERT INTO line(job, n, seq, at, lines) SELECT ?1, ?2, (SELECT"
                              " coalesce(max(seq), 0) + ?3 FROM line WHERE job=?1 AND n=?2), ?4,"
                              " ?5",
                              "innit", job, (int)attempt, (int)json_array_size(lines), at, text)
                     : db_no_memory(&store->db, error);
    free(text);
    json_decref(lines);
    return done;
}

static json_t *lines_said(const struct outcome *outcome) {
    json_t *lines = json_array();
    bool fine = lines != NULL;
    for (const struct outcome_line *line = outcome->lines; fine && line; line = line->next)
        fine = json_array_append_new(lines, json_string(line->text)) == 0;
    if (fine && outcome->warning)
        fine = json_array_append_new(lines, json_string(outcome->warning)) == 0;
    if (fine)
        return lines;
    json_decref(lines);
    return NULL;
}

bool history_say(struct store *store, const struct outcome *outcome, struct error *error) {
    const struct job *job = outcome->job;
    if (store->rules->history == HISTORY_NONE ||
        (outcome_traits[outcome->kind].ends && store->rules->history != HISTORY_FULL))
        return true;
    return history_write_lines(store, job->id, job->attempt, lines_said(outcome), outcome->ended,
                               error) &&
           history_cut_lines(store, outcome, error);
}

bool store_line(struct store *store, int64_t job, int32_t attempt, const char *text, time_ms now,
                struct error *error) {
    bool own = false;
    if (!unit_begin(store, STORE_TURN, &own, error))
        return false;
    bool done = history_write_lines(store, job, attempt, json_pack("[s]", text), now, error);
    return unit_end(store, own, done, error);
}

bool store_progress(struct store *store, int64_t job, double fraction, const char *text,
                    time_ms now, struct error *error) {
    bool own = false;
    if (!unit_begin(store, STORE_TURN, &own, error))
        return false;
    store->progress = true;
    bool done = db_run(&store->db, error,
                       "INSERT INTO progress(job, fraction, text, at)"
                       " SELECT id, ?2, ?3, ?4 FROM live WHERE id=?1 ON CONFLICT(job) DO UPDATE"
                       " SET fraction=excluded.fraction, text=excluded.text, at=excluded.at",
                       "idti", job, fraction, text, now);
    return unit_end(store, own, done, error);
}

/* ---- the indexes by job and by instance, behind ---- */

bool history_filed(struct store *store, int64_t *filed, struct error *error) {
    *filed = 0;
    return db_value(&store->db, error, filed, "SELECT value FROM meta WHERE key='filed'", "") !=
           FAILED;
}

static bool history_file(struct store *store, int64_t from, int64_t to, struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO ended_by_job(job, seq) SELECT job, seq FROM ended"
                  " WHERE seq>?1 AND seq<=?2 ORDER BY job, seq",
                  "ii", from, to) &&
           db_run(&store->db, error,
                  "INSERT INTO ended_by_instance(instance, seq) SELECT instance, seq"
                  " FROM ended WHERE seq>?1 AND seq<=?2 AND instance IS NOT NULL"
                  " ORDER BY instance, seq",
                  "ii", from, to) &&
           CRASH_POINT("history_filed") &&
           db_run(&store->db, error,
                  "INSERT INTO meta(key, value) VALUES('filed', ?1)"
                  " ON CONFLICT(key) DO UPDATE SET value=excluded.value",
                  "i", to);
}

bool history_unfiled(struct store *store, int64_t *count, struct error *error) {
    int64_t ends = 0, steps = 0;
    bool done = db_read(&store->db, error,
                        "SELECT (SELECT coalesce(max(seq), 0) FROM ended)"
                        " - (SELECT coalesce(max(value), 0) FROM meta WHERE key='filed'),"
                        " (SELECT coalesce(max(seq), 0) FROM trail)"
                        " - (SELECT coalesce(max(value), 0) FROM meta WHERE key='trail_filed')",
                        "ii<", &ends, &steps) == YES;
    *count = ends > steps ? ends : steps;
    return done;
}

bool history_skip_gap(struct store *store, const char *first_behind, int64_t *filed,
                      struct error *error) {
    int64_t first = 0;
    if (db_value(&store->db, error, &first, first_behind, "i", *filed) == FAILED)
        return false;
    if (first > *filed)
        *filed = first - 1;
    return true;
}

#define FIRST_BEHIND "SELECT coalesce(min(seq), 0) FROM ended WHERE seq>?1"

bool store_file_ended(struct store *store, int limit, bool *more, struct error *error) {
    bool own = false;
    int64_t filed = 0, last = 0;
    *more = false;
    if (!unit_begin(store, STORE_TURN, &own, error))
        return false;
    bool done =
        history_filed(store, &filed, error) &&
        db_value(&store->db, error, &last, "SELECT coalesce(max(seq), 0) FROM ended", "") != FAILED;
    done = done && (last - filed <= limit || history_skip_gap(store, FIRST_BEHIND, &filed, error));
    *more = done && last - filed > limit;
    if (done && last > filed)
        done = history_file(store, filed, *more ? filed + limit : last, error);
    bool rest = false;
    done = done && trail_file(store, limit, &rest, error);
    *more = *more || rest;
    return unit_end(store, own, done, error);
}

/* By number as far as that is filed, and in the tail behind. */
enum answer history_find(struct store *store, int64_t job, struct ended *ended,
                         struct error *error) {
    int64_t filed = 0;
    int end = 0;
    *ended = (struct ended){.job = job};
    if (!history_filed(store, &filed, error))
        return FAILED;
    enum answer step =
        db_read(&store->db, error,
                "SELECT seq, at, attempt, outcome FROM (SELECT e.seq, e.at, e.attempt, e.outcome"
                " FROM ended_by_job b JOIN ended e ON e.seq=b.seq AND e.job=b.job WHERE b.job=?1"
                " UNION ALL SELECT seq, at, attempt, outcome FROM ended WHERE seq>?2 AND job=?1)"
                " AS e ORDER BY seq DESC LIMIT 1",
                "iinn<ii", &ended->seq, &ended->at, &ended->attempt, &end, job, filed);
    ended->end = (enum history_end)end;
    return step;
}

bool history_missing(struct store *store, int64_t job, struct error *error) {
    struct ended ended;
    long long id = (long long)job;
    enum answer found = history_find(store, job, &ended, error);
    if (found == YES)
        error_set(error, ERROR_NOT_FOUND, "job %lld has ended (see moonshift log --job %lld)", id,
                  id);
    else if (found == NO)
        error_set(error, ERROR_NOT_FOUND, "no job %lld", id);
    return false;
}

bool history_late_lines(struct store *store, const struct outcome *outcome, struct error *error) {
    struct ended ended;
    if (!outcome->lines || store->rules->history != HISTORY_FULL)
        return true;
    enum answer found = history_find(store, outcome->job->id, &ended, error);
    if (found != YES || ended.end != ENDED_CANCELLED || ended.attempt != outcome->job->attempt)
        return found != FAILED;
    return history_lines(store, outcome, error);
}
