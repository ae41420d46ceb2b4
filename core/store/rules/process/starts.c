#include "store/rules/process/starts.h"
#include "base/json.h"
#include "store/rules/ground/row.h"
#include "store/rules/job/job_commands.h"
#include "store/rules/process/message.h"
#include "store/rules/process/subscription.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMERS_MAX = 100 }; /* of one version */

static const char *start_text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

json_t *starts_kept(struct store *store, int64_t version) {
    json_t *kept = NULL;
    db_read(&store->db, NULL, "SELECT properties FROM process_version WHERE id=?1", "j<i", &kept,
            version);
    return kept;
}

/* The timer of this activity among `timers`; NULL: none. */
static const json_t *timer_of(const json_t *timers, const char *activity) {
    size_t i;
    json_t *timer;
    json_array_foreach(timers, i, timer)
        if (strcmp(start_text_of(timer, "activity"), activity) == 0)
            return timer;
    return NULL;
}

/* True if both have the timer, with the same text. */
static bool timer_stays(const json_t *before, const json_t *now, const char *activity) {
    const json_t *old = timer_of(before, activity), *new = timer_of(now, activity);
    return old && new &&strcmp(start_text_of(old, "text"), start_text_of(new, "text")) == 0;
}

/* ---- the jobs of the version before ---- */

struct start_job {
    int64_t id;
    char activity[JOB_NAME_MAX + 1];
};

/* They are few, and asked for when a folder is deployed: the places are looked through by stream.
 * An index of their own would cost every job that is created. */
#define START_JOBS                                                                                 \
    "SELECT j.id, coalesce(j.activity, '') FROM job j WHERE j.execution=?1"                        \
    " AND j.instance_id IS NULL AND j.id IN (SELECT t.id FROM timer t JOIN of_start o"             \
    " ON o.id=t.stream UNION ALL SELECT r.id FROM ready r JOIN of_start o ON o.id=r.stream"        \
    " UNION ALL SELECT x.id FROM live x JOIN of_start o ON o.id=x.stream"                          \
    " WHERE x.suspended<>0 OR x.retries=0)"

static bool jobs_of(struct store *store, const struct starts *starts, struct start_job *jobs,
                    size_t *count, struct error *error) {
    char prefix[JOB_NAME_MAX + 32];
    snprintf(prefix, sizeof prefix, "process/%s/", starts->key);
    struct row *rows = db_query(&store->db, error,
                                "WITH of_start AS (SELECT s.id FROM stream s JOIN definition d"
                                " ON d.id=s.definition WHERE substr(d.name, 1, length(?2))=?2"
                                " AND d.name LIKE '%:timer') " START_JOBS " ORDER BY 1 LIMIT ?3",
                                "itn", starts->from, prefix, TIMERS_MAX);
    enum answer step = NO;
    *count = 0;
    while ((step = db_step(&store->db, rows, error)) == YES) {
        struct start_job *job = &jobs[(*count)++];
        job->id = row_int(rows, 0);
        snprintf(job->activity, sizeof job->activity, "%s", row_text(rows, 1));
    }
    return step == NO;
}

/* The job goes on for the new version, or goes; one that runs ends as it began. */
static bool job_move(struct store *store, const struct start_job *job, const struct starts *starts,
                     bool stays, time_ms now, struct error *error) {
    struct job_row row;
    char payload[48];
    enum answer found = row_load(store, job->id, &row, error);
    if (found != YES || row.token)
        return found != FAILED;
    if (!stays)
        return commands_delete(store, (struct ids){&job->id, 1}, now, error);
    snprintf(payload, sizeof payload, "{\"version\":%lld}", (long long)starts->to);
    return row_set_version(store, job->id, starts->to, payload, error);
}

static bool jobs_move(struct store *store, const struct starts *starts, const json_t *before,
                      time_ms now, struct error *error) {
    const json_t *timers = json_object_get(starts->process, "timers");
    size_t count = 0;
    if (!json_array_size(before))
        return true;
    struct start_job *jobs = calloc(TIMERS_MAX, sizeof *jobs);
    bool done =
        jobs ? jobs_of(store, starts, jobs, &count, error) : db_no_memory(&store->db, error);
    for (size_t i = 0; done && i < count; i++)
        done = job_move(store, &jobs[i], starts, timer_stays(before, timers, jobs[i].activity), now,
                        error);
    free(jobs);
    return done;
}

