#include "store/rules/schedule/schedule.h"
#include "base/crash_point.h"
#include "base/json.h"
#include "job/job_spec.h"
#include "store/rules/create/cycle.h"
#include "store/rules/job/job_commands.h"
#include "time/repeat.h"
#include <stdlib.h>
#include <string.h>

/* A schedule as a folder declares it. */
struct declared {
    const char *name, *source;
    json_t *spec;
    const json_t *priority, *retries; /* what the handler's functions said; NULL: it has none */
    char *text;                       /* the spec as the store keeps it */
    const struct definitions *definitions;
    int64_t deployment;
    time_ms now;
};

/* The same schedule as the store has it. */
struct stored {
    bool there, ours, same;
    json_t *spec;
    int64_t job; /* 0: the cycle is over */
    bool waits;  /* the job is there, and alive */
    bool paused;
};

/* The spec with the zone of the settings, where it names none: a change of that setting changes the
 * schedule. A new reference. */
static json_t *spec_zoned(json_t *spec, const char *zone) {
    if (strcmp(zone, "UTC") == 0 || json_object_get(spec, "zone"))
        return json_incref(spec);
    json_t *zoned = json_copy(spec);
    return json_kept(zoned, zoned && json_object_set_new(zoned, "zone", json_string(zone)) == 0);
}

static void declared_clear(struct declared *declared) {
    json_decref(declared->spec);
    free(declared->text);
}

static bool declared_read(struct store *store, struct declared *declared,
                          const struct store_deployment *deployment, size_t i,
                          struct error *error) {
    const json_t *row = json_array_get(deployment->schedules, i);
    *declared =
        (struct declared){.name = json_string_value(json_object_get(row, "name")),
                          .source = deployment->name,
                          .spec = spec_zoned(json_object_get(row, "spec"), store->rules->zone),
                          .priority = json_object_get(row, "priority"),
                          .retries = json_object_get(row, "retries"),
                          .definitions = deployment->definitions};
    if (declared->spec)
        declared->text = json_dumps(declared->spec, JSON_COMPACT | JSON_SORT_KEYS);
    return declared->text || error_no_memory(error);
}

static bool stored_read(struct store *store, const struct declared *declared, struct stored *stored,
                        struct error *error) {
    *stored = (struct stored){0};
    struct row *row = db_query(&store->db, error,
                               "SELECT s.source, s.spec, s.job, j.id, s.paused FROM schedule s"
                               " LEFT JOIN live j ON j.id=s.job AND j.retries>0 WHERE s.name=?1",
                               "t", declared->name);
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step == NO;
    const char *spec = row_text(row, 1);
    stored->there = true;
    stored->ours = strcmp(row_text(row, 0), declared->source) == 0;
    stored->same = strcmp(spec, declared->text) == 0;
    stored->spec = stored->same ? NULL : json_loads(spec, 0, NULL);
    stored->job = row_int(row, 2);
    stored->waits = !row_null(row, 3);
    stored->paused = row_int32(row, 4) != 0;
    if (!stored->ours)
        error_set(error, ERROR_CONFLICT,
                  "schedule \"%s\" belongs to the scripts \"%s\" (expected another name in \"%s\", "
                  "or the other folder loaded once without it)",
                  declared->name, row_text(row, 0), declared->source);
    row_done(row);
    return stored->ours;
}

static bool stored_good(const struct stored *stored) {
    return stored->there && stored->same && (stored->waits || !stored->job);
}

/* ---- is anything to be done? ---- */

/* The specs of a source by the names of their schedules; null: its job is gone. On a server a
 * question each would be a wait each. NULL: error. */
static json_t *specs_read(struct store *store, const char *source, struct error *error) {
    json_t *specs = json_object();
    struct row *row = db_query(&store->db, error,
                               "SELECT s.name, s.spec, s.job, j.id FROM schedule s LEFT JOIN live j"
                               " ON j.id=s.job AND j.retries>0 WHERE s.source=?1",
                               "t", source);
    enum answer step = row && (specs || db_no_memory(&store->db, error)) ? YES : FAILED;
    while (step == YES && (step = db_step(&store->db, row, error)) == YES) {
        bool good = !row_int(row, 2) || !row_null(row, 3);
        json_object_set_new(specs, row_text(row, 0),
                            good ? json_string(row_text(row, 1)) : json_null());
    }
    return json_kept(specs, step == NO);
}

static enum answer schedule_known(struct store *store, const struct store_deployment *deployment,
                                  size_t i, const json_t *specs, struct error *error) {
    struct declared declared;
    bool read = declared_read(store, &declared, deployment, i, error);
    const char *spec = read ? json_text(specs, declared.name) : NULL;
    enum answer known = spec && strcmp(spec, declared.text) == 0 ? YES : NO;
    declared_clear(&declared);
    return read ? known : FAILED;
}

