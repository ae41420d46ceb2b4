/* http.c - what the network face reaches, beside the drain of the same run. */
#include "base/clamp.h"
#include "base/json.h"
#include "base/text.h"
#include "bench/client_group.h"
#include "bench/http_face.h"
#include "bench/phases.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONNECTIONS = 64,
    WORKERS = 16,
    TOGETHER = 10,     /* jobs that a worker fetches at once */
    TIME_MAX = 5000000 /* microseconds in which jobs are created */
};

/* Many clients of one face. */
struct visit {
    const struct rig *rig;
    struct http_face *face;
    char *body; /* that creates a job */
    size_t size;
    int64_t syncs; /* out: of the face */
};

/* ---- jobs created one by one ---- */

static bool create_one(struct http_client *client, const struct visit *visit, struct error *error) {
    return http_client_post(client, "/v1/jobs", visit->body, visit->size, error) != NULL;
}

/* The first one is created before the time counts. */
static bool create_many(struct client_group *group, int index, void *arg, struct error *error) {
    const struct visit *visit = arg;
    struct http_client client;
    bool fine = http_client_open(&client, visit->face, error) && create_one(&client, visit, error);
    client_group_ready(group);
    while (fine && group->clients[index].done < group->share && client_group_goes_on(group)) {
        fine = create_one(&client, visit, error);
        group->clients[index].done += fine;
    }
    group->clients[index].ended = clock_monotonic_us();
    http_client_close(&client);
    return fine;
}

/* ---- jobs that are fetched and settled ---- */

/* A number behind the words; *at becomes what is behind it. False: they are not there. */
static bool number_behind(const char **at, const char *words, long long *number) {
    const char *found = strstr(*at, words);
    if (!found)
        return false;
    char *end;
    *number = strtoll(found + strlen(words), &end, 10);
    *at = end;
    return true;
}

/* Adds what settles the jobs of an answer; NULL: there is none yet. Returns how many there are.
 * Only their numbers are read: the clients share the processors with the face. */
static int add_outcomes(struct text *out, const char *said) {
    const char *at = said ? strstr(said, "\"jobs\":[") : NULL;
    long long id, token;
    int count = 0;
    while (at && number_behind(&at, "{\"id\":", &id) && number_behind(&at, "\"token\":", &token)) {
        const char *comma = count++ ? "," : "";
        text_add(out, "%s{\"id\":%lld,\"token\":%lld,\"outcome\":\"complete\"}", comma, id, token);
    }
    return count;
}

/* So many outcomes are in the answer, and have not been refused. */
static int64_t count_settled(const char *said, int64_t count) {
    const char *end = strstr(said, "\"jobs\":[");
    for (const char *at = strstr(said, "\"code\":"); at && at < end;
         at = strstr(at + 1, "\"code\":"))
        count--;
    return count;
}

/* Settles what the answer before has given, and fetches the next jobs. *said: that answer, and then
 * this one; NULL: there is none. */
static bool settle_and_fetch(struct http_client *client, struct client *counted, const char *worker,
                             const char **said, struct error *error) {
    struct text text = {0};
    text_add(&text, "{\"worker\":\"%s\",\"outcomes\":[", worker);
    const int jobs = add_outcomes(&text, *said);
    text_add(&text, "],\"fetch\":{\"worker\":\"%s\",\"topics\":[\"bench\"],\"max\":%d}}", worker,
             TOGETHER);
    bool fine = !text.failed || error_no_memory(error);
    *said = fine ? http_client_post(client, "/v1/settle", text.data, text.size, error) : NULL;
    counted->done += *said ? count_settled(*said, jobs) : 0;
    text_clear(&text);
    return *said != NULL;
}

/* Until nothing is left. */
static bool work_off(struct client_group *group, int index, void *arg, struct error *error) {
    const struct visit *visit = arg;
    struct http_client client;
    struct client *counted = &group->clients[index];
    char worker[32];
    const char *said = NULL;
    snprintf(worker, sizeof worker, "worker-%d", index);
    bool fine = http_client_open(&client, visit->face, error);
    client_group_ready(group);
    do
        fine = fine && settle_and_fetch(&client, counted, worker, &said, error);
    while (fine && strstr(said, "\"jobs\":[{") && place_goes_on(error));
    counted->ended = clock_monotonic_us();
    http_client_close(&client);
    return fine;
}

