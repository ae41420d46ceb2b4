/* notes_contract.c - what running jobs ask of the store, written by the turn. */
#include "../store/contract.h"
#include "run/notes.h"
#include "run/thread.h"

struct site {
    struct notes *notes;
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
    if (!store_begin(c->store, &c->error))
        return false;
    bool ok = notes_write(site->notes, c->store, NOW, &c->error);
    if (ok && commit)
        ok = store_commit(c->store, &c->error);
    else
        store_rollback(c->store);
    notes_done(site->notes, ok && commit);
    return ok;
}

static void *draw(void *arg) {
    struct site *site = arg;
    site->id = notes_next_id(site->notes, &site->error);
    return NULL;
}

static void *extend(void *arg) {
    struct site *site = arg;
    site->extended =
        notes_extend(site->notes, site->job, site->token, NOW + 2 * LEASE, &site->error);
    return NULL;
}

static void start(struct site *site, void *(*run)(void *)) {
    thread_start(&site->thread, run, site);
    while (site->wakes == 0)
        ;
}

#define OPEN                                                                                       \
    struct site site = {.notes = notes_new(wake, &site)};                                          \
    EXPECT(site.notes)

static void ids_come_with_a_turn(struct contract *c) {
    OPEN;
    start(&site, draw);
    EXPECT(notes_due(site.notes) == 0 && write_notes(c, &site, true));
    thread_join(&site.thread);
    EXPECT(site.id > 0 && notes_next_id(site.notes, &c->error) == site.id + 1);
    notes_free(site.notes);
}

static void old_ids_are_given_up(struct contract *c) {
    OPEN;
    start(&site, draw);
    EXPECT(write_notes(c, &site, true));
    thread_join(&site.thread);
    int64_t first = site.id;
    notes_tick(site.notes);
    EXPECT(notes_next_id(site.notes, &c->error) == first + 1);
    notes_tick(site.notes);
    site.wakes = 0;
    start(&site, draw);
    EXPECT(write_notes(c, &site, true));
    thread_join(&site.thread);
    EXPECT(site.id > first + 100);
    notes_free(site.notes);
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
    EXPECT(notes_due(site.notes) == 0 && write_notes(c, &site, true));
    thread_join(&site.thread);
    EXPECT(site.extended);
    FIELD(site.job, "lock_expiration", NOW, "2026-01-01T00:10:00.000Z");
    notes_free(site.notes);
}

static void an_extension_of_a_lost_lock_is_refused(struct contract *c) {
    OPEN;
    site.job = 12;
    site.token = 34;
    start(&site, extend);
    EXPECT(write_notes(c, &site, true));
    thread_join(&site.thread);
    EXPECT(!site.extended && site.error.code == ERROR_CONFLICT);
    notes_free(site.notes);
}

static void the_last_progress_is_what_is_written(struct contract *c) {
    OPEN;
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    EXPECT(notes_progress(site.notes, id, 0.25, "one", &c->error));
    EXPECT(notes_progress(site.notes, id, 0.5, "two", &c->error));
    EXPECT(site.wakes == 1 && notes_due(site.notes) > clock_monotonic());
    EXPECT(write_notes(c, &site, true) && notes_due(site.notes) == TIME_NEVER);
    json_t *job = store_job(c->store, id, NOW, &c->error);
    json_t *progress = json_object_get(job, "progress");
    bool right = json_real_value(json_object_get(progress, "fraction")) == 0.5 &&
                 strcmp(json_string_value(json_object_get(progress, "text")), "two") == 0;
    json_decref(job);
    EXPECT(right);
    notes_free(site.notes);
}

static void whoever_waits_at_the_end_is_refused(struct contract *c) {
    OPEN;
    start(&site, draw);
    notes_close(site.notes);
    thread_join(&site.thread);
    EXPECT(site.id == 0 && strcmp(site.error.text, "the executor is stopping") == 0);
    EXPECT(!notes_progress(site.notes, 1, 0, NULL, &c->error));
    EXPECT_ERROR("the executor is stopping");
    notes_free(site.notes);
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
