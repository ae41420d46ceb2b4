/* unread_contract.c - jobs that a turn has locked unread: their rows are read behind the commit,
 * and what cannot be read is given back or set aside. */
#include "site.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/state.h"
#include "store/sqlite/db/engine.h"

enum { JOBS = 12, HOUR = 3600000 };

static int64_t ids[JOBS];

/* Jobs of one creation, and another process that writes to the store: jobs are locked unread. */
static bool begin(struct contract *c, struct site *site) {
    struct job_spec list[JOBS];
    for (int i = 0; i < JOBS; i++) {
        list[i] = completed((struct job_spec){.job = {.retries = 3}});
        list[i].next = i + 1 < JOBS ? &list[i + 1] : NULL;
    }
    bool done = site_open(c, site) && store_create(c->store, list, 0, NOW, &c->error);
    for (int i = 0; i < JOBS; i++)
        ids[i] = list[i].job.id;
    c->store->patience.contended = clock_monotonic() + HOUR;
    return done;
}

static bool turn(struct contract *c, struct site *site, struct outcome *outcomes) {
    work_items_free(site->turn.items);
    site->turn = (struct turn){.outcomes = outcomes, .room = JOBS, .acquiring = true};
    return turns_take(site->turns, &site->turn, &c->error);
}

/* Takes turns until one finds nothing; how many jobs were handed out, all of them read. */
static int take_all(struct contract *c, struct site *site) {
    int taken = 0;
    do {
        if (!turn(c, site, NULL))
            return -1;
        for (const struct work_item *item = site->turn.items; item; item = item->next, taken++)
            if (item->jobs->unread || !item->jobs->handler)
                return -1;
    } while (site->turn.again);
    return taken;
}

/* ?1 is the id. */
static bool change(struct contract *c, const char *sql, int64_t id) {
    return store_begin(c->store, STORE_COMMAND, &c->error) &&
           db_run(&c->store->db, &c->error, sql, "i", id) && store_commit(c->store, &c->error);
}

static int64_t incidents_of(struct contract *c, int64_t id) {
    char sql[96];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM incident WHERE ended IS NULL AND job=%lld",
             (long long)id);
    return contract_number(c, sql);
}

static void behind_the_commit(struct contract *c) {
    struct site site;
    EXPECT(begin(c, &site) && take_all(c, &site) == JOBS);
    EXPECT(contract_number(c, "SELECT count(*) FROM locks") == JOBS);
    site_close(&site);
}

static void without_a_definition(struct contract *c) {
    struct site site;
    EXPECT(begin(c, &site) && change(c, "UPDATE job SET stream=999 WHERE id=?1", ids[5]));
    EXPECT(take_all(c, &site) == JOBS - 1 && incidents_of(c, ids[5]) == 1);
    EXPECT(contract_number(c, "SELECT count(*) FROM incident") == 1);
    site_close(&site);
    EXPECT(change(c, "DELETE FROM job WHERE id=?1", ids[5]));
    EXPECT(change(c, "DELETE FROM incident WHERE job=?1", ids[5]));
}

static void without_a_row(struct contract *c) {
    struct site site;
    EXPECT(begin(c, &site) && change(c, "DELETE FROM job WHERE id=?1", ids[5]));
    EXPECT(take_all(c, &site) == JOBS - 1 && incidents_of(c, ids[5]) == 1);
    EXPECT(contract_number(c, "SELECT count(*) FROM incident") == 1);
    site_close(&site);
}

static struct store_ops ops; /* the store's own, but for one */
static int failing;          /* so many reads fail, as the disk does */

static int64_t rejected(struct contract *c) {
    json_t *stats = store_stats(c->store, NOW, &c->error);
    json_t *metrics = json_object_get(stats, "metrics");
    int64_t count = json_integer_value(json_object_get(metrics, metric_name(METRIC_REJECTED)));
    json_decref(stats);
    return count;
}

static bool read_taken(struct store *store, struct job **jobs, size_t count, struct error *error) {
    store_touch(store, jobs[count - 1]->id);
    return --failing < 0 ? sqlite_read_taken(store, jobs, count, error)
                         : error_set(error, ERROR_IO, "disk I/O error");
}

static void not_now(struct contract *c) {
    struct site site;
    EXPECT(begin(c, &site));
    ops = *c->store->ops;
    ops.read_taken = read_taken;
    c->store->ops = &ops;
    failing = 1;
    EXPECT(take_all(c, &site) == JOBS && failing == 0);
    EXPECT(contract_number(c, "SELECT count(*) FROM incident") == 0);
    EXPECT(turns_flush(site.turns, &c->error) && rejected(c) == 0);
    site_close(&site);
}

static const struct check checks[] = {
    {"jobs of a turn that others wait for are read behind its commit", behind_the_commit},
    {"one whose row cannot be read is an incident, and the others run", without_a_definition},
    {"one that has no row is an incident, and the others run", without_a_row},
    {"what the disk refuses is given back, and blames no job", not_now},
};

int main(void) {
    return contract_run_of_file(checks, sizeof checks / sizeof *checks, false);
}