/* ---- both ---- */

/* The face runs in a process of its own meanwhile, the clients in another one. */
static bool visit_face(struct visit *visit, struct client_group *group, client_group_work *work,
                       struct error *error) {
    struct error why = {0};
    visit->face = http_face_begin(visit->rig, error);
    if (!visit->face)
        return false;
    bool fine = client_group_thread(group, work, visit, error);
    bool ended = http_face_end(visit->face, &visit->syncs, fine ? error : &why);
    return fine && ended;
}

static double of_report(const struct bench *bench, const char *key) {
    return json_number_value(json_object_get(bench->report, key));
}

/* The rate, and its ratio to that of another figure of the same run. */
static bool put_rate(struct bench *bench, const char *name, const char *beside,
                     const struct client_group *group) {
    char key[64];
    const double rate =
        meter_rate(client_group_done(group), client_group_ended(group) - group->began);
    const double other = of_report(bench, beside);
    snprintf(key, sizeof key, "%s_per_second", name);
    bool fine = meter_put(bench->report, key, rate);
    snprintf(key, sizeof key, "%s_ratio", name);
    return fine && meter_put(bench->report, key, other > 0 ? rate / other : 0);
}

static bool put_created(struct bench *bench, const struct visit *visit,
                        const struct client_group *group) {
    const int64_t done = client_group_done(group);
    return put_rate(bench, "http_create", "enqueue_processes_per_second", group) &&
           (bench->options->store ||
            meter_put(bench->report, "http_jobs_per_sync",
                      (double)done / (double)(visit->syncs ? visit->syncs : 1)));
}

/* Each job that was created is run, once. */
static bool creation(struct rig *rig, struct client_group *group, struct error *error) {
    struct visit visit = {.rig = rig};
    struct meter unused;
    json_t *spec = rig_spec(rig, "noop", rig->payload, 0);
    visit.body = spec ? json_write(spec, &visit.size) : NULL;
    bool fine = visit.body || error_no_memory(error);
    rig_tell(rig, "creating over HTTP", 0, 0);
    rig_release(rig);
    fine = fine && visit_face(&visit, group, create_many, error);
    fine = fine && rig_drain(rig, "creating over HTTP", rig->bench->options->workers,
                             client_group_done(group) + CONNECTIONS, &unused, error);
    free(visit.body);
    json_decref(spec);
    return fine && (put_created(rig->bench, &visit, group) || error_no_memory(error));
}

static bool external(struct rig *rig, struct client_group *group, struct error *error) {
    struct visit visit = {.rig = rig};
    const int64_t jobs = rig->bench->options->jobs;
    bool fine = rig_feed(rig, "topic/bench", rig->payload, jobs, error);
    rig_tell(rig, "working over HTTP", 0, 0);
    rig_release(rig);
    fine = fine && visit_face(&visit, group, work_off, error);
    if (fine && client_group_done(group) != jobs)
        return error_set(error, ERROR_FAILED, "working over HTTP: %lld jobs of %lld were settled",
                         (long long)client_group_done(group), (long long)jobs);
    return fine &&
           (put_rate(rig->bench, "external", "drain_per_second", group) || error_no_memory(error));
}

static bool measure(struct bench *bench, int clients, int64_t share,
                    bool (*run)(struct rig *rig, struct client_group *group, struct error *error),
                    struct error *error) {
    struct rig rig;
    struct client_group *group = client_group_new(clients, error);
    bool fine = group && rig_open(&rig, bench, share * clients + clients, error);
    if (fine) {
        group->share = share;
        group->span = TIME_MAX;
        fine = run(&rig, group, error);
    }
    if (group)
        rig_close(&rig);
    client_group_free(group);
    return fine;
}

bool phase_http(struct bench *bench, struct error *error) {
    const int64_t jobs = bench->options->jobs;
    const int64_t share = clamp(jobs / 4, CONNECTIONS, 100000) / CONNECTIONS;
    if (!phase_clients(bench, error) || !phase_drain(bench, error))
        return false;
    return measure(bench, CONNECTIONS, share, creation, error) &&
           measure(bench, WORKERS, jobs / WORKERS, external, error);
}
