/* share_contract.c - tenants that take turns, on random histories, against a model that keeps a
 * list; and one tenant with a hundred thousand jobs beside ten with a hundred. */
#include "contract.h"

#define TENANTS 6
#define JOBS 300

struct waiting {
    int64_t id, priority, turn;
    bool taken;
};

static struct waiting jobs[JOBS];
static int job_count;
static int64_t last[3][TENANTS], served[3]; /* by priority */
static const char *const tenants[TENANTS] = {NULL, "a", "b", "c", "d", "e"};

/* Opens the store anew. */
static bool fair_by(struct contract *c, const char *what) {
    json_t *given = json_pack("{s:s}", "fair_by", what);
    store_close(c->store);
    bool set = settings_apply(&c->settings, ORIGIN_FILE, given, NULL, &c->error);
    json_decref(given);
    c->store = set ? contract_join(c, "node", NOW, &c->self) : NULL;
    return c->store != NULL;
}

static bool fair(struct contract *c) {
    return fair_by(c, "tenant");
}

static int64_t turn_of(int64_t priority, int tenant) {
    int64_t *own = &last[priority][tenant];
    *own = (*own > served[priority] ? *own : served[priority]) + 1;
    return *own;
}

static bool add(struct contract *c) {
    int tenant = rand() % TENANTS;
    struct waiting *job = &jobs[job_count++];
    *job = (struct waiting){.priority = rand() % 3};
    job->turn = turn_of(job->priority, tenant);
    job->id = create(c, c->store,
                     (struct job){.priority = job->priority, .tenant = tenants[tenant]}, NOW);
    return job->id > 0;
}

static bool before(const struct waiting *a, const struct waiting *b) {
    if (a->priority != b->priority)
        return a->priority > b->priority;
    return a->turn != b->turn ? a->turn < b->turn : a->id < b->id;
}

static struct waiting *best(void) {
    struct waiting *found = NULL;
    for (int i = 0; i < job_count; i++)
        if (!jobs[i].taken && (!found || before(&jobs[i], found)))
            found = &jobs[i];
    return found;
}

static bool take(struct contract *c, struct store *store) {
    struct acquire acquire = everything;
    struct job *list = NULL;
    int count = 0;
    bool more = false, same = true;
    acquire.want = 1 + rand() % 8;
    acquire.by_due_date = rand() % 2;
    if (!store_acquire(store, &acquire, NOW, &list, &count, &more, &c->error))
        return false;
    for (struct job *job = list; same && job; job = job->next) {
        struct waiting *expected = best();
        same = expected && expected->id == job->id;
        if (!same)
            break;
        expected->taken = true;
        if (expected->turn > served[expected->priority])
            served[expected->priority] = expected->turn;
    }
    job_free_list(list);
    return same;
}

static void history(struct contract *c) {
    struct store_executor other = {0};
    EXPECT(fair(c));
    struct store *second = contract_join(c, "other", NOW, &other);
    bool fine = second != NULL;
    for (unsigned seed = 1; fine && seed <= 5; seed++) {
        srand(seed);
        for (int i = 0; fine && i < 55; i++)
            fine = add(c);
        for (int i = 0; fine && job_count < (int)seed * 60; i++)
            fine = rand() % 3 ? take(c, rand() % 2 ? c->store : second) : add(c);
    }
    store_close(second);
    EXPECT(fine);
}

static bool add_many(struct contract *c, const char *tenant, int count) {
    bool fine = store_begin(c->store, STORE_COMMAND, &c->error);
    for (int i = 0; fine && i < count; i++)
        fine = create(c, c->store, (struct job){.tenant = tenant}, NOW) > 0;
    return fine && store_commit(c->store, &c->error);
}

/* Where in the order of acquisition the last job of the ten stands. */
static int position_of_the_ten(struct contract *c) {
    int position = 0, seen = 0;
    while (seen < 1000) {
        struct job *list = NULL;
        int count = 0;
        bool more = false;
        if (!store_acquire(c->store, &everything, NOW, &list, &count, &more, &c->error) || !count)
            return -1;
        for (struct job *job = list; job && seen < 1000; job = job->next) {
            position++;
            seen += strcmp(job->tenant, "big") != 0;
        }
        job_free_list(list);
    }
    return position;
}

static void ten_beside_one(struct contract *c) {
    char name[16];
    EXPECT(fair(c));
    EXPECT(add_many(c, "big", getenv("CONTRACT_STORE") ? 5000 : 100000)); /* on a server: slow */
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof name, "small-%d", i);
        EXPECT(add_many(c, name, 100));
    }
    EXPECT(position_of_the_ten(c) <= 1100);
}

/* What a tenant's turns take up goes once they are served, however many tenants there were. */
static void swept(struct contract *c) {
    char name[16];
    EXPECT(fair(c));
    for (int i = 0; i < 1200; i++) {
        snprintf(name, sizeof name, "t%d", i);
        EXPECT(create(c, c->store, (struct job){.tenant = name}, NOW));
    }
    EXPECT(acquire_count(c, c->store, NOW) == 1000);
    for (int i = 1; i <= 4; i++) {
        EXPECT(create(c, c->store, (struct job){.tenant = "late"}, NOW));
        EXPECT(acquire_count(c, c->store, NOW + i * 1000) > 0);
    }
    int64_t left = contract_number(c, "SELECT count(*) FROM share");
    EXPECT(left >= 0 && left < 10);
}

