/* server_clock_contract.c - how the server's clock is measured. Run with spec/postgres/contracts.
 */
#include "../../contract.h"
#include "store/postgres/db/connection.h"
#include "store/postgres/turn/server_clock.h"

enum { FAR = 300000, NEAR = 100 }; /* ms */
enum { TRIES = 50 };

/* The server says a time that is so many ms ahead of this machine's, by a round trip of so many. */
static void measure(struct contract *c, time_ms ahead, time_ms round) {
    const time_ms begun = clock_monotonic() - round;
    postgres_note_clock(c->store, begun, clock_now(clock_system()) + ahead);
}

/* A clock that goes as the store's; it is released with the check. */
static time_ms off(struct contract *c, struct clock *clock) {
    store_set_clock(c->store, clock);
    time_ms off = clock_now(clock) - clock_now(clock_system());
    store_set_clock(c->store, NULL);
    return off;
}

static bool is_near(time_ms off, time_ms expected) {
    return off > expected - NEAR && off < expected + NEAR;
}

/* Nothing was measured yet. */
static void forget(struct contract *c) {
    postgres_of(c->store)->server_clock = (struct server_clock){0};
}

/* Between two looks at a clock a busy machine may do something else for long, but not each time. */
static bool once(bool (*holds)(struct contract *c, struct clock *clock), struct contract *c) {
    struct clock *clock = clock_real_new();
    bool held = false;
    for (int i = 0; clock && !held && i < TRIES; i++) {
        forget(c);
        held = holds(c, clock);
    }
    clock_release(clock);
    return held;
}

static bool is_followed(struct contract *c, struct clock *clock) {
    measure(c, FAR, 1);
    time_ms there = off(c, clock);
    measure(c, -FAR, 1);
    return is_near(there, FAR) && is_near(off(c, clock), -FAR);
}

static void follows(struct contract *c) {
    struct clock *clock = clock_real_new();
    EXPECT(clock);
    const time_ms here = off(c, clock); /* the server of the contracts is on this machine */
    clock_release(clock);
    EXPECT(here > -FAR / 2 && here < FAR / 2);
    EXPECT(once(is_followed, c));
}

static bool is_told_apart(struct contract *c, struct clock *clock) {
    measure(c, 400, 1);
    time_ms first = off(c, clock);
    measure(c, 0, 900);
    time_ms stays = off(c, clock);
    measure(c, -800, 900);
    return is_near(first, 400) && is_near(stays, 400) && is_near(off(c, clock), -800);
}

static void tells_apart(struct contract *c) {
    EXPECT(once(is_told_apart, c));
}

/* The answer was under way for as long as it may have been, or for no time at all. */
static void never_early(struct contract *c) {
    struct clock *clock = clock_real_new();
    bool early = !clock;
    for (time_ms ahead = -1000; !early && ahead <= 1000; ahead += 100) {
        forget(c);
        measure(c, ahead, 900);
        early = off(c, clock) > ahead + 2;
    }
    clock_release(clock);
    EXPECT(!early);
}

/* A run ends by the late clock; another executor's is right. */
static bool is_counted_late(struct contract *c, struct clock *clock) {
    struct outcome outcome = {0};
    measure(c, FAR - 900, 900); /* said at once, and heard after the rest of the round trip */
    store_set_clock(c->store, clock);
    outcome_end(&outcome, clock);
    const time_ms right = clock_now(clock_system()) + FAR;
    store_set_clock(c->store, NULL);
    return is_near(outcome.ended, right - 900) && is_near(outcome.ended_by, right);
}

static void counts_late(struct contract *c) {
    EXPECT(once(is_counted_late, c));
}

static bool has_waited(struct contract *c, struct clock *clock) {
    measure(c, FAR, 1);
    measure(c, 2 * FAR, 5000);
    return is_near(off(c, clock), FAR);
}

static void waits(struct contract *c) {
    EXPECT(once(has_waited, c));
}

static const struct check checks[] = {
    {"a clock goes as the server's, also when that is set", follows},
    {"a difference counts if the round trip does not explain it", tells_apart},
    {"after a slow round trip the clock is not early", never_early},
    {"the delay of a retry counts from the latest that the server's clock can be", counts_late},
    {"a round trip that waited long changes nothing", waits},
};

int main(void) {
    if (getenv("CONTRACT_STORE"))
        return contract_run(checks, sizeof checks / sizeof *checks, false);
    printf("  pending no server: run it with spec/postgres/contracts\n0 passed, 0 failed\n");
    return 0;
}