enum answer schedules_known(struct store *store, const struct store_deployment *deployment,
                            struct error *error) {
    const size_t count = json_array_size(deployment->schedules);
    int64_t one = 0;
    if (!count) /* most folders have none: a server plans this question sooner */
        return answer_not(db_value(&store->db, error, &one,
                                   "SELECT 1 FROM schedule WHERE source=?1 LIMIT 1", "t",
                                   deployment->name));
    json_t *specs = specs_read(store, deployment->name, error);
    if (!specs)
        return FAILED;
    enum answer known = json_object_size(specs) == count ? YES : NO;
    for (size_t i = 0; known == YES && i < count; i++)
        known = schedule_known(store, deployment, i, specs, error);
    json_decref(specs);
    return known;
}

/* ---- the job that waits ---- */

/* Its date is where the cycle has it: it is due somewhat later. */
static bool schedule_delay(struct job_spec *spec, struct error *error) {
    struct job *job = &spec->job;
    struct repeat repeat = {job->repeat, spec->zone, spec->origin, spec->starts};
    struct cycle cycle;
    if (!spec->policy.jitter || job->due == TIME_NEVER)
        return true;
    if (!repeat_open(&repeat, &cycle, error))
        return false;
    spec->delay = schedule_policy_delay(&spec->policy, job->schedule, &cycle, job->due);
    job->due += spec->delay;
    return true;
}

/* What the folder declares as a job; a cycle without a date left gives due = TIME_NEVER. */
static bool schedule_spec(struct store *store, const struct declared *declared,
                          struct job_spec *spec, struct error *error) {
    struct spec_rules rules = spec_rules(store->rules);
    rules.schedule = true;
    struct error reason = {0};
    if (!job_spec_read(spec, declared->spec, &rules, declared->now, &reason) &&
        reason.code != ERROR_CONFLICT)
        return error_set(error, reason.code, "schedule \"%s\": %s", declared->name, reason.text);
    const struct definition *definition =
        definitions_find(declared->definitions, spec->job.handler);
    job_spec_define(spec, definition, &rules);
    if (spec->needs_priority && json_is_integer(declared->priority))
        spec->job.priority = json_integer_value(declared->priority);
    if (spec->needs_retries && json_integer_value(declared->retries) > 0)
        spec->job.retries = (int32_t)json_integer_value(declared->retries);
    spec->job.schedule = declared->name;
    return schedule_delay(spec, error);
}

/* Its first job, if it has a date left. */
static bool schedule_start(struct store *store, const struct declared *declared, int32_t suspended,
                           struct error *error) {
    struct job_spec spec = {0};
    bool done = schedule_spec(store, declared, &spec, error);
    bool over = spec.job.due == TIME_NEVER;
    spec.job.suspended = suspended;
    if (done && !over)
        done = store_create(store, &spec, declared->deployment, declared->now, error);
    CRASH_POINT("schedule_started");
    if (done)
        done = db_run(&store->db, error,
                      "INSERT INTO schedule(name, source, spec, job) VALUES(?1, ?2, ?3, ?4)"
                      " ON CONFLICT(name) DO UPDATE SET spec=?3, job=?4",
                      "tttz", declared->name, declared->source, declared->text, spec.reply.id);
    job_spec_clear(&spec);
    return done;
}

/* The job that waits goes, if it is there; what suspended the job itself is added to *suspended. A
 * dead one stays, without a next. */
static bool schedule_stop(struct store *store, int64_t id, int32_t *suspended, time_ms now,
                          struct error *error) {
    struct job_row row;
    enum answer found = id ? row_load(store, id, &row, error) : NO;
    if (found != YES)
        return found == NO;
    *suspended |= row.suspended & (SUSPENDED_JOB | SUSPENDED_SCHEDULE);
    if (row.retries == 0)
        return cycle_end(store, id, error);
    return commands_delete(store, (struct ids){&id, 1}, now, error);
}

static bool schedule_replace(struct store *store, const struct declared *declared,
                             const struct stored *stored, struct error *error) {
    int32_t suspended = stored->paused ? SUSPENDED_SCHEDULE : 0;
    return schedule_stop(store, stored->job, &suspended, declared->now, error) &&
           CRASH_POINT("schedule_stopped") && schedule_start(store, declared, suspended, error);
}

/* ---- changes that the job takes over ---- */

static bool same_but_for_load(const json_t *old, const json_t *now) {
    static const char *const load[] = {"payload", "priority", "retries", "overlap", "catch_up"};
    json_t *left = json_copy(json_unchanged(old));
    json_t *right = json_copy(json_unchanged(now));
    for (size_t i = 0; i < sizeof load / sizeof *load; i++) {
        json_object_del(left, load[i]);
        json_object_del(right, load[i]);
    }
    bool same = left && right && json_equal(left, right);
    json_decref(left);
    json_decref(right);
    return same;
}