static bool make(struct contract *c, const char *tenant, int64_t priority, int count) {
    bool done = true;
    for (int i = 0; i < count; i++)
        done = create(c, c->store,
                      (struct job){.tenant = tenant, .priority = priority, .retries = 3}, NOW) &&
               done;
    return done;
}

/* Runs all that is ready: the tenants, or the lanes, in the order in which they come. */
static const char *order(struct contract *c) {
    static char text[64];
    struct job *job = NULL;
    size_t count = 0;
    while (count + 1 < sizeof text && (job = acquire_one(c, c->store, NOW))) {
        text[count++] = *(job->tenant ? job->tenant : job->lane);
        settle(c, c->store, job, (struct outcome){0}, NOW);
    }
    text[count] = 0;
    return text;
}

#define ORDER(text) EXPECT(strcmp(order(c), text) == 0)

static void tried_again(struct contract *c) {
    struct outcome again = {.kind = OUTCOME_FAILURE, .decided = true, .retries = 2};
    EXPECT(fair(c) && make(c, "a", 0, 2) && make(c, "b", 0, 2));
    struct job *first = acquire_one(c, c->store, NOW);
    EXPECT(first && settle(c, c->store, first, again, NOW) == SETTLED);
    ORDER("baba");
}

/* Another executor that has the best job, and gives it back unrun as it leaves. */
static struct store *holder(struct contract *c, int64_t *id) {
    struct store_executor self;
    struct store *other = contract_join(c, "other", NOW, &self);
    struct job *job = other ? acquire_one(c, other, NOW) : NULL;
    *id = job ? job->id : 0;
    job_free(job);
    return other;
}

static void given_back(struct contract *c) {
    int64_t id = 0;
    EXPECT(fair(c) && make(c, "a", 0, 2) && make(c, "b", 0, 2));
    struct store *other = holder(c, &id);
    EXPECT(id && give_set_retries(c->store, IDS(id), 7, false, 0, NOW, &c->error));
    store_close(other);
    ORDER("abab");
}

static void served_late(struct contract *c) {
    int64_t id = 0;
    EXPECT(fair(c) && make(c, "a", 0, 3));
    struct store *other = holder(c, &id);
    EXPECT(acquire_count(c, c->store, NOW) == 2);
    store_close(other);
    EXPECT(make(c, "d", 0, 1));
    struct job *late = acquire_one(c, c->store, NOW);
    EXPECT(late && late->id == id && make(c, "e", 0, 1));
    job_free(late);
    ORDER("de");
}

static void another_priority(struct contract *c) {
    EXPECT(fair(c) && make(c, "a", 5, 3));
    ORDER("aaa");
    EXPECT(make(c, "b", 5, 2));
    int64_t id = create(c, c->store, (struct job){.tenant = "c", .retries = 3}, NOW);
    EXPECT(id && give_set_priority(c->store, IDS(id), 5, NOW, &c->error));
    ORDER("bcb");
}

static void asked_for_during_a_run(struct contract *c) {
    int64_t id = 0;
    EXPECT(fair_by(c, "off") && make(c, "x", 0, 1));
    struct store *other = holder(c, &id);
    EXPECT(id && fair(c) && make(c, "b", 0, 1));
    store_close(other);
    ORDER("xb");
}

static void begun_anew(struct contract *c) {
    EXPECT(fair(c) && make(c, "a", 0, 5));
    ORDER("aaaaa");
    EXPECT(fair_by(c, "lane"));
    for (int i = 0; i < 3; i++)
        EXPECT(create(c, c->store, (struct job){.lane = i ? "b" : "a"}, NOW));
    ORDER("abb");
    EXPECT(fair_by(c, "off") && make(c, "z", 0, 1) && fair(c) && make(c, "y", 0, 1));
    ORDER("zy");
}

/* A second is over if the clock was set back. */
static void swept_by_another_clock(struct contract *c) {
    EXPECT(fair(c) && make(c, "a", 0, 1) && acquire_count(c, c->store, NOW + 10000) == 1);
    EXPECT(make(c, "b", 0, 1) && acquire_count(c, c->store, NOW) == 1);
    EXPECT(contract_number(c, "SELECT count(*) FROM share") == 0);
}

static const struct check checks[] = {
    {"tenants take turns inside a priority, on random histories", history},
    {"ten tenants with 100 jobs are served as if the one with far more had 100", ten_beside_one},
    {"turns that are over are forgotten", swept},
    {"turns are forgotten by a clock that was set back, too", swept_by_another_clock},
    {"a job that is tried again at once takes another turn", tried_again},
    {"a job that is given back unrun keeps its turn", given_back},
    {"a turn that is served late sets nothing back", served_late},
    {"a job of another priority takes a turn there", another_priority},
    {"what runs while turns are asked for comes before what is created then",
     asked_for_during_a_run},
    {"a change of the setting begins all turns anew, behind what waits", begun_anew},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
