#include "store/rules/record/tell.h"
#include "base/text.h"
#include "job/hook.h"
#include "job/notify.h"
#include "job/spec_fast.h"
#include "store/rules/ground/defined.h"
#include <stdio.h>
#include <string.h>

#define EVENTS_MAX 500      /* in one job */
#define INCIDENTS_SEEN 1000 /* the newest ones, of which those of one cause are counted */

static bool tell_note(struct store *store, json_t **list, json_t *what, time_ms now,
                      struct error *error) {
    store->tells.now = now;
    if (!*list)
        *list = json_array();
    return json_array_append_new(*list, what) == 0 || db_no_memory(&store->db, error);
}

/* A job of a handler that the folder names, or of ours. One that may not be (a full backlog) is
 * left out: what is told of must not fail for it. */
static bool create(struct store *store, struct job_spec *spec, json_t *payload,
                   struct error *error) {
    struct error reason = {0};
    spec->job.due = TIME_NONE;
    bool done = defined_create(store, spec, payload, store->tells.now, &reason);
    store->changed = true; /* an acquisition may have looked already */
    return done || error_refuses(&reason) || error_set(error, reason.code, "%s", reason.text);
}

/* ---- people ---- */

bool tell_incident(struct store *store, int64_t incident, time_ms now, struct error *error) {
    return !notify_incident(store->rules->notify) ||
           tell_note(store, &store->tells.incidents, json_integer(incident), now, error);
}

/* What has failed: the schedule whose run it was, or the handler. Its length is below `size`. */
static void cause_name(char *name, size_t size, struct row *row) {
    const char *schedule = row_text(row, 6);
    snprintf(name, size, "%s%s", schedule ? "schedule " : "",
             schedule ? schedule : row_text(row, 1));
}

/* The key by which one cause makes one job. A name that is too long is known by its hash. */
static void cause_key(char *key, size_t size, const char *type, const char *name) {
    if (snprintf(key, size, "incident %s %s", type, name) >= (int)size)
        snprintf(key, size, "incident %s #%lld", type, (long long)text_hash(name));
}

static json_t *incident_payload(struct row *row, const char *name, int64_t incident, time_ms at) {
    char when[TIME_TEXT_SIZE];
    time_format(at, when);
    const char *type = row_text(row, 0), *handler = row_text(row, 1);
    json_t *payload = json_pack("{ss so ss sI ss? ss? sI ss? ss? ss}", "kind", "incident", "cause",
                                json_sprintf("%s of %s", type, name), "type", type, "incident",
                                (json_int_t)incident, "handler", handler, "why", row_text(row, 2),
                                "count", (json_int_t)row_int(row, 4), "activity", row_text(row, 5),
                                "schedule", row_text(row, 6), "at", when);
    int64_t job = row_int(row, 3);
    json_object_set_new(payload, "job", job ? json_integer(job) : json_null());
    return payload;
}

static struct row *incident_row(struct store *store, int64_t incident, struct error *error) {
    return db_query(
        &store->db, error,
        "SELECT i.type, coalesce(d.name, ''), i.message, i.job,"
        " CASE WHEN i.schedule IS NOT NULL THEN i.count ELSE"
        " (SELECT count(*) FROM (SELECT type, definition, ended FROM incident"
        "   ORDER BY id DESC LIMIT ?2) o"
        "  WHERE o.type=i.type AND o.definition IS NOT DISTINCT FROM i.definition"
        "  AND o.ended IS NULL) END,"
        " i.activity, i.schedule FROM incident i LEFT JOIN definition d ON d.id=i.definition"
        " WHERE i.id=?1",
        "in", incident, (int64_t)INCIDENTS_SEEN);
}

