/* vanished_contract.c - executors whose slots nobody can read: on another machine, or of an earlier
 * boot. Run with spec/postgres/contracts. */
#include "../contract.h"
#include "store/postgres/beside/presence.h"
#include "store/postgres/db/connection.h"
#include "store/rules/ground/kinds.h"

static int64_t suspects(struct contract *c) {
    return contract_number(c, "SELECT count(*) FROM suspect");
}

static int64_t crashes(struct contract *c) {
    return contract_number(c, "SELECT coalesce(sum(crashes), 0) FROM job");
}

static bool take(struct contract *c, struct store *store, int expected) {
    struct acquire acquire = everything;
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    acquire.idle = 1;
    bool done = store_acquire(store, &acquire, NOW, &jobs, &count, &more, &c->error);
    job_free_list(jobs);
    return done && count == expected;
}

/* Another executor, which has taken `jobs` new ones. NULL: error. */
static struct store *taker(struct contract *c, int jobs) {
    struct store_executor self;
    struct store *store = contract_join(c, "other", NOW, &self);
    bool done = store != NULL;
    for (int i = 0; done && i < jobs; i++)
        done = create(c, c->store, (struct job){.retries = 3}, NOW);
    if (done && take(c, store, jobs))
        return store;
    store_close(store);
    return NULL;
}

/* As if its machine were another one. */
static bool hide(struct contract *c) {
    return db_execute(&c->store->db, "UPDATE program SET slots=NULL", &c->error);
}

static bool reap(struct contract *c, struct store_reaped *reaped) {
    bool done = store_reap(c->store, NOW + LEASE + 1, reaped, &c->error);
    job_free_list(reaped->worker_died);
    return done;
}

static void seen(struct contract *c) {
    struct store_reaped reaped = {0};
    struct store *other = taker(c, 2);
    bool fine =
        other && reap(c, &reaped) && reaped.freed == 2 && reaped.suspects == 0 && suspects(c) == 0;
    store_close(other);
    EXPECT(fine);
}

static void unseen(struct contract *c) {
    struct store_reaped reaped = {0};
    struct store *other = taker(c, 2);
    bool fine = other && hide(c) && reap(c, &reaped) && reaped.freed == 2 && suspects(c) == 2 &&
                reaped.suspects == 2 && reaped.crashed == 0;
    store_close(other);
    EXPECT(fine);
}

/* The boot id in the head of its slots is another one. */
static void rebooted(struct contract *c) {
    struct store_reaped reaped = {0};
    struct store *other = taker(c, 2);
    if (other)
        ((char *)postgres_of(other)->slots.map)[24] ^= 1;
    bool fine = other && reap(c, &reaped) && reaped.freed == 2 && suspects(c) == 2;
    store_close(other);
    EXPECT(fine);
}

/* A new server lets an executor that ran a suspect come back first. Without a word it is counted.
 */
static void spared(struct contract *c) {
    struct store_reaped reaped = {0};
    struct store *first = taker(c, 1), *second = NULL;
    struct store_executor self;
    bool fine = first && hide(c) && reap(c, &reaped) && suspects(c) == 1 &&
                (second = contract_join(c, "second", NOW, &self)) && hide(c) &&
                take(c, second, 1) && reap(c, &reaped) && reaped.freed == 0 && crashes(c) == 0;
    postgres_of(c->store)->session.since -= DEAD_AFTER;
    fine = fine && store_reap(c->store, NOW + LEASE + DEAD_AFTER + 1, &reaped, &c->error) &&
           reaped.freed == 1 && reaped.crashed == 1 && crashes(c) == 1;
    store_close(first);
    store_close(second);
    EXPECT(fine);
}

/* What runs there nobody here can know. */
static void elsewhere(struct contract *c) {
    struct store *other = taker(c, 1);
    bool fine = other && hide(c);
    json_t *why = fine ? store_why(c->store, 1, NOW, &c->error) : NULL;
    const char *text = json_string_value(json_object_get(why, "text"));
    fine = text && strcmp(text, "job 1 is locked by other/2 until 2026-01-01T00:05:00.000Z;"
                                " whether it runs by now is known on that machine alone") == 0;
    if (!fine)
        printf("%s\n", text ? text : c->error.text);
    json_decref(why);
    json_t *rows = store_ask(c->store, ASK_EXECUTORS, NULL, NOW, &c->error), *there = NULL;
    json_t *here = json_array_get(rows, 0);
    fine = fine && json_integer_value(json_object_get(here, "running")) == 0 &&
           json_is_integer(json_object_get(here, "waiting")) && (there = json_array_get(rows, 1)) &&
           json_is_null(json_object_get(there, "running")) &&
           json_is_null(json_object_get(there, "waiting")) &&
           json_integer_value(json_object_get(there, "locked")) == 1;
    json_decref(rows);
    store_close(other);
    EXPECT(fine);
}

static const struct check checks[] = {
    {"jobs of a living process whose slots can be read are no suspects", seen},
    {"jobs of an executor on another machine are suspects when its lease ends", unseen},
    {"slots of an earlier boot tell nothing", rebooted},
    {"a job that is locked on another machine does not say that it waits there", elsewhere},
    {"a suspect that had begun counts once its executor could have come back", spared},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