/* ---- new ones ---- */

/* What the job says: the declared keys, with a handler that may be named, and its version. */
static json_t *timer_said(const json_t *timer, int64_t version) {
    json_t *said = json_deep_copy(json_object_get(timer, "spec"));
    return json_kept(
        said, said && json_put_text(said, "handler", "start") &&
                  json_put(said, "payload", json_pack("{sI}", "version", (json_int_t)version)));
}

static bool timer_create(struct store *store, const struct starts *starts, const json_t *timer,
                         time_ms now, struct error *error) {
    char handler[JOB_NAME_MAX * 2 + 32];
    struct job_spec spec = {0};
    struct error reason = {0};
    struct spec_rules rules = spec_rules(store->rules);
    json_t *said = timer_said(timer, starts->to);
    if (!said)
        return db_no_memory(&store->db, error);
    snprintf(handler, sizeof handler, "process/%s/%s:timer", starts->key,
             start_text_of(timer, "activity"));
    bool read = job_spec_read(&spec, said, &rules, now, &reason);
    bool over = spec.job.due == TIME_NEVER || (!read && reason.code == ERROR_CONFLICT);
    bool done = read || over ||
                error_set(error, reason.code, "process \"%.255s\": %.255s: %s", starts->key,
                          start_text_of(timer, "activity"), reason.text);
    if (done && !over) {
        spec.job.handler = handler;
        spec.job.activity = start_text_of(timer, "activity");
        spec.job.execution = starts->to;
        job_spec_define_modelled(&spec, definitions_find(starts->of->definitions, handler), &rules);
        done = store_create(store, &spec, starts->deployment, now, error);
    }
    job_spec_clear(&spec);
    json_decref(said);
    return done;
}

static bool timers_create(struct store *store, const struct starts *starts, const json_t *before,
                          time_ms now, struct error *error) {
    const json_t *timers = json_object_get(starts->process, "timers");
    size_t i;
    json_t *timer;
    json_array_foreach(timers, i, timer)
        if (!timer_stays(before, timers, start_text_of(timer, "activity")) &&
            !timer_create(store, starts, timer, now, error))
            return false;
    return true;
}

static bool events_create(struct store *store, const struct starts *starts, time_ms now,
                          struct error *error) {
    size_t i;
    json_t *event;
    json_array_foreach(json_object_get(starts->process, "events"), i, event) {
        const json_t *priority = json_object_get(event, "priority");
        const struct unit_subscription one = {
            .token = starts->to,
            .version = starts->to,
            .kind = start_text_of(event, "kind"),
            .name = start_text_of(event, "name"),
            .key = start_text_of(event, "key"),
            .activity = start_text_of(event, "activity"),
            .priority = json_is_integer(priority) ? json_integer_value(priority) : TIME_NONE};
        if (!subscription_write(store, &one, now, error) || !message_give(store, &one, now, error))
            return false;
    }
    return true;
}

/* ---- whether a version has them ---- */

static bool has_starts(const json_t *process) {
    return json_array_size(json_object_get(process, "timers")) ||
           json_array_size(json_object_get(process, "events"));
}

bool starts_lack(struct store *store, const json_t *process, int64_t version) {
    json_t *kept = has_starts(process) ? starts_kept(store, version) : NULL;
    bool lack = kept && !has_starts(kept);
    json_decref(kept);
    return lack;
}

bool starts_end(struct store *store, const char *key, int64_t version, time_ms now,
                struct error *error) {
    const struct starts starts = {.key = key, .from = version};
    return starts_move(store, &starts, now, error);
}

bool starts_move(struct store *store, const struct starts *starts, time_ms now,
                 struct error *error) {
    json_t *kept = starts->from ? starts_kept(store, starts->from) : NULL;
    const json_t *before = json_object_get(kept, "timers");
    bool done = !starts->from || (jobs_move(store, starts, before, now, error) &&
                                  subscriptions_remove(store, 0, starts->from, error));
    done = done && timers_create(store, starts, before, now, error) &&
           events_create(store, starts, now, error);
    json_decref(kept);
    return done;
}