static bool same_key(const json_t *old, const json_t *now, const char *key) {
    const json_t *left = json_object_get(old, key), *right = json_object_get(now, key);
    return left == right || (left && right && json_equal(left, right));
}

/* The priority as creation would have decided it; an operator's own stays unless the file's word
 * changed. */
static bool load_priority(struct store *store, const struct job_spec *spec, struct ids ids,
                          time_ms now, struct error *error) {
    const struct catalog_definition *definition =
        catalog_definition(&store->catalog, spec->job.handler);
    bool overridden = definition && definition->overridden && !spec->priority_given;
    return commands_set_priority(
        store, ids, overridden ? definition->override_priority : spec->job.priority, now, error);
}

static bool load_write(struct store *store, const struct declared *declared,
                       const struct stored *stored, const struct job_spec *spec,
                       struct error *error) {
    const struct job *job = &spec->job;
    struct ids ids = {&stored->job, 1};
    bool done = db_run(&store->db, error, "UPDATE schedule SET spec=?2 WHERE name=?1", "tt",
                       declared->name, declared->text) &&
                row_set_payload(store, job, stored->job, error);
    if (done && (spec->needs_priority || !same_key(stored->spec, declared->spec, "priority")))
        done = load_priority(store, spec, ids, declared->now, error);
    if (done && !same_key(stored->spec, declared->spec, "retries"))
        done = row_set_retries(store, stored->job, job->retries, error) &&
               db_run(&store->db, error, "UPDATE cycle SET retries=?2 WHERE job=?1", "in",
                      stored->job, (int)job->retries);
    return done;
}

static bool schedule_load(struct store *store, const struct declared *declared,
                          const struct stored *stored, struct error *error) {
    struct job_spec spec = {0};
    bool done = schedule_spec(store, declared, &spec, error) &&
                load_write(store, declared, stored, &spec, error);
    job_spec_clear(&spec);
    return done;
}

/* ---- the whole folder ---- */

static bool schedule_write(struct store *store, const struct declared *declared,
                           struct error *error) {
    struct stored stored;
    bool done = stored_read(store, declared, &stored, error);
    if (done && !stored_good(&stored)) {
        bool takes_over =
            stored.waits && stored.spec && same_but_for_load(stored.spec, declared->spec);
        done = takes_over ? schedule_load(store, declared, &stored, error)
                          : schedule_replace(store, declared, &stored, error);
    }
    json_decref(stored.spec);
    return done;
}

static bool is_declared(const json_t *schedules, const char *name) {
    for (size_t i = 0; i < json_array_size(schedules); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(schedules, i), "name")),
                   name) == 0)
            return true;
    return false;
}

/* A name in memory of its own, as its row goes. */
static char *schedule_undeclared(struct store *store, const struct store_deployment *deployment,
                                 int64_t *job, struct error *error, bool *done) {
    char *name = NULL;
    struct row *rows =
        db_query(&store->db, error, "SELECT name, coalesce(job, 0) FROM schedule WHERE source=?1",
                 "t", deployment->name);
    enum answer step = rows ? YES : FAILED;
    while (!name && step == YES && (step = db_step(&store->db, rows, error)) == YES)
        if (!is_declared(deployment->schedules, row_text(rows, 0))) {
            name = strdup(row_text(rows, 0));
            *job = row_int(rows, 1);
            row_done(rows);
        }
    *done = step != FAILED;
    return name;
}

static bool schedules_prune(struct store *store, const struct store_deployment *deployment,
                            time_ms now, struct error *error) {
    bool done = true;
    int32_t suspended = 0;
    int64_t job = 0;
    char *name;
    while (done && (name = schedule_undeclared(store, deployment, &job, error, &done))) {
        done = schedule_stop(store, job, &suspended, now, error) &&
               db_run(&store->db, error, "DELETE FROM occurrence WHERE schedule=?1", "t", name) &&
               db_run(&store->db, error, "DELETE FROM schedule WHERE name=?1", "t", name);
        free(name);
    }
    return done;
}

bool schedules_write(struct store *store, const struct store_deployment *deployment, int64_t id,
                     time_ms now, struct error *error) {
    bool done = schedules_prune(store, deployment, now, error);
    for (size_t i = 0; done && i < json_array_size(deployment->schedules); i++) {
        struct declared declared;
        done = declared_read(store, &declared, deployment, i, error);
        declared.deployment = id;
        declared.now = now;
        done = done && schedule_write(store, &declared, error);
        declared_clear(&declared);
    }
    return done;
}
