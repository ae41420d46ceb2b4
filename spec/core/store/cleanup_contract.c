/* cleanup_contract.c - removing history: how much at once, in what command, and what stays right.
 */
#include "contract.h"
#include "job/cleanup.h"
#include "store/rules/ground/kinds.h"

#define DAY INT64_C(86400000)

/* Creates, takes and ends up to a thousand jobs. */
static bool end_some(struct contract *c, int count, time_ms at) {
    bool fine = true, more = false;
    struct job *list = NULL;
    int taken = 0;
    for (int i = 0; fine && i < count; i++)
        fine = create(c, c->store, (struct job){.retries = 3}, at);
    fine = fine && store_acquire(c->store, &everything, at, &list, &taken, &more, &c->error);
    fine = fine && taken == count;
    while (fine && list) {
        struct job *job = list;
        list = job->next;
        job->next = NULL;
        fine = settle(c, c->store, job, (struct outcome){0}, at) == SETTLED;
    }
    job_free_list(list);
    return fine;
}

/* Ends `count` jobs at `at`. */
static bool end_many(struct contract *c, int count, time_ms at) {
    bool fine = store_begin(c->store, STORE_COMMAND, &c->error);
    for (int left = count; fine && left > 0; left -= 1000)
        fine = end_some(c, left < 1000 ? left : 1000, at);
    return fine && store_commit(c->store, &c->error);
}

static int64_t number(struct contract *c, const char *sql) {
    return contract_number(c, sql);
}

static bool change(struct contract *c, const char *sql) {
    return db_execute(&c->store->db, sql, &c->error);
}

/* One run of part `part` of `parts`; how many went, -1: error. */
static int64_t clean(struct contract *c, int batch, int part, int parts, time_ms now) {
    struct command_run run = {0};
    json_t *command =
        json_pack("{ss s{sb si si si s{sI sI sI}}}", "verb", "clean_history", "plan", "on_demand",
                  1, "batch_size", batch, "part", part, "parts", parts, "ttl", "jobs",
                  (json_int_t)DAY, "operations", (json_int_t)DAY, "incidents", (json_int_t)DAY);
    bool done = store_command(c->store, command, &run, now, &c->error);
    json_decref(command);
    return done ? (int64_t)run.touched : -1;
}

static bool file_all(struct contract *c) {
    bool more = true;
    return store_file_ended(c->store, 100000, &more, &c->error) && !more;
}

#define ENDED "SELECT count(*) FROM ended"

static void one_batch(struct contract *c) {
    EXPECT(end_many(c, 25, NOW) && end_many(c, 5, NOW + DAY));
    EXPECT(clean(c, 10, 0, 1, NOW + DAY - 1) == 0);
    EXPECT(clean(c, 10, 0, 1, NOW + DAY) == 10 && number(c, ENDED) == 20);
    EXPECT(clean(c, 10, 0, 1, NOW + DAY) == 10);
    EXPECT(clean(c, 10, 0, 1, NOW + DAY) == 5 && number(c, ENDED) == 5);
    EXPECT(clean(c, 10, 0, 1, NOW + DAY) == 0);
    EXPECT(number(c, "SELECT min(job) FROM ended") == 26);
}

static void filed_stays_right(struct contract *c) {
    json_t *answer;
    EXPECT(end_many(c, 30, NOW) && file_all(c));
    EXPECT(clean(c, 1000, 0, 1, NOW + DAY) == 30);
    EXPECT(number(c, "SELECT count(*) FROM ended_by_job") == 0);
    /* The numbers of the ends do not begin anew: each is still found by its job. */
    EXPECT(end_many(c, 40, NOW + DAY));
    EXPECT(number(c, "SELECT min(seq) FROM ended") == 31);
    EXPECT((answer = store_why(c->store, 31, NOW + DAY, &c->error)));
    json_decref(answer);
    EXPECT(file_all(c) && number(c, "SELECT count(*) FROM ended_by_job") == 40);
    EXPECT((answer = store_why(c->store, 31, NOW + DAY, &c->error)));
    json_decref(answer);
}

