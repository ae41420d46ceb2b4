/* bare_contract.c - jobs that have no more than a payload are read as all others, whoever stands
 * between them. */
#include "contract.h"
#include "give.h"
#include "store/intake.h"
#include "store/rules/ground/row.h"

enum { JOBS = 120, LIST = 8 };

/* The fields of a lock, which a job has from its acquisition alone. */
static bool is_of_lock(int field) {
    return field == JOB_FIELD_lock_owner || field == JOB_FIELD_lock_expiration ||
           field == JOB_FIELD_token || field == JOB_FIELD_owner || field == JOB_FIELD_until ||
           field == JOB_FIELD_state;
}

static bool same_field(const struct job *a, const struct job *b, const struct job_field *field) {
    const char *x = job_field_text(a, field), *y = job_field_text(b, field);
    if (field->type == FIELD_BLOB)
        return a->payload_size == b->payload_size && !a->payload == !b->payload &&
               (!a->payload || memcmp(a->payload, b->payload, a->payload_size) == 0);
    if (field->type == FIELD_TEXT)
        return !x == !y && (!x || strcmp(x, y) == 0);
    return job_field_number(a, field) == job_field_number(b, field);
}

/* True if the job that was taken is as its row says, but for its lock. */
static bool as_its_row(struct contract *c, const struct job *taken) {
    struct job *row = NULL;
    if (row_job(c->store, taken->id, &row, &c->error) != YES)
        return false;
    bool same = true;
    for (int i = 0; same && i < JOB_FIELD_COUNT; i++)
        same = is_of_lock(i) || same_field(taken, row, &job_fields[i]);
    job_free(row);
    return same;
}

/* The jobs that can be had, each compared with its row. -1: one of them differs. */
static int taken_as_rows(struct contract *c, int want) {
    struct acquire acquire = everything;
    struct job *jobs = NULL;
    int count = 0;
    bool more = false, same = true;
    acquire.want = want;
    if (!store_acquire(c->store, &acquire, NOW + 1000, &jobs, &count, &more, &c->error))
        return -1;
    for (const struct job *job = jobs; job; job = job->next)
        same = same && as_its_row(c, job);
    job_free_list(jobs);
    return same ? count : -1;
}

/* Jobs of every kind; half of them are bare. */
static struct job some_job(char key[16]) {
    static int number;
    snprintf(key, 16, "k%d", ++number);
    struct job job = {.payload = "[1]", .payload_size = 3, .priority = rand() % 3};
    const char **const texts[] = {&job.lane,   &job.instance,   &job.root,    &job.activity,
                                  &job.tenant, &job.unique_key, &job.category};
    int kind = rand() % 20;
    if (kind < 7)
        *texts[kind] = key;
    if (kind == 7)
        job.due = NOW - 1;
    if (kind == 8)
        job.payload = NULL, job.payload_size = 0;
    if (kind == 9)
        job.retries = 2;
    return job;
}

static bool create_some(struct contract *c, int count) {
    struct job_spec list[LIST];
    char keys[LIST][16];
    for (int i = 0; i < count; i++) {
        list[i] = completed((struct job_spec){.job = some_job(keys[i])});
        list[i].next = i + 1 < count ? &list[i + 1] : NULL;
    }
    return store_create(c->store, list, 0, NOW + rand() % 3, &c->error);
}

static void read_as_rows(struct contract *c) {
    int made = 0, had = 0;
    while (made < JOBS) {
        int count = 1 + rand() % LIST;
        EXPECT(create_some(c, count));
        made += count;
    }
    contract_verify(c);
    EXPECT(contract_number(c, "SELECT count(*) FROM ready WHERE plain=2") > JOBS / 8);
    for (int count = 1; count > 0; had += count) {
        count = taken_as_rows(c, 1 + rand() % 40);
        EXPECT(count >= 0);
    }
    EXPECT(had == made);
}

static bool create_bare(struct contract *c, int count) {
    for (int i = 0; i < count; i++)
        if (!create(c, c->store, (struct job){.retries = 2}, NOW))
            return false;
    return true;
}

/* What changes in the row of a job changes its place, which forgets what it said. */
static void forgotten(struct contract *c) {
    EXPECT(create_bare(c, 3));
    EXPECT(contract_number(c, "SELECT count(*) FROM ready WHERE plain=2") == 3);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job && job->attempt == 1);
    struct outcome failed = {.kind = OUTCOME_FAILURE, .retries = 1, .due = NOW};
    EXPECT(settle(c, c->store, job, failed, NOW) == SETTLED);
    EXPECT(give_set_priority(c->store, IDS(2), 7, NOW, &c->error));
    EXPECT(give_set_due(c->store, IDS(3), NOW - 1, false, NOW, &c->error));
    contract_verify(c);
    EXPECT(contract_number(c, "SELECT count(*) FROM ready WHERE plain=2") == 0);
    EXPECT(taken_as_rows(c, 10) == 3);
}

/* What is changed where the job waits is what is run. */
static void changed_in_place(struct contract *c) {
    EXPECT(create_bare(c, 3));
    EXPECT(give_set_retries(c->store, IDS(2), 5, false, TIME_NONE, NOW, &c->error));
    EXPECT(taken_as_rows(c, 10) == 3);
}

static bool intake_of(struct contract *c, bool dated) {
    struct store_intake intake;
    struct job_spec list[LIST];
    bool more = false;
    for (int i = 0; i < LIST; i++) {
        list[i] = completed((struct job_spec){0});
        if (dated && i == LIST - 1)
            list[i].job.due = NOW + 500;
        list[i].next = i + 1 < LIST ? &list[i + 1] : NULL;
    }
    if (!store_intake_begin(c->store, &intake, LIST, NOW, &c->error) ||
        !store_intake_add(c->store, &intake, list, NOW, &c->error))
        return false;
    bool done = store_begin(c->store, STORE_COMMAND, &c->error) &&
                store_intake_release(c->store, &intake, &more, NOW, &c->error) &&
                store_commit(c->store, &c->error);
    store_intake_leave(c->store, &intake);
    return done && !more;
}

static void released(struct contract *c) {
    EXPECT(intake_of(c, false));
    EXPECT(contract_number(c, "SELECT count(*) FROM ready WHERE plain=2") == LIST);
    EXPECT(intake_of(c, true));
    EXPECT(contract_number(c, "SELECT count(*) FROM ready WHERE plain=2") == LIST);
    EXPECT(contract_number(c, "SELECT count(*) FROM ready WHERE plain=1") == LIST - 1);
    EXPECT(contract_number(c, "SELECT count(*) FROM timer") == 1);
    contract_verify(c);
    EXPECT(taken_as_rows(c, 100) == 2 * LIST - 1);
}

static const struct check checks[] = {
    {"each job that is taken is as its row says", read_as_rows},
    {"a place forgets what it said when it changes", forgotten},
    {"what changes in place is read", changed_in_place},
    {"jobs that are released are as bare as others", released},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