/* What tells people may fail itself: nobody is told of that in the same way. */
static bool tell_people(struct store *store, int64_t incident, struct error *error) {
    char key[JOB_NAME_MAX + 1], name[JOB_NAME_MAX + 16];
    const char *told = notify_incident(store->rules->notify);
    struct row *row = incident_row(store, incident, error);
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step == NO;
    bool own = strcmp(row_text(row, 1), told) == 0;
    cause_name(name, sizeof name, row);
    cause_key(key, sizeof key, row_text(row, 0), name);
    json_t *payload = own ? NULL : incident_payload(row, name, incident, store->tells.now);
    row_done(row);
    struct job_spec spec = {.job = {.handler = told, .unique_key = key},
                            .unique_until = store->tells.now + store->rules->notify_every};
    bool done = own || create(store, &spec, payload, error);
    json_decref(payload);
    return done;
}

static bool flush_incidents(struct store *store, struct error *error) {
    json_t *list = store->tells.incidents;
    size_t i;
    const json_t *incident;
    bool done = true;
    store->tells.incidents = NULL;
    json_array_foreach(list, i, incident) {
        done = done && tell_people(store, json_integer_value(incident), error);
    }
    json_decref(list);
    return done;
}

/* ---- hooks ---- */

static bool wanted(const struct store *store, unsigned events, const char *handler) {
    return (store->catalog.hooks & events) && job_is_told(handler);
}

static void tell_put_text(json_t *object, const char *key, const char *text) {
    if (text)
        json_object_set_new(object, key, json_string(text));
}

/* The job as it was, for a hook that meets it when it is gone. */
static json_t *job_facts(struct store *store, const struct job *job) {
    struct job shown = *job;
    json_t *facts = json_pack("{sI ss}", "id", (json_int_t)job->id, "handler", job->handler);
    row_show(store, &shown);
    for (int i = 0; i < SPEC_NAMES; i++)
        if (i != SPEC_NAME_handler)
            tell_put_text(facts, spec_names[i]->key, job_field_text(&shown, spec_names[i]));
    tell_put_text(facts, "schedule", job->schedule);
    return facts;
}

/* Notes an event; a reference of `facts` is taken: what the hook sees beside the job. */
static bool tell_hooks(struct store *store, enum hook_event event, const struct job *job,
                       json_t *facts, time_ms now, struct error *error) {
    char at[TIME_TEXT_SIZE];
    time_format(now, at);
    json_t *told = facts ? facts : json_object();
    tell_put_text(told, "name", hook_event_name(event));
    tell_put_text(told, "at", at);
    json_object_set_new(told, "job", job_facts(store, job));
    return tell_note(store, &store->tells.events, told, now, error);
}

bool tell_created(struct store *store, const struct job *job, time_ms now, struct error *error) {
    return store->intake || !wanted(store, HOOK_CREATED, job->handler) ||
           tell_hooks(store, HOOK_CREATED, job, NULL, now, error);
}

static json_t *failure_facts(const struct outcome *outcome, int32_t retries) {
    json_t *facts = json_pack("{ss sb si}", "reason", failure_reason_name(outcome->reason),
                              "permanent", outcome->permanent, "retries", (int)retries);
    tell_put_text(facts, "message", outcome->message);
    tell_put_text(facts, "traceback", outcome->stack);
    return facts;
}

bool tell_failed(struct store *store, const struct outcome *outcome, int32_t retries, time_ms now,
                 struct error *error) {
    const struct job *job = outcome->job;
    return (!wanted(store, HOOK_FAILED, job->handler) ||
            tell_hooks(store, HOOK_FAILED, job, failure_facts(outcome, retries), now, error)) &&
           (retries > 0 || !wanted(store, HOOK_DEAD, job->handler) ||
            tell_hooks(store, HOOK_DEAD, job, failure_facts(outcome, retries), now, error));
}

/* YES: *job is that of the row, and hooks want to be told of one of the events. */
static enum answer row_wanted(struct store *store, const struct job_row *row, unsigned events,
                              struct job **job, struct error *error) {
    if (!(store->catalog.hooks & events))
        return NO;
    const struct catalog_stream *stream = catalog_stream(&store->catalog, row->stream);
    return stream && wanted(store, events, stream->definition->name)
               ? row_job(store, row->id, job, error)
               : NO;
}

