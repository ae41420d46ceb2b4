/* server_clock.c - the server's clock decides about leases and due dates: machines disagree.
 *
 * Each flight that begins a transaction brings the server's time along. How far it is ahead of this
 * machine's boot is kept: a wall clock that is set meanwhile changes nothing. */
#include "store/postgres/turn/server_clock.h"
#include "base/log.h"
#include "store/postgres/db/connection.h"

#define ROUND_MOST 1000 /* ms; a longer round trip says nothing new */
#define TOLD 1000       /* ms; a clock that is as far away is told of */
#define SAME 2          /* ms; so far this machine's clock may be ahead of what the server said */

static time_ms distance(time_ms a, time_ms b) {
    return a < b ? b - a : a - b;
}

static void follow(struct postgres *postgres) {
    const struct server_clock *clock = &postgres->server_clock;
    if (postgres->clock && clock->measured)
        clock_follow(postgres->clock, clock->ahead, clock->round);
}

void postgres_set_clock(struct store *store, struct clock *clock) {
    postgres_of(store)->clock = clock;
    follow(postgres_of(store));
}

/* What the server said was so at some time of the round trip, and by now it is later. As if it were
 * not, for nothing may begin before its date. This machine's clock counts if it is as good. */
static time_ms server_ahead(time_ms server, time_ms round) {
    const time_ms wall = clock_now(clock_system()), most = round < SAME ? round : SAME;
    const bool same = wall >= server && wall <= server + most;
    return (same ? wall : server) - clock_since_boot();
}

static void tell_step(const struct store *store, time_ms step) {
    if (step >= TOLD || step <= -TOLD)
        log_event(LOG_WARN, "the server's clock was set", "store:s ms:l", store->db.name, step);
}

/* The round trip that took least says most; another one counts if it cannot be explained by it. */
void postgres_note_clock(struct store *store, time_ms begun, time_ms server) {
    struct postgres *postgres = postgres_of(store);
    struct server_clock *clock = &postgres->server_clock;
    const time_ms round = clock_monotonic() - begun, ahead = server_ahead(server, round);
    const bool differs = distance(ahead, clock->ahead) > round && round <= ROUND_MOST;
    if (clock->measured && round >= clock->round && !differs)
        return;
    if (clock->measured)
        tell_step(store, ahead - clock->ahead);
    *clock = (struct server_clock){.measured = true, .ahead = ahead, .round = round};
    follow(postgres);
}

void postgres_tell_clock(const struct store *store) {
    const time_ms wall = clock_now(clock_system()) - clock_since_boot();
    const time_ms off = wall - postgres_of(store)->server_clock.ahead;
    if (distance(off, 0) >= TOLD)
        log_event(LOG_WARN, "this machine's clock is wrong", "store:s ms:l counts:s",
                  store->db.name, off, "the server's");
}
