/* why.c - why a job has not run yet, or has: one sentence and its facts (rules §11). What is asked
 * is read in one look at the store, so the answer is right at that instant. */
#include "store/rules/ask/why.h"
#include "base/json.h"
#include "store/rules/create/occurrence.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/place/suspects.h"
#include "store/rules/record/history.h"
#include "time/span.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool why_say(struct why *why, const char *reason, const char *format, ...) {
    char words[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    text_add(&why->text, "job %lld %s", (long long)why->row.id, words);
    return json_put_text(why->answer, "reason", reason);
}

static void put_number(struct why *why, const char *name, int64_t value) {
    json_put(why->answer, name, json_integer(value));
}

/* ---- it is over ---- */

/* By number as far as that is filed, and in the tail behind. NULL: error. */
static struct row *ended_find(struct store *store, int64_t id, struct error *error) {
    int64_t filed = 0;
    if (!history_filed(store, &filed, error))
        return NULL;
    return db_query(&store->db, error,
                    "SELECT outcome, at FROM (SELECT e.outcome, e.at, e.seq FROM ended_by_job b"
                    " JOIN ended e ON e.seq=b.seq AND e.job=b.job WHERE b.job=?1 UNION ALL"
                    " SELECT outcome, at, seq FROM ended WHERE seq>?2 AND job=?1)"
                    " AS e ORDER BY seq DESC LIMIT 1",
                    "ii", id, filed);
}

