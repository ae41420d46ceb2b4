/* clients.c - jobs created one a call, by one client and by many. */
#include "api/group.h"
#include "base/json.h"
#include "bench/crowd.h"
#include "bench/phases.h"
#include <stdio.h>
#include <stdlib.h>

enum { MANY = 16, TIME_MAX = 5000000 }; /* clients; microseconds of one measurement */

struct asked {
    const char *prefix; /* of the keys */
    const char *doing;
    int clients;
    bool processes;
    int64_t jobs;
};

/* Threads share a connection, and what they wait for is written together; a process has its own. */
struct party {
    const struct rig *rig;
    struct group *group; /* NULL: processes */
    const char *payload; /* as JSON */
    size_t payload_size;
};

static bool ask(const struct party *party, struct engine *engine, int priority,
                struct error *error) {
    struct engine_created created;
    struct engine_draft draft = {.brief = {.names = {[BRIEF_HANDLER] = "noop"},
                                           .sizes = {[BRIEF_HANDLER] = sizeof "noop" - 1},
                                           .payload = party->payload,
                                           .payload_size = party->payload_size,
                                           .priority = priority,
                                           .priority_given = true}};
    return party->group ? group_enqueue(party->group, &draft, 1, &created, error)
                        : engine_enqueue(engine, &draft, 1, &created, NULL, error);
}

/* One client: as many jobs as its share, or as it gets done in time. The first one is created
 * before the time counts: it loads what a connection needs. */
static bool work(struct crowd *crowd, int index, void *arg, struct error *error) {
    const struct party *party = arg;
    struct mate *mate = &crowd->mates[index];
    uint32_t random = (uint32_t)index;
    struct engine *engine = party->group ? NULL : rig_connect(party->rig, error);
    bool fine = party->group || engine;
    for (int64_t i = -1; fine && i < crowd->share; i++) {
        if (i == 0)
            crowd_ready(crowd);
        if (i >= 0 && !crowd_goes_on(crowd))
            break;
        fine = ask(party, engine, rig_priority(party->rig, &random), error);
        mate->done += fine && i >= 0;
    }
    mate->ended = clock_monotonic_us();
    engine_close(engine);
    return fine;
}

/* Threads on one connection. */
static bool crowd_group(struct crowd *crowd, struct party *party, struct error *error) {
    struct engine *engine = rig_connect(party->rig, error);
    party->group = engine ? group_new(engine, error) : NULL;
    bool fine = party->group && crowd_thread(crowd, work, party, error);
    group_free(party->group);
    engine_close(engine);
    return fine;
}

static bool put(struct bench *bench, const struct asked *asked, const struct crowd *crowd,
                const struct meter *used) {
    char key[64];
    int64_t done = crowd_done(crowd);
    snprintf(key, sizeof key, "%s_per_second", asked->prefix);
    bool fine = meter_put(bench->report, key, meter_rate(done, crowd_ended(crowd) - crowd->began));
    if (asked->processes)
        return fine; /* what other processes write is not counted here */
    snprintf(key, sizeof key, "%s_syncs_per_10000", asked->prefix);
    return fine && meter_put(bench->report, key,
                             (double)used->writes.syncs * 10000 / (double)(done ? done : 1));
}

static bool create(struct rig *rig, const struct asked *asked, struct crowd *crowd,
                   struct error *error) {
    rig_tell(rig, asked->doing, 0, 0);
    crowd->share = (asked->jobs + asked->clients - 1) / asked->clients;
    crowd->span = TIME_MAX;
    struct party party = {.rig = rig};
    char *payload = json_write(rig->payload, &party.payload_size);
    party.payload = payload;
    struct meter from = meter_read();
    bool fine = !payload           ? rig_no_memory(error)
                : asked->processes ? crowd_fork(crowd, work, &party, error)
                                   : crowd_group(crowd, &party, error);
    struct meter used = meter_since(&from);
    free(payload);
    return fine && (put(rig->bench, asked, crowd, &used) || rig_no_memory(error));
}

/* The store is closed meanwhile: what is open would be open in a child, too. */
static bool measure(struct bench *bench, const struct asked *asked, struct error *error) {
    struct rig rig;
    struct meter unused;
    struct crowd *crowd = crowd_new(asked->clients, error);
    bool fine = crowd && rig_open(&rig, bench, asked->jobs + MANY, error);
    if (fine) {
        rig_release(&rig);
        fine = create(&rig, asked, crowd, error) &&
               rig_drain(&rig, asked->doing, bench->options->workers,
                         crowd_done(crowd) + asked->clients, &unused, error);
    }
    if (crowd)
        rig_close(&rig);
    crowd_free(crowd);
    return fine;
}

static int64_t within(int64_t jobs, int64_t least, int64_t most) {
    return jobs < least ? least : jobs > most ? most : jobs;
}

bool phase_clients(struct bench *bench, struct error *error) {
    int64_t jobs = bench->options->jobs;
    const struct asked asked[] = {
        {"enqueue_one", "enqueueing by one client", 1, false, within(jobs / 20, 16, 10000)},
        {"enqueue", "enqueueing by 16 clients", MANY, false, within(jobs / 10, 64, 50000)},
        {"enqueue_processes", "enqueueing by 16 processes", MANY, true,
         within(jobs / 10, 64, 50000)},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (!measure(bench, &asked[i], error))
            return false;
    return true;
}
