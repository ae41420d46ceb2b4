/* job_requests_contract.c - what running jobs ask of the store, written by the turn. */
#include "../store/contract.h"
#include "base/thread.h"
#include "engine/job_requests.h"

struct site {
    struct job_requests *requests;
    _Atomic int wakes;
    struct thread thread; /* a worker */
    int64_t job, token, id;
    bool extended;
    struct error error;
};

static void wake(void *arg) {
    struct site *site = arg;
    site->wakes++;
}

/* What the turn does with them. */
static bool write_notes(struct contract *c, struct site *site, bool commit) {
    if (!store_begin(c->store, STORE_COMMAND, &c->error))
        return false;
    bool ok = job_requests_write(site->requests, c->store, NOW, &c->error);
    if (ok && commit)
        ok = store_commit(c->store, &c->error);
    else
        store_rollback(c->store);
    job_requests_done(site->requests, ok && commit);
    return ok;
}

static void *draw(void *arg) {
    struct site *site = arg;
    site->id = job_requests_next_id(site->requests, &site->error);
    return NULL;
}

static void *extend(void *arg) {
    struct site *site = arg;
    site->extended =
        job_requests_extend(site->requests, site->job, site->token, NOW + 2 * LEASE, &site->error);
    return NULL;
}

static void start(struct site *site, void *(*run)(void *)) {
    thread_start(&site->thread, run, site);
    while (site->wakes == 0)
        ;
}

#define OPEN                                                                                       \
    struct site site = {.requests = job_requests_new(wake, &site)};                                \
    EXPECT(site.requests)

static void ids_come_with_a_turn(struct contract *c) {
    OPEN;
    start(&site, draw);
    EXPECT(job_requests_due(site.requests) == 0 && write_notes(c, &site, true));
    thread_join(&site.thread);
    EXPECT(site.id > 0 && job_requests_next_id(site.requests, &c->error) == site.id + 1);
    job_requests_free(site.requests);
}

static void old_ids_are_given_up(struct contract *c) {
    OPEN;
    start(&site, draw);
    EXPECT(write_notes(c, &site, true));
    thread_join(&site.thread);
    int64_t first = site.id;
    job_requests_tick(site.requests);
    EXPECT(job_requests_next_id(site.requests, &c->error) == first + 1);
    job_requests_tick(site.requests);
    site.wakes = 0;
    start(&site, draw);
    EXPECT(write_notes(c, &site, true));
    thread_join(&site.thread);
    EXPECT(site.id > first + 100);
    job_requests_free(site.requests);
}

static void an_extension_returns_when_it_is_committed(struct contract *c) {
    OPEN;
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    struct job *job = acquire_one(c, c->store, NOW);
    site.job = job->id;
    site.token = job->token;
    job_free(job);
    start(&site, extend);
    EXPECT(write_notes(c, &site, false)); /* rolled back: it waits on */
    EXPECT(job_requests_due(site.requests) == 0 && write_notes(c, &site, true));
    thread_join(&site.thread);
    EXPECT(site.extended);
    FIELD(site.job, "lock_expiration", NOW, "2026-01-01T00:10:00.000Z");
    job_requests_free(site.requests);
}

static void an_extension_of_a_lost_lock_is_refused(struct contract *c) {
    OPEN;
    site.job = 12;
    site.token = 34;
    start(&site, extend);
    EXPECT(write_notes(c, &site, true));
    thread_join(&site.thread);
    EXPECT(!site.extended && site.error.code == ERROR_CONFLICT);
    job_requests_free(site.requests);
}

static void the_last_progress_is_what_is_written(struct contract *c) {
    OPEN;
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    time_ms from = clock_monotonic();
    EXPECT(job_requests_progress(site.requests, id, 0.25, "one", &c->error));
    EXPECT(job_requests_progress(site.requests, id, 0.5, "two", &c->error));
    EXPECT(site.wakes == 1 && job_requests_due(site.requests) > from);
    EXPECT(write_notes(c, &site, true) && job_requests_due(site.requests) == TIME_NEVER);
    json_t *job = store_job(c->store, id, NOW, &c->error);
    json_t *progress = json_object_get(job, "progress");
    bool right = json_real_value(json_object_get(progress, "fraction")) == 0.5 &&
                 strcmp(json_string_value(json_object_get(progress, "text")), "two") == 0;
    json_decref(job);
    EXPECT(right);
    job_requests_free(site.requests);
}

static void whoever_waits_at_the_end_is_refused(struct contract *c) {
    OPEN;
    start(&site, draw);
    job_requests_close(site.requests);
    thread_join(&site.thread);
    EXPECT(site.id == 0 && strcmp(site.error.text, "the executor is stopping") == 0);
    EXPECT(!job_requests_progress(site.requests, 1, 0, NULL, &c->error));
    EXPECT_ERROR("the executor is stopping");
    job_requests_free(site.requests);
}

static const struct check checks[] = {
    {"ids come with a turn", ids_come_with_a_turn},
    {"old ids are given up", old_ids_are_given_up},
    {"an extension returns when it is committed", an_extension_returns_when_it_is_committed},
    {"an extension of a lost lock is refused", an_extension_of_a_lost_lock_is_refused},
    {"the last progress is what is written", the_last_progress_is_what_is_written},
    {"whoever waits at the end is refused", whoever_waits_at_the_end_is_refused},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