static const char *ended_words(const char *outcome) {
    static const char *const words[][2] = {
        {"successful", "has ended successfully"},
        {"deleted", "was deleted"},
        {"skipped", "found nothing to do: its instance had gone on, and it was skipped"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(outcome, words[i][0]) == 0)
            return words[i][1];
    return "was cancelled";
}

static bool why_ended(struct why *why, int64_t id, struct error *error) {
    char at[TIME_TEXT_SIZE];
    struct row *row = ended_find(why->store, id, error);
    enum answer step = db_step(&why->store->db, row, error);
    if (step == NO)
        error_set(error, ERROR_NOT_FOUND, "no job %lld", (long long)id);
    if (step != YES)
        return false;
    const char *outcome = history_end_name(row_int32(row, 0));
    time_ms when = row_int(row, 1);
    row_done(row);
    time_format(when, at);
    why->row.id = id;
    return json_put_text(why->answer, "state", "ended") &&
           json_put_text(why->answer, "outcome", outcome) &&
           json_put_time(why->answer, "at", when) &&
           why_say(why, "ended", "%s at %s (see its log)", ended_words(outcome), at);
}

/* ---- locked ---- */

static time_ms lock_until(struct why *why, const struct executor_info *info, struct error *error) {
    int64_t until = TIME_NONE;
    db_value(&why->store->db, error, &until,
             "SELECT until FROM locked WHERE id=?1 AND until IS NOT NULL", "i", why->row.id);
    time_ms lease = info && !info->remote ? info->lease : TIME_NONE;
    return until > lease ? until : lease;
}

static bool why_locked(struct why *why, struct error *error) {
    char until[TIME_TEXT_SIZE], since[TIME_TEXT_SIZE], owner[JOB_NAME_MAX + 32];
    const struct executor_info *info = executor_list_find(&why->executors, why->row.owner);
    time_ms end = lock_until(why, info, error);
    snprintf(owner, sizeof owner, "%s/%lld", info ? info->name : "?", (long long)why->row.owner);
    time_ms began = info ? running_since(&info->running, why->row.id, why->row.token) : TIME_NONE;
    time_format(end, until);
    time_format(began, since);
    json_put_text(why->answer, "executor", owner);
    json_put_time(why->answer, "until", end);
    json_put_time(why->answer, "since", began);
    if (!info || info->standing == STANDING_GONE)
        return why_say(why, "executor_died",
                       "is locked by %s, which has died (the next executor that looks frees it)",
                       owner);
    if (info->remote)
        return why_say(why, end <= why->now ? "lock_expired" : "running",
                       end <= why->now
                           ? "is locked by the worker %s, whose lock expired at %s (the next fetch "
                             "of its topic takes it over)"
                           : "is being worked on by the worker %s (locked until %s)",
                       owner, until);
    if (info->standing == STANDING_OVERDUE && end <= why->now)
        return why_say(why, "lock_expired",
                       "is locked by %s, whose lock expired at %s (the next executor that looks "
                       "frees it)",
                       owner, until);
    if (began != TIME_NONE)
        return why_say(why, "running", "has been running on %s since %s (locked until %s)", owner,
                       since, until);
    if (why->store->kind == STORE_MEMORY)
        return why_say(why, "running", "is running on %s (locked until %s)", owner, until);
    if (info->running.vanished)
        return why_say(why, "locked",
                       "is locked by %s until %s; whether it runs by now is known on that machine "
                       "alone",
                       owner, until);
    return why_say(why, "queued", "is locked by %s until %s and waits there for a free worker",
                   owner, until);
}

/* ---- dead, suspended, scheduled ---- */

static bool why_dead(struct why *why, struct error *error) {
    struct row *row = db_query(
        &why->store->db, error,
        "SELECT i.id, i.type, coalesce(i.message, j.message) FROM job j LEFT JOIN incident i"
        " ON (i.job=j.id OR i.schedule=j.schedule) AND i.ended IS NULL AND i.type<>'handlerStuck'"
        " WHERE j.id=?1 ORDER BY CASE WHEN i.job=j.id THEN 0 ELSE 1 END LIMIT 1",
        "i", why->row.id);
    if (db_step(&why->store->db, row, error) != YES)
        return false;
    const char *type = row_text(row, 1), *message = row_text(row, 2);
    int64_t incident = row_int(row, 0);
    json_put_text(why->answer, "message", message);
    const char *colon = message ? ": " : "";
    message = message ? message : "";
    bool said = false;
    if (type) {
        put_number(why, "incident", incident);
        said = why_say(why, "no_retries", "has no retries left (incident %lld, %s)%s%s",
                       (long long)incident, type, colon, message);
    } else
        said = why_say(why, "no_retries", "has no retries left%s%s", colon, message);
    row_done(row);
    return said;
}

/* Each reason with the name of what holds the job. */
static bool suspended_say(struct why *why, const char *instance) {
    struct text words = {0};
    static const char *const says[] = {"by itself",
                                       "by its definition",
                                       "by its instance",
                                       "by its batch",
                                       "by its schedule",
                                       "by its process",
                                       "by the instance that called its own"};
    for (int i = 0; i < SUSPENSIONS; i++) {
        const char *name = NULL;
        if (1 << i == SUSPENDED_DEFINITION)
            name = why->stream->definition->name;
        else if (1 << i == SUSPENDED_INSTANCE)
            name = instance;
        if (why->row.suspended & 1 << i)
            text_add(&words, "%s%s%s%s%s", words.size ? ", " : "", says[i], name ? " \"" : "",
                     name ? name : "", name ? "\"" : "");
    }
    bool said = !words.failed && why_say(why, "suspended", "is suspended %s", words.data);
    text_clear(&words);
    return said;
}

static bool why_suspended(struct why *why, struct error *error) {
    bool by_instance = why->row.suspended & SUSPENDED_INSTANCE;
    struct row *row =
        db_query(&why->store->db, error,
                 "SELECT coalesce(instance, CAST(instance_id AS TEXT)) FROM job WHERE id=?1", "i",
                 why->row.id);
    enum answer step = db_step(&why->store->db, row, error);
    if (step != YES)
        return false;
    const char *instance = by_instance ? row_text(row, 0) : NULL;
    bool said = json_put(why->answer, "by", suspension_to_json(why->row.suspended)) &&
                json_put_text(why->answer, "instance", instance) && suspended_say(why, instance);
    row_done(row);
    return said;
}

static bool why_scheduled(struct why *why, struct error *error) {
    char at[TIME_TEXT_SIZE], in[TIME_TEXT_SIZE];
    struct text words = {0};
    const char *reason = NULL;
    struct row *row =
        db_query(&why->store->db, error,
                 "SELECT j.message, c.n FROM job j LEFT JOIN conflicts c ON c.job=j.id"
                 " WHERE j.id=?1 AND (j.attempt>1 OR c.n>0)",
                 "i", why->row.id);
    enum answer step = db_step(&why->store->db, row, error);
    if (step == FAILED)
        return false;
    const char *message = step == YES ? row_text(row, 0) : NULL;
    time_format(why->row.due, at);
    span_say(why->row.due - why->now, in);
    json_put_time(why->answer, "when", why->row.due);
    json_put_text(why->answer, "message", message);
    int64_t conflicts = step == YES ? row_int(row, 1) : 0;
    if (conflicts > 0) {
        put_number(why, "conflicts", conflicts);
        why_say(why, "conflict", "is due again at %s, in %s, after %lld conflict%s in a row: %s",
                at, in, (long long)conflicts, conflicts == 1 ? "" : "s", message ? message : "");
    } else if (message)
        why_say(why, "retry", "is due again at %s, in %s, after it failed: %s", at, in, message);
    else
        why_say(why, "due", "is due at %s, in %s", at, in);
    if (step == YES)
        row_done(row);
    const char *unserved = why_unserved(why, &words, &reason);
    if (unserved) {
        text_add(&why->text, "; as things are, %s", unserved);
        json_put_text(why->answer, "then", reason);
    }
    text_clear(&words);
    return true;
}

/* ---- in its lane ---- */

/* The job whose run holds the lane: its id, 0 if its row is gone. -1: nothing holds it. -2: error.
 */
static int64_t lane_holder(struct why *why, int64_t *owner, struct error *error) {
    int64_t job = 0;
    enum answer held = db_value(&why->store->db, error, owner, "SELECT owner FROM lane WHERE id=?1",
                                "i", why->row.lane);
    if (held != YES)
        return held == FAILED ? -2 : -1;
    held =
        db_value(&why->store->db, error, &job,
                 "SELECT id FROM locks WHERE lane=?1 ORDER BY token LIMIT 1", "i", why->row.lane);
    if (held == NO) /* a run outside of the lane that has taken it */
        held = db_value(&why->store->db, error, &job,
                        "SELECT l.id FROM lane a JOIN locks l ON l.token=a.token AND"
                        " l.owner=a.owner WHERE a.id=?1",
                        "i", why->row.lane);
    return held == FAILED ? -2 : job;
}

/* YES: said that a run that does not end holds it. */
static enum answer lane_say_stuck(struct why *why, const char *key, const char *name,
                                  struct error *error) {
    struct row *row = db_query(&why->store->db, error,
                               "SELECT job, since, place, incident FROM stuck WHERE lane=?1"
                               " ORDER BY token LIMIT 1",
                               "i", why->row.lane);
    enum answer step = db_step(&why->store->db, row, error);
    if (step != YES)
        return step;
    char since[TIME_TEXT_SIZE];
    int64_t job = row_int(row, 0), incident = row_int(row, 3);
    time_ms began = row_time(row, 1);
    time_format(began, since);
    put_number(why, "holder", job);
    json_put_time(why->answer, "since", began);
    json_put(why->answer, "stuck", json_true());
    if (incident)
        put_number(why, "incident", incident);
    bool said = why_say(why, "lane",
                        "waits for its lane \"%s\": a run of job %lld on %s, begun at %s, does not"
                        " end (%s)",
                        key, (long long)job, name, since, row_text(row, 2));
    row_done(row);
    return said ? YES : FAILED;
}

static enum answer lane_say_held(struct why *why, const char *key, int64_t job, int64_t owner,
                                 struct error *error) {
    const struct executor_info *info = executor_list_find(&why->executors, owner);
    char name[JOB_NAME_MAX + 32];
    if (!owner)
        return why_say(why, "lane", "waits for its lane \"%s\": a command holds it", key);
    snprintf(name, sizeof name, "%s/%lld", info ? info->name : "?", (long long)owner);
    json_put_text(why->answer, "executor", name);
    enum answer said = lane_say_stuck(why, key, name, error);
    if (said)
        return said;
    if (!job)
        return why_say(why, "lane",
                       "waits for its lane \"%s\": a run on %s whose job was taken away has not "
                       "ended",
                       key, name);
    put_number(why, "holder", job);
    return why_say(why, "lane", "waits for its lane \"%s\": job %lld holds it on %s", key,
                   (long long)job, name);
}

/* Behind the visible head of its own priority; nothing of the lane runs. */
static enum answer lane_say_behind(struct why *why, const char *key, struct error *error) {
    const struct job_row *row = &why->row;
    int64_t first = 0;
    enum answer parked =
        db_value(&why->store->db, error, &first,
                 "SELECT 1 FROM parked WHERE lane=?1 AND stream=?2 AND rank=?3 AND"
                 " place=?4 AND id=?5",
                 "iiiii", row->lane, row->stream, ~row->priority, row->place, row->id);
    if (parked != YES)
        return parked;
    if (db_value(&why->store->db, error, &first,
                 "SELECT id FROM ready WHERE stream=?1 AND rank=?2 AND lane=?3 LIMIT 1", "iii",
                 row->stream, ~row->priority, row->lane) == FAILED)
        return FAILED;
    put_number(why, "holder", first);
    return why_say(why, "lane", "waits in its lane \"%s\" behind job %lld", key, (long long)first);
}

/* YES: said; NO: its lane does not hold it up. */
static enum answer why_lane(struct why *why, struct error *error) {
    int64_t owner = 0;
    if (!why->row.lane)
        return NO;
    struct row *row =
        db_query(&why->store->db, error, "SELECT lane_key FROM job WHERE id=?1", "i", why->row.id);
    if (db_step(&why->store->db, row, error) != YES)
        return FAILED;
    char key[JOB_NAME_MAX + 1];
    const char *text = row_text(row, 0);
    const int64_t lane = why->row.lane < 0 ? ~why->row.lane : why->row.lane;
    if (lane & JOB_LANE_OF_INSTANCE)
        snprintf(key, sizeof key, "%lld", (long long)(lane & ~JOB_LANE_OF_INSTANCE));
    else
        snprintf(key, sizeof key, "%s", text ? text : "");
    row_done(row);
    int64_t holder = lane_holder(why, &owner, error);
    enum answer said = FAILED;
    if (holder == -1)
        said = lane_say_behind(why, key, error);
    else if (holder != -2)
        said = lane_say_held(why, key, holder, owner, error);
    if (said == YES)
        json_put_text(why->answer, "lane", key);
    return said;
}

/* ---- its schedule ---- */

/* YES: said; NO: it is not its schedule that keeps it. */
static enum answer why_schedule(struct why *why, struct error *error) {
    char name[JOB_NAME_MAX + 1];
    bool paused = false;
    struct rival rival;
    enum answer step = db_read(&why->store->db, error,
                               "SELECT s.name, s.paused FROM cycle c JOIN schedule s"
                               " ON s.name=c.schedule WHERE c.job=?1",
                               "tf<i", name, sizeof name, &paused, why->row.id);
    if (step != YES)
        return step;
    if (paused)
        return json_put_text(why->answer, "schedule", name) &&
               why_say(why, "paused", "waits until its schedule \"%s\" is resumed", name);
    if (why->row.suspended)
        return NO;
    enum answer found = occurrence_rival(why->store, name, why->row.id, why->now, &rival, error);
    if (found != YES)
        return found;
    put_number(why, "holder", rival.job);
    return json_put_text(why->answer, "schedule", name) &&
           why_say(why, "overlap", "waits for job %lld, the run of its schedule \"%s\" before it",
                   (long long)rival.job, name);
}

/* ---- the answer ---- */

static bool why_state(struct why *why, const char *state) {
    return json_put_text(why->answer, "state", state);
}

static bool why_live(struct why *why, struct error *error) {
    enum answer scheduled = NO;
    const struct job_row *row = &why->row;
    if (row->token)
        return why_state(why, "locked") && why_locked(why, error);
    if (row->retries <= 0)
        return why_state(why, "dead") && why_dead(why, error);
    if (row->repeats && (row->suspended || row->due <= why->now))
        scheduled = why_schedule(why, error);
    if (scheduled)
        return scheduled == YES && why_state(why, row->suspended ? "suspended" : "ready");
    if (row->suspended)
        return why_state(why, "suspended") && why_suspended(why, error);
    if (row->due != TIME_NONE && row->due > why->now)
        return why_state(why, "scheduled") && why_scheduled(why, error);
    enum answer waits = why_lane(why, error);
    if (waits)
        return waits == YES && why_state(why, "waiting");
    return why_state(why, "ready") && why_ready(why, error);
}

/* What the sentence does not say otherwise. */
static bool why_say_suspect(struct why *why) {
    if (!why->suspect)
        return true;
    text_add(&why->text, "; it is a suspect, as a machine vanished while it was locked there");
    return json_put(why->answer, "suspect", json_true());
}

static bool why_job(struct why *why, struct error *error) {
    enum answer suspect = suspects_ask(why->store, why->row.id, error);
    why->suspect = suspect == YES;
    return suspect != FAILED &&
           json_put_text(why->answer, "handler", why->stream->definition->name) &&
           executor_list_take(&why->executors, why->store, false, why->now, error) &&
           why_live(why, error) && why_say_suspect(why);
}

/* In a damaged store. An executor that meets such a job sets it aside: then it is dead. */
static bool why_lost(struct why *why, struct error *error) {
    if (!json_put(why->answer, "handler", json_null()))
        return false;
    if (why->row.retries <= 0)
        return why_state(why, "dead") && why_dead(why, error);
    return why_say(why, "no_definition",
                   "has no definition: the store is damaged, and no executor "
                   "can take the job (see check --store)");
}

static bool why_answer(struct why *why, int64_t id, struct error *error) {
    enum answer found = row_load(why->store, id, &why->row, error);
    if (found == FAILED || !json_put(why->answer, "job", json_integer(id)))
        return false;
    if (!found)
        return why_ended(why, id, error);
    why->stream = catalog_stream(&why->store->catalog, why->row.stream);
    return why->stream ? why_job(why, error) : why_lost(why, error);
}

json_t *store_why(struct store *store, int64_t id, time_ms now, struct error *error) {
    bool own = false;
    struct why why = {.store = store, .now = now};
    if (!look_begin(store, &own, error))
        return NULL;
    why.answer = json_object();
    /* what fails without a word of its own */
    db_no_memory(&store->db, error);
    bool done = why.answer && why_answer(&why, id, error) && !why.text.failed &&
                json_put_text(why.answer, "text", why.text.data);
    executor_list_clear(&why.executors);
    text_clear(&why.text);
    look_end(store, own);
    return json_kept(why.answer, done);
}
