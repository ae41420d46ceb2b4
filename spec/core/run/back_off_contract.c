/* back_off_contract.c - how lock failures and levels slow an executor down. SQLite knows no lock
 * failure: a double of the engine says that the last acquisition met some. */
#include "base/log.h"
#include "run/back_off.h"
#include "site.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/state.h"

#define HOUR INT64_C(3600000)

static struct store_acquire_stats met; /* what the double says */
static const struct store_ops *own;

static bool commits(struct store *store, struct error *error) {
    bool done = own->commit(store, error);
    store->met = met;
    return done;
}

/* The engine of the store, but for one function. */
static void stand_in(struct store *store) {
    static struct store_ops ops;
    met = (struct store_acquire_stats){0};
    own = store->ops;
    ops = *own;
    ops.commit = commits;
    store->ops = &ops;
}

static char logged[4096];

static void remember(void *arg, const char *line) {
    (void)arg;
    snprintf(logged, sizeof logged, "%s", line);
}

static bool turn(struct contract *c, struct site *site) {
    work_items_free(site->turn.items);
    site->turn = (struct turn){.room = 4, .acquiring = true, .grace = TIME_NEVER};
    return turns_take(site->turns, &site->turn, &c->error);
}

static void off(struct contract *c) {
    OPEN;
    stand_in(c->store);
    for (int i = 0; i < 9; i++)
        EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    met.lock_failures = 1;
    EXPECT(turn(c, &site) && site.turn.acquired == 4 && site.turn.again);
    EXPECT(turn(c, &site) && site.turn.acquired == 4);
    site_close(&site);
}

static void held(struct contract *c) {
    c->settings.backoff = HOUR;
    c->settings.max_backoff = 2 * HOUR;
    OPEN;
    stand_in(c->store);
    for (int i = 0; i < 9; i++)
        EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    met.lock_failures = 1;
    EXPECT(turn(c, &site) && site.turn.acquired == 4 && !site.turn.again);
    EXPECT(site.turn.next >= NOW + HOUR && site.turn.next < NOW + HOUR + HOUR / 2);
    EXPECT(turn(c, &site) && site.turn.acquired == 0); /* what is left of it, by the real clock */
    EXPECT(site.turn.next > NOW + HOUR / 2 && site.turn.next < NOW + HOUR + HOUR / 2);
    site_close(&site);
    c->settings.backoff = c->settings.max_backoff = 0;
}

static void counted(struct contract *c) {
    OPEN;
    stand_in(c->store);
    met.lock_failures = 3;
    EXPECT(turn(c, &site) && turn(c, &site) && turns_flush(site.turns, &c->error));
    json_t *stats = store_stats(c->store, NOW, &c->error);
    json_t *metrics = json_object_get(stats, "metrics");
    EXPECT(json_integer_value(json_object_get(metrics, "lock_failures")) == 6);
    json_decref(stats);
    site_close(&site);
}

static void crowded(struct contract *c) {
    c->settings.aging = 1000;
    OPEN;
    stand_in(c->store);
    log_configure(LOG_LOGFMT, LOG_WARN);
    log_sink(remember, NULL);
    met.levels = LEVELS_COMPARED;
    EXPECT(turn(c, &site) && !logged[0]);
    met.levels = LEVELS_COMPARED + 1;
    EXPECT(turn(c, &site) && strstr(logged, "too many priority levels for aging"));
    EXPECT(strstr(logged, "ready=4097 expected_at_most=4096"));
    logged[0] = 0;
    EXPECT(turn(c, &site) && !logged[0]);
    met.levels = 1;
    EXPECT(turn(c, &site));
    met.levels = LEVELS_COMPARED + 1;
    EXPECT(turn(c, &site) && logged[0]);
    log_sink(NULL, NULL);
    log_configure(LOG_OFF, LOG_WARN);
    site_close(&site);
    c->settings.aging = 0;
}

static void jitter(struct contract *c) {
    struct back_off back_off = {.dice = 1};
    double low = 1, high = 0;
    for (int i = 0; i < 10000; i++) {
        double one = back_off_jitter(&back_off);
        EXPECT(one >= 0 && one < 1);
        low = one < low ? one : low;
        high = one > high ? one : high;
    }
    EXPECT(low < 0.01 && high > 0.99);
}

/* Without a bell it looks after a wait that grows, or when the next job is due if that is first. */
static void deaf(struct contract *c) {
    struct back_off back_off = {.idle_level = 1};
    const struct settings settings = {.wait = 5000, .wait_factor = 2, .max_wait = 60000};
    EXPECT(back_off_next(&back_off, &settings, true, NOW, NOW + HOUR) == NOW + 5000);
    EXPECT(back_off_next(&back_off, &settings, true, NOW, NOW + 3000) == NOW + 3000);
    EXPECT(back_off_next(&back_off, &settings, false, NOW, NOW + HOUR) == NOW + HOUR);
    back_off.idle_level = 0;
    EXPECT(back_off_next(&back_off, &settings, true, NOW, NOW + HOUR) == NOW + HOUR);
}

static void drains(struct contract *c) {
    OPEN;
    stand_in(c->store);
    size_t touched = 0;
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    EXPECT(give_drain(c->store, c->settings.name, true, &touched, NOW, &c->error));
    EXPECT(turn(c, &site) && site.turn.acquired == 0 && site.turn.draining && !site.turn.again);
    EXPECT(give_drain(c->store, c->settings.name, false, &touched, NOW, &c->error));
    EXPECT(turn(c, &site) && site.turn.acquired == 1 && !site.turn.draining);
    site_close(&site);
}

static const struct check checks[] = {
    {"lock failures without a back-off are followed by another look at once", off},
    {"lock failures with a back-off keep the executor from looking for so long", held},
    {"lock failures are counted", counted},
    {"more than 4 096 ready levels with aging are warned about once", crowded},
    {"an executor that hears nothing looks again after a wait, or at the next due date", deaf},
    {"jitter fills its range and stays inside", jitter},
    {"a draining executor acquires nothing until it is told to work again", drains},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
