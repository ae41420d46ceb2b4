/* gap_watch_contract.c - jobs that nobody serves are told once, and so is the end of that. */
#include "../store/contract.h"
#include "base/log.h"
#include "run/gap_watch.h"
#include <sched.h>

enum { FIRST = 2000, EVERY = 60000 };

static int unserved, closed, failed;

static void heard(void *arg, const char *line) {
    (void)arg;
    unserved += strstr(line, "unserved jobs") != NULL;
    closed += strstr(line, "gap closed") != NULL;
    failed += strstr(line, "gap watch failed") != NULL;
}

struct looks {
    struct gap_watch *watch;
    time_ms at; /* of the last; monotonic */
};

/* Looks, and once more, which waits for the answer of the first. */
static void look(struct looks *looks) {
    for (int i = 0; i < 2; i++) {
        looks->at += EVERY;
        while (!gap_watch_look(looks->watch, looks->at))
            sched_yield();
    }
}

static bool serve(struct contract *c, const char *handler) {
    json_t *profile = json_pack("{s[s]}", "handlers", handler);
    bool done = store_publish(c->store, profile, NOW, &c->error);
    json_decref(profile);
    return done;
}

static void changes(struct contract *c) {
    struct clock *clock = clock_virtual_new(NOW);
    struct looks looks = {gap_watch_new(c->url, &c->settings, clock), clock_monotonic() + FIRST};
    unserved = closed = failed = 0;
    EXPECT(serve(c, "work") && create(c, c->store, (struct job){.handler = "foreign"}, NOW));
    look(&looks);
    EXPECT(unserved == 1 && closed == 0);
    EXPECT(create(c, c->store, (struct job){.handler = "foreign"}, NOW));
    look(&looks);
    EXPECT(unserved == 1 && closed == 0);
    EXPECT(serve(c, "foreign"));
    look(&looks);
    EXPECT(unserved == 1 && closed == 1);
    EXPECT(serve(c, "work"));
    look(&looks);
    EXPECT(unserved == 2 && closed == 1 && failed == 0);
    gap_watch_free(looks.watch);
    clock_release(clock);
}

static void pauses(struct contract *c) {
    struct clock *clock = clock_virtual_new(NOW);
    const time_ms begun = clock_monotonic();
    struct gap_watch *watch = gap_watch_new(c->url, &c->settings, clock);
    const time_ms first = clock_monotonic() + FIRST;
    EXPECT(!gap_watch_look(watch, begun + FIRST - 1) && gap_watch_look(watch, first));
    for (int i = 0; i < 1000; i++, sched_yield())
        EXPECT(!gap_watch_look(watch, first + EVERY - 1));
    gap_watch_free(watch);
    clock_release(clock);
}

static const struct check checks[] = {
    {"each change is told once", changes},
    {"it looks first after two seconds, then each minute", pauses},
};

int main(void) {
    log_configure(LOG_LOGFMT, LOG_INFO);
    log_sink(heard, NULL);
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
