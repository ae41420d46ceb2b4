/* clients.c - jobs created one a call, by one client and by many. */
#include "base/clamp.h"
#include "base/json.h"
#include "bench/client_group.h"
#include "bench/phases.h"
#include <stdio.h>
#include <stdlib.h>

enum { MANY = 16, TIME_MAX = 5000000 }; /* processes; microseconds of one measurement */

struct asked {
    const char *prefix; /* of the keys */
    const char *doing;
    int clients; /* one: a thread of this process; more: processes */
    int64_t jobs;
};

/* Each client has a connection of its own. */
struct party {
    const struct rig *rig;
    const char *payload; /* as JSON */
    size_t payload_size;
};

static bool ask(const struct party *party, struct engine *engine, int priority,
                struct error *error) {
    struct created created;
    struct engine_spec spec = {.fast = {.names = {[SPEC_NAME_handler] = "noop"},
                                        .sizes = {[SPEC_NAME_handler] = sizeof "noop" - 1},
                                        .payload = party->payload,
                                        .payload_size = party->payload_size,
                                        .priority = priority,
                                        .priority_given = true}};
    return engine_enqueue(engine, &spec, 1, &created, NULL, error);
}

/* One client: as many jobs as its share, or as it gets done in time. The first one is created
 * before the time counts: it loads what a connection needs. */
static bool work(struct client_group *group, int index, void *arg, struct error *error) {
    const struct party *party = arg;
    struct client *client = &group->clients[index];
    uint32_t random = (uint32_t)index;
    struct engine *engine = rig_connect(party->rig, error);
    bool fine = engine != NULL;
    for (int64_t i = -1; fine && i < group->share; i++) {
        if (i == 0)
            client_group_ready(group);
        if (i >= 0 && !client_group_goes_on(group))
            break;
        fine = ask(party, engine, rig_priority(party->rig, &random), error);
        client->done += fine && i >= 0;
    }
    client->ended = clock_monotonic_us();
    engine_close(engine);
    return fine;
}

static bool put(struct bench *bench, const struct asked *asked, const struct client_group *group,
                const struct meter *used) {
    char key[64];
    int64_t done = client_group_done(group);
    snprintf(key, sizeof key, "%s_per_second", asked->prefix);
    bool fine =
        meter_put(bench->report, key, meter_rate(done, client_group_ended(group) - group->began));
    if (asked->clients > 1 || bench->options->store)
        return fine; /* what other processes write is not counted here */
    snprintf(key, sizeof key, "%s_syncs_per_10000", asked->prefix);
    return fine && meter_put(bench->report, key,
                             (double)used->writes.syncs * 10000 / (double)(done ? done : 1));
}

static bool create(struct rig *rig, const struct asked *asked, struct client_group *group,
                   struct error *error) {
    rig_tell(rig, asked->doing, 0, 0);
    group->share = (asked->jobs + asked->clients - 1) / asked->clients;
    group->span = TIME_MAX;
    struct party party = {.rig = rig};
    char *payload = json_write(rig->payload, &party.payload_size);
    party.payload = payload;
    struct meter from = meter_read();
    bool fine = payload || error_no_memory(error);
    if (fine)
        fine = asked->clients > 1 ? client_group_fork(group, work, &party, error)
                                  : client_group_thread(group, work, &party, error);
    struct meter used = meter_since(&from);
    free(payload);
    return fine && (put(rig->bench, asked, group, &used) || error_no_memory(error));
}

/* The store is closed meanwhile: what is open would be open in a child, too. */
static bool measure(struct bench *bench, const struct asked *asked, struct error *error) {
    struct rig rig;
    struct meter unused;
    struct client_group *group = client_group_new(asked->clients, error);
    bool fine = group && rig_open(&rig, bench, asked->jobs + MANY, error);
    if (fine) {
        rig_release(&rig);
        fine = create(&rig, asked, group, error) &&
               rig_drain(&rig, asked->doing, bench->options->workers,
                         client_group_done(group) + asked->clients, &unused, error);
    }
    if (group)
        rig_close(&rig);
    client_group_free(group);
    return fine;
}

bool phase_clients(struct bench *bench, struct error *error) {
    int64_t jobs = bench->options->jobs;
    const struct asked asked[] = {
        {"enqueue_one", "enqueueing by one client", 1, clamp(jobs / 20, 16, 10000)},
        {"enqueue_processes", "enqueueing by 16 processes", MANY, clamp(jobs / 10, 64, 50000)},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (!measure(bench, &asked[i], error))
            return false;
    return true;
}
