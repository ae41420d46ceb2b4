/* processes.c - what instances of each kind of process cost. processes.lua says which there are.
 * They are started and run by processes of their own: so their memory is its own. Several clients
 * may start them, each a share. */
#include "base/json.h"
#include "base/log.h"
#include "bench/client_group.h"
#include "bench/phases.h"
#include "lua/lua_program.h"
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#define PROGRAM "core/bench/processes.lua"
enum { CLIENTS_MAX = 8 };

struct flow {
    struct bench *bench;
    const json_t *row; /* as processes.lua has it */
    int64_t instances, jobs;
    struct rig rig;
    struct client_group *group; /* of the client that this process is; NULL: it is none */
    int client;
    struct found { /* shared with the child processes */
        struct meter started[CLIENTS_MAX], ran;
    } * found;
};

static const char *name_of(const struct flow *flow) {
    return json_string_value(json_object_get(flow->row, "kind"));
}

static int64_t number_of(const struct flow *flow, const char *key) {
    return json_integer_value(json_object_get(flow->row, key));
}

/* A client is told to begin as it says that it has done nothing. The first one tells of all. */
static bool goes_on(void *arg, int64_t done) {
    const struct flow *flow = arg;
    if (flow->group && done == 0)
        client_group_ready(flow->group);
    if (flow->client == 0)
        rig_tell(&flow->rig, name_of(flow), done * number_of(flow, "clients"), flow->instances);
    return place_goes_on(NULL);
}

/* ---- in child processes ---- */

/* Runs one step of the program; `used` has the time that it answers with. */
static bool program(struct flow *flow, const char *step, struct meter *used, struct error *error) {
    const struct rig *rig = &flow->rig;
    json_t *asked = json_pack(
        "{ss ss ss ss sO sI sI sI sI si}", "step", step, "store", rig->settings.store, "scripts",
        flow->bench->place.path, "kind", name_of(flow), "process",
        json_object_get(flow->row, "process"), "instances", (json_int_t)flow->instances, "commands",
        (json_int_t)number_of(flow, "commands"), "list", (json_int_t)number_of(flow, "list"),
        "clients", (json_int_t)number_of(flow, "clients"), "client", flow->client);
    struct lua_program run = {.path = PROGRAM, .asked = asked, .tell = goes_on, .arg = flow};
    struct meter from = meter_read();
    json_t *answer = asked ? lua_program_run(&run, error) : NULL;
    *used = meter_since(&from);
    used->at = json_integer_value(answer);
    bool fine = answer || (asked ? false : error_no_memory(error));
    json_decref(answer);
    json_decref(asked);
    return fine && place_goes_on(error);
}

static bool start(struct client_group *group, int index, void *arg, struct error *error) {
    struct flow *flow = arg;
    flow->group = group;
    flow->client = index;
    return program(flow, "start", &flow->found->started[index], error);
}

static bool start_all(struct flow *flow, struct error *error) {
    struct client_group *group = client_group_new((int)number_of(flow, "clients"), error);
    bool fine = group && client_group_fork(group, start, flow, error);
    client_group_free(group);
    return fine;
}

/* What all clients took, and the time of the slowest. */
static struct meter started(const struct flow *flow) {
    struct meter all = {0};
    for (int i = 0; i < number_of(flow, "clients"); i++) {
        const struct meter *one = &flow->found->started[i];
        all.at = one->at > all.at ? one->at : all.at;
        all.peak = one->peak > all.peak ? one->peak : all.peak;
        all.cpu += one->cpu;
        all.writes.syncs += one->writes.syncs;
        all.writes.commits += one->writes.commits;
        all.writes.log += one->writes.log;
    }
    return all;
}

static bool run(void *arg, struct error *error) {
    struct flow *flow = arg;
    return rig_drain(&flow->rig, name_of(flow), flow->bench->options->workers, flow->jobs,
                     &flow->found->ran, error);
}

/* Each instance has ended as completed. */
static bool prove(void *arg, struct error *error) {
    struct meter unused;
    return program(arg, "prove", &unused, error);
}

/* ---- the table ---- */

/* Where there are jobs they are what is measured, else the commands. */
static bool put(const struct flow *flow, json_t *list) {
    struct meter began = started(flow), *used = flow->jobs ? &flow->found->ran : &began;
    int64_t commands = flow->instances * number_of(flow, "commands");
    int64_t units = flow->jobs ? flow->jobs : commands;
    double instances = (double)flow->instances;
    json_t *row = json_object();
    bool fine = row && json_put_text(row, "kind", name_of(flow)) &&
                json_put(row, "what", json_incref(json_object_get(flow->row, "what"))) &&
                json_put(row, "instances", json_integer(flow->instances)) &&
                meter_put(row, "per_second", meter_rate(flow->instances, used->at)) &&
                meter_put(row, "units_per_second", meter_rate(units, used->at));
    fine = fine && meter_put(row, "cpu_us", used->cpu * 1e6 / instances) &&
           (used->server == 0 || meter_put(row, "server_cpu_us", used->server * 1e6 / instances)) &&
           meter_put_written(row, used, instances, flow->bench->options->store) &&
           meter_put(row, "commands_per_second", meter_rate(commands, began.at)) &&
           meter_put(row, "peak_kb", (double)used->peak);
    return json_array_append_new(list, row) == 0 && fine;
}

/* Room for the ids of the instances, too. */
static bool work(struct flow *flow, struct error *error) {
    if (!kinds_folder(flow->bench, flow->row, error) ||
        !rig_open(&flow->rig, flow->bench, flow->instances + flow->jobs, error))
        return false;
    rig_release(&flow->rig);
    return start_all(flow, error) && (!flow->jobs || client_group_alone(run, flow, error)) &&
           client_group_alone(prove, flow, error);
}

static bool measure(struct bench *bench, const json_t *row, struct found *found, json_t *list,
                    struct error *error) {
    struct flow flow = {.bench = bench, .row = row, .found = found};
    json_t *share = json_object_get(row, "share");
    double wanted = (double)bench->options->jobs * (share ? json_number_value(share) : 1);
    flow.instances = (int64_t)ceil(wanted);
    flow.jobs = flow.instances * number_of(&flow, "jobs");
    *found = (struct found){0};
    bool fine = place_goes_on(error) && work(&flow, error);
    rig_close(&flow.rig);
    return fine && (put(&flow, list) || error_no_memory(error));
}

static bool measure_all(struct bench *bench, const json_t *kinds, struct error *error) {
    json_t *list = json_array(), *row;
    size_t i;
    struct found *found =
        mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool fine = json_put(bench->report, "processes", list) && kinds_put_asked(bench);
    if (!fine || found == MAP_FAILED)
        return error_no_memory(error);
    json_array_foreach(kinds, i, row) {
        const char *name = json_string_value(json_object_get(row, "kind"));
        if (fine && bench_wants(bench->options->only, name))
            fine = measure(bench, row, found, list, error);
    }
    munmap(found, sizeof *found);
    return fine;
}

json_t *bench_processes(const struct bench_options *options, struct error *error) {
    return kinds_bench(options, PROGRAM, measure_all, error);
}
