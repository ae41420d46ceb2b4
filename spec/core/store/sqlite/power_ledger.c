#include "power_ledger.h"
#include "base/json.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ledger_copy(struct ledger *to, const struct ledger *from) {
    int64_t last = from->last > to->last ? from->last : to->last;
    to->last = from->last;
    memcpy(to->keys, from->keys, sizeof to->keys);
    memcpy(to->jobs, from->jobs, (size_t)(last + 1) * sizeof *to->jobs);
}

struct told_job *ledger_job(struct ledger *ledger, int64_t id) {
    if (id <= 0 || id >= LEDGER_JOBS)
        return NULL;
    if (id > ledger->last)
        ledger->last = id;
    return &ledger->jobs[id];
}

void ledger_unkey(struct ledger *ledger, int64_t id) {
    for (int i = 0; i < LEDGER_KEYS; i++)
        if (ledger->keys[i] == id)
            ledger->keys[i] = 0;
}

static int64_t number(const json_t *object, const char *name) {
    return json_integer_value(json_object_get(object, name));
}

bool ledger_discover(struct ledger *ledger, int64_t after, struct store *store, time_ms now,
                     struct error *error) {
    const struct store_page page = {.after = after, .limit = 1000};
    json_t *jobs = store_jobs(store, NULL, &page, now, error), *job;
    size_t i;
    json_array_foreach(jobs, i, job) {
        struct told_job *told = ledger_job(ledger, number(job, "id"));
        if (told && told->told == TOLD_NOTHING)
            *told = (struct told_job){.told = TOLD_ALIVE,
                                      .suspended = json_is_true(json_object_get(job, "suspended")),
                                      .ours = true,
                                      .key = -1,
                                      .retries = (int)number(job, "retries"),
                                      .priority = number(job, "priority")};
    }
    json_decref(jobs);
    return jobs != NULL;
}

static bool differs(char *text, size_t size, int64_t id, const char *what, int64_t told,
                    int64_t found) {
    snprintf(text, size, "job %lld: %s %lld was told, %lld is there", (long long)id, what,
             (long long)told, (long long)found);
    return false;
}

static bool agrees_job(const struct told_job *told, const json_t *job, char *text, size_t size) {
    int64_t id = number(job, "id"), retries = number(job, "retries");
    bool suspended = json_is_true(json_object_get(job, "suspended"));
    if (told->told != TOLD_ALIVE)
        return differs(text, size, id, "state", told->told, TOLD_ALIVE);
    if (told->retries != retries)
        return differs(text, size, id, "retries", told->retries, retries);
    if (told->priority != number(job, "priority"))
        return differs(text, size, id, "priority", told->priority, number(job, "priority"));
    return told->suspended == suspended ||
           differs(text, size, id, "suspended", told->suspended, suspended);
}

static bool agrees_jobs(struct ledger *ledger, const json_t *jobs, char *text, size_t size) {
    static bool seen[LEDGER_JOBS];
    const json_t *job;
    size_t i;
    memset(seen, 0, sizeof seen);
    json_array_foreach(jobs, i, job) {
        int64_t id = number(job, "id");
        if (id > ledger->last)
            return differs(text, size, id, "nothing", 0, id);
        seen[id] = true;
        if (!agrees_job(&ledger->jobs[id], job, text, size))
            return false;
    }
    for (int64_t id = 1; id <= ledger->last; id++)
        if (ledger->jobs[id].told == TOLD_ALIVE && !seen[id])
            return differs(text, size, id, "alive", 1, 0);
    return true;
}

/* Every end and every failed attempt that was told is in the log, and no other. */
static bool agrees_log(struct ledger *ledger, const json_t *log, char *text, size_t size) {
    static int ends[LEDGER_JOBS][2]; /* done or removed, failed */
    const json_t *entry;
    size_t i;
    memset(ends, 0, sizeof ends);
    json_array_foreach(log, i, entry) {
        int64_t id = number(entry, "job");
        const char *outcome = json_string_value(json_object_get(entry, "outcome"));
        if (id <= 0 || id > ledger->last || !outcome)
            return differs(text, size, id, "log of", 0, id);
        if (strcmp(outcome, "failed") == 0)
            ends[id][1]++;
        else
            ends[id][0] += strcmp(outcome, "successful") == 0 ? TOLD_DONE : TOLD_REMOVED;
    }
    for (int64_t id = 1; id <= ledger->last; id++) {
        const struct told_job *told = &ledger->jobs[id];
        int end = told->told == TOLD_ALIVE ? 0 : told->told;
        if (end != ends[id][0])
            return differs(text, size, id, "end", end, ends[id][0]);
        if (told->failures != ends[id][1])
            return differs(text, size, id, "failures", told->failures, ends[id][1]);
    }
    return true;
}

/* Who holds each key, as one more job with it would find; nothing is written. */
static bool agrees_keys(struct ledger *ledger, struct store *store, time_ms now, char *text,
                        size_t size, struct error *error) {
    bool agrees = store_begin(store, STORE_COMMAND, error);
    for (int i = 0; agrees && i < LEDGER_KEYS; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        struct job_spec spec = {
            .job = {.handler = "keyed", .due = TIME_NONE, .retries = 3, .unique_key = key}};
        agrees = store_create(store, &spec, 0, now, error);
        int64_t holder = spec.reply.creation == CREATION_CREATED ? 0 : spec.reply.id;
        if (agrees && holder != ledger->keys[i])
            agrees = differs(text, size, holder, "key of", ledger->keys[i], holder);
    }
    store_rollback(store);
    return agrees;
}

/* A job that is dead has one open incident, any other has none. */
static bool agrees_incidents(struct ledger *ledger, const json_t *incidents, char *text,
                             size_t size) {
    static int open[LEDGER_JOBS];
    const json_t *incident;
    size_t i;
    memset(open, 0, sizeof open);
    json_array_foreach(incidents, i, incident) {
        int64_t id = number(incident, "job");
        if (id > 0 && id <= ledger->last && json_is_true(json_object_get(incident, "open")))
            open[id]++;
    }
    for (int64_t id = 1; id <= ledger->last; id++) {
        int dead = ledger->jobs[id].told == TOLD_ALIVE && ledger->jobs[id].retries == 0;
        if (open[id] != dead)
            return differs(text, size, id, "open incidents", dead, open[id]);
    }
    return true;
}

bool ledger_agrees(struct ledger *ledger, struct store *store, time_ms now, char *text, size_t size,
                   struct error *error) {
    snprintf(text, size, "the store does not answer");
    json_t *jobs = store_jobs(store, NULL, NULL, now, error);
    json_t *ends =
        json_pack("{s[ssss]}", "outcome", "successful", "failed", "deleted", "cancelled");
    json_t *log = store_log(store, ends, NULL, error);
    json_decref(ends);
    json_t *incidents = query_list(store, &incident_table, NULL, NULL, error);
    bool agrees = jobs && log && incidents && agrees_jobs(ledger, jobs, text, size) &&
                  agrees_log(ledger, log, text, size) &&
                  agrees_incidents(ledger, incidents, text, size);
    json_decref(jobs);
    json_decref(log);
    json_decref(incidents);
    return agrees && agrees_keys(ledger, store, now, text, size, error);
}