static void one_row(struct contract *c) {
    char first[] = "one", second[] = "two";
    struct outcome_line two = {NULL, NOW, second}, one = {&two, NOW, first};
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    struct job *job = acquire_one(c, c->store, NOW);
    struct outcome end = {.lines = &one};
    EXPECT(job && settle(c, c->store, job, end, NOW) == SETTLED);
    EXPECT(number(c, "SELECT count(*) FROM line") == 1);
    EXPECT(number(c, "SELECT seq FROM line") == 2);
}

static void failures_and_lines(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    struct job *job = acquire_one(c, c->store, NOW);
    struct outcome failure = {.kind = OUTCOME_FAILURE, .decided = true, .retries = 2};
    EXPECT(job && settle(c, c->store, job, failure, NOW) == SETTLED);
    EXPECT((job = acquire_one(c, c->store, NOW)));
    EXPECT(settle(c, c->store, job, (struct outcome){0}, NOW) == SETTLED);
    for (int i = 0; i < 25; i++)
        EXPECT(store_line(c->store, id, 2, "said", NOW, &c->error));
    /* Its entry goes last: until then the log is whole enough to be read. */
    EXPECT(clean(c, 20, 0, 1, NOW + DAY) == 0);
    EXPECT(number(c, "SELECT count(*) FROM line") == 5 && number(c, ENDED) == 1);
    EXPECT(clean(c, 20, 0, 1, NOW + DAY) == 1);
    EXPECT(number(c, "SELECT count(*) FROM line") == 0);
    EXPECT(number(c, "SELECT count(*) FROM attempt") == 0 && number(c, ENDED) == 0);
}

/* Without entries for ends only failures tell of a job. */
static void failures_alone(struct contract *c) {
    c->settings.history = HISTORY_FAILURES;
    for (int i = 0; i < 3; i++) {
        EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
        struct job *job = acquire_one(c, c->store, NOW);
        struct outcome failure = {.kind = OUTCOME_FAILURE, .decided = true, .retries = 2};
        EXPECT(job && settle(c, c->store, job, failure, NOW) == SETTLED);
        EXPECT(i == 2 || (job = acquire_one(c, c->store, NOW)));
        EXPECT(i == 2 || settle(c, c->store, job, (struct outcome){0}, NOW) == SETTLED);
    }
    c->settings.history = HISTORY_FULL;
    EXPECT(number(c, "SELECT count(*) FROM attempt") == 3);
    EXPECT(clean(c, 500, 0, 1, NOW + DAY) == 2);
    EXPECT(number(c, "SELECT job FROM attempt") == 3); /* it waits for its retry */
}

static void shared(struct contract *c) {
    int64_t total = 0, some = 0;
    EXPECT(end_many(c, 5000, NOW));
    for (int part = 0; part < 3; part++) {
        int64_t ours = 0, now = 0;
        for (int run = 0; run < 10 && (now = clean(c, 1000, part, 3, NOW + DAY)) > 0; run++)
            ours += now;
        EXPECT(now >= 0 && ours > 1000);
        some += ours > 0;
        total += ours;
    }
    EXPECT(total == 5000 && some == 3 && number(c, ENDED) == 0);
}

static void never_more_than_a_thousand(struct contract *c) {
    EXPECT(end_many(c, 1500, NOW));
    EXPECT(clean(c, 1001, 0, 1, NOW + DAY) == -1);
    EXPECT_ERROR("clean_history: plan: bad batch_size");
    EXPECT(clean(c, 1000, 0, 1, NOW + DAY) == 1000);
}

static void clock_ahead(struct contract *c) {
    EXPECT(end_many(c, 2, NOW + 400 * DAY) && end_many(c, 3, NOW));
    EXPECT(clean(c, 500, 0, 1, NOW + DAY) == 3 && number(c, ENDED) == 2);
}

static void own_times(struct contract *c) {
    EXPECT(end_many(c, 5, NOW));
    EXPECT(contract_operate(c, "{ss,s[ii],ss}", "verb", "set_removal_time", "ids", 1, 2,
                            "removal_time", "never"));
    EXPECT(contract_operate(c, "{ss,si,ss}", "verb", "set_removal_time", "ids", 5, "removal_time",
                            "2026-01-01T00:00:01Z"));
    EXPECT(clean(c, 500, 0, 1, NOW + 999) == 0);
    EXPECT(clean(c, 500, 0, 1, NOW + 1000) == 1 && number(c, "SELECT max(job) FROM ended") == 4);
    EXPECT(clean(c, 500, 0, 1, NOW + DAY) > 0 && number(c, ENDED) == 2);
    EXPECT(clean(c, 500, 0, 1, NOW + 9 * DAY) == 0);
    EXPECT(contract_operate(c, "{ss,s{},ss}", "verb", "set_removal_time", "query", "removal_time",
                            "computed"));
    EXPECT(clean(c, 500, 0, 1, NOW + 9 * DAY) >= 2 && number(c, ENDED) == 0);
}