bool tell_retries(struct store *store, const struct job_row *old, const struct job_row *row,
                  time_ms now, struct error *error) {
    struct job *job = NULL;
    bool dies = row->retries == 0 && old->retries > 0;
    enum answer found = row_wanted(store, row, HOOK_RETRIES | (dies ? HOOK_DEAD : 0), &job, error);
    if (found != YES)
        return found == NO;
    int left = row->retries, before = old->retries;
    bool done = (!wanted(store, HOOK_RETRIES, job->handler) ||
                 tell_hooks(store, HOOK_RETRIES, job,
                            json_pack("{si si}", "retries", left, "before", before), now, error)) &&
                (!dies || !wanted(store, HOOK_DEAD, job->handler) ||
                 tell_hooks(store, HOOK_DEAD, job, json_pack("{si}", "retries", left), now, error));
    job_free(job);
    return done;
}

bool tell_ended(struct store *store, const struct job *job, const char *how, time_ms now,
                struct error *error) {
    return !wanted(store, HOOK_ENDED, job->handler) ||
           tell_hooks(store, HOOK_ENDED, job, json_pack("{ss}", "outcome", how), now, error);
}

bool tell_placed(struct store *store, const struct job_row *row, time_ms now, struct error *error) {
    struct job *job = NULL;
    enum answer found = row_wanted(store, row, HOOK_CREATED, &job, error);
    if (found != YES)
        return found == NO;
    bool done = tell_hooks(store, HOOK_CREATED, job, NULL, now, error);
    job_free(job);
    return done;
}

bool tell_removed(struct store *store, const struct job_row *row, const char *how, time_ms now,
                  struct error *error) {
    struct job *job = NULL;
    enum answer found = row_wanted(store, row, HOOK_ENDED, &job, error);
    if (found != YES)
        return found == NO;
    bool done = tell_ended(store, job, how, now, error);
    job_free(job);
    return done;
}

static bool flush_part(struct store *store, const json_t *events, size_t from,
                       struct error *error) {
    json_t *part = json_array();
    for (size_t i = from; i < json_array_size(events) && i < from + EVENTS_MAX; i++)
        json_array_append(part, json_array_get(events, i));
    json_t *payload = json_pack("{so}", "events", part);
    struct job_spec spec = {.job.handler = HOOK_HANDLER};
    bool done = create(store, &spec, payload, error);
    json_decref(payload);
    return done;
}

static bool flush_events(struct store *store, struct error *error) {
    json_t *events = store->tells.events;
    bool done = true;
    store->tells.events = NULL;
    for (size_t at = 0; done && at < json_array_size(events); at += EVENTS_MAX)
        done = flush_part(store, events, at, error);
    json_decref(events);
    return done;
}

/* ---- the transaction ---- */

bool tell_write(struct store *store, struct error *error) {
    return (!store->tells.incidents || flush_incidents(store, error)) &&
           (!store->tells.events || flush_events(store, error));
}

/* What is noted so far. */
struct tell_point {
    size_t incidents, events;
};

static void tell_mark(struct store *store, void *point) {
    *(struct tell_point *)point = (struct tell_point){json_array_size(store->tells.incidents),
                                                      json_array_size(store->tells.events)};
}

static void cut(json_t *list, size_t size) {
    while (json_array_size(list) > size)
        json_array_remove(list, json_array_size(list) - 1);
}

static bool tell_back(struct store *store, const void *point, struct error *error) {
    const struct tell_point *before = point;
    (void)error;
    cut(store->tells.incidents, before->incidents);
    cut(store->tells.events, before->events);
    return true;
}

static void tell_clear(struct store *store) {
    json_decref(store->tells.incidents);
    json_decref(store->tells.events);
    store->tells.incidents = store->tells.events = NULL;
}

const struct txn_hook tell_hook = {.flush = tell_write,
                                   .drop = tell_clear,
                                   .size = sizeof(struct tell_point),
                                   .mark = tell_mark,
                                   .back = tell_back};