static void refused(struct contract *c) {
    EXPECT(end_many(c, 1, NOW));
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW) == 2);
    EXPECT(!contract_operate(c, "{ss,s[ii]}", "verb", "delete_history", "ids", 1, 2));
    EXPECT(c->error.code == ERROR_CONFLICT);
    EXPECT_ERROR("job 2 has not ended");
    EXPECT(!contract_operate(c, "{ss,s[ii]}", "verb", "delete_history", "ids", 1, 9));
    EXPECT(c->error.code == ERROR_NOT_FOUND && number(c, ENDED) == 1);
    EXPECT_ERROR("no job 9 in the history");
    EXPECT(contract_operate(c, "{ss,s[ii],sb}", "verb", "delete_history", "ids", 1, 9,
                            "ignore_missing", 1));
    EXPECT(number(c, ENDED) == 0);
    EXPECT(!contract_operate(c, "{ss,si,ss}", "verb", "set_removal_time", "ids", 1, "removal_time",
                             "soon"));
    EXPECT(c->error.code == ERROR_INVALID);
}

static void by_query(struct contract *c) {
    struct command_run run = {0};
    int steps = 0;
    size_t touched = 0;
    EXPECT(end_many(c, 2300, NOW) && end_many(c, 10, NOW + DAY));
    json_t *command = json_pack("{ss,s{ss}}", "verb", "delete_history", "query", "before",
                                "2026-01-02T00:00:00Z");
    run.dry_run = true;
    EXPECT(store_command(c->store, command, &run, NOW, &c->error) && run.touched == 2300);
    run.dry_run = false;
    while (command) {
        bool done = store_command(c->store, command, &run, NOW, &c->error);
        json_decref(command);
        EXPECT(done && run.touched <= 1000);
        touched += run.touched;
        command = run.rest;
        steps++;
    }
    EXPECT(steps == 3 && touched == 2300 && number(c, ENDED) == 10);
    EXPECT(number(c, "SELECT count FROM operation") == 2300);
}

static void other_kinds(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    EXPECT(give_dead_letter(c->store, IDS(1), NOW, &c->error));
    EXPECT(clean(c, 500, 0, 1, NOW + DAY) == 1); /* the operation; the incident is open */
    EXPECT(number(c, "SELECT count(*) FROM incident") == 1);
    EXPECT(give_set_retries(c->store, IDS(1), 3, false, TIME_NONE, NOW, &c->error));
    EXPECT(clean(c, 500, 1, 2, NOW + DAY) == 2);
    EXPECT(number(c, "SELECT count(*) FROM incident") == 0);
    EXPECT(number(c, "SELECT count(*) FROM operation") == 0);
}

static void counts_without_writing(struct contract *c) {
    c->settings.history_ttl = DAY;
    EXPECT(end_many(c, 2100, NOW) && end_many(c, 7, NOW + DAY));
    json_t *status = store_history(c->store, NOW + DAY, &c->error);
    const json_t *removable = json_object_get(status, "removable");
    EXPECT(json_integer_value(json_object_get(removable, "jobs")) == 2100);
    json_decref(status);
    EXPECT(number(c, ENDED) == 2107);
    c->settings.history_ttl = 0;
}

/* ---- the jobs that do it ---- */

static int64_t cleaners(struct contract *c) {
    return matches(c, "{\"handler\":\"moonshift/history_cleanup\"}");
}

static bool window(struct contract *c, const char *text, int parts) {
    json_decref(c->settings.history_cleanup_window);
    c->settings.history_cleanup_window = text ? json_pack("[s]", text) : NULL;
    c->settings.history_cleanup_parallelism = parts;
    return store_prepare_cleanup(c->store, NOW, &c->error);
}

static void made_once(struct contract *c) {
    EXPECT(window(c, NULL, 1) && cleaners(c) == 0);
    EXPECT(window(c, "22:00-23:00", 3) && cleaners(c) == 3);
    FIELD(1, "due", NOW, "2026-01-01T22:00:00.000Z");
    EXPECT(window(c, "22:00-23:00", 3) && cleaners(c) == 3);
    FIELD(1, "state", NOW, "scheduled");
    EXPECT(window(c, "22:00-23:00", 2) && cleaners(c) == 2);
    EXPECT(!*field(c, 1, "state", NOW));
    EXPECT(window(c, "21:00-23:00", 2) && cleaners(c) == 2);
    EXPECT(window(c, NULL, 1) && cleaners(c) == 0);
    EXPECT(number(c, "SELECT count(*) FROM meta WHERE key LIKE 'cleanup%'") == 0);
}

/* One executor that has no window leaves those of another alone. */
static void elsewhere(struct contract *c) {
    struct store_executor self;
    if (store_kind(c->store) == STORE_MEMORY)
        return;
    EXPECT(window(c, "22:00-23:00", 1) && cleaners(c) == 1);
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(other);
    json_t *profile = json_pack("{sb}", "cleanup", 1);
    EXPECT(store_publish(other, profile, NOW, &c->error));
    json_decref(profile);
    EXPECT(window(c, NULL, 1) && cleaners(c) == 1);
    store_close(other);
    EXPECT(window(c, NULL, 1) && cleaners(c) == 0);
}

static void on_demand(struct contract *c) {
    struct command_run first = {0}, again = {0};
    c->settings.history_ttl = DAY;
    c->settings.history_cleanup_parallelism = 2;
    EXPECT(give(c->store, verb("clean_history"), &first, NOW, &c->error) && first.made_count == 2);
    EXPECT(give(c->store, verb("clean_history"), &again, NOW, &c->error) && again.made_count == 2);
    EXPECT(first.made[0] == again.made[0] && first.made[1] == again.made[1] && cleaners(c) == 2);
    EXPECT(give_dead_letter(c->store, IDS(first.made[1]), NOW, &c->error));
    EXPECT(give(c->store, verb("clean_history"), &again, NOW, &c->error));
    FIELD(first.made[1], "retries", NOW, "3");
    EXPECT(matches(c, "{\"state\":\"dead\"}") == 0);
    EXPECT(number(c, "SELECT count(*) FROM incident WHERE ended IS NULL") == 0);
    c->settings.history_ttl = 0;
    c->settings.history_cleanup_parallelism = 1;
}

static void damage_is_seen(struct contract *c) {
    EXPECT(end_many(c, 2, NOW) && file_all(c));
    EXPECT(change(c, "DELETE FROM ended WHERE job=1"));
    json_t *found = store_verify(c->store, NULL, &c->error);
    const char *text = json_string_value(json_array_get(found, 0));
    EXPECT(text && strcmp(text, "job 1 is filed under an end that is gone") == 0);
    json_decref(found);
    EXPECT(change(c, "DELETE FROM ended_by_job WHERE job=1"));
}

static const struct check checks[] = {
    {"removes what is old enough, a batch at a time, oldest first", one_batch},
    {"keeps the index by job right, also when all has gone", filed_stays_right},
    {"the lines of a run are one row", one_row},
    {"removes lines and failures within the batch, the entry last", failures_and_lines},
    {"removes the failures of jobs whose ends were not noted", failures_alone},
    {"shares the work between parts, none of it twice", shared},
    {"removes a thousand rows at most", never_more_than_a_thousand},
    {"is not held up by ends that a wrong clock has dated", clock_ahead},
    {"goes by a removal time of the job's own", own_times},
    {"refuses ids that have not ended, all or nothing", refused},
    {"removes what a query of the log means, a thousand at a time", by_query},
    {"removes resolved incidents and operations", other_kinds},
    {"counts what may go without writing", counts_without_writing},
    {"makes the jobs of a window once, and anew when it changes", made_once},
    {"leaves the jobs of a window that another executor has", elsewhere},
    {"begins on demand once, and revives a job that was given up", on_demand},
    {"is checked: what is filed has its end", damage_is_seen},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
