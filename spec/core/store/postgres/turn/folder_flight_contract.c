/* folder_flight_contract.c - a folder that is deployed waits for the server as often for many
 * handlers as for a few. Run with spec/postgres/contracts. */
#include "../../process_site.h"
#include "asked.h"

enum { FEW = 100 };

/* A folder with so many handlers, processes and schedules. */
struct folder {
    struct definition list[FEW];
    char names[FEW][16];
    struct definitions definitions;
    json_t *processes, *schedules;
    struct store_deployment deployment;
};

static void folder_fill(struct folder *folder, const char *name, int count) {
    *folder = (struct folder){.definitions = {.count = (size_t)count, .list = folder->list},
                              .processes = json_array(),
                              .schedules = json_array()};
    for (int i = 0; i < count; i++) {
        snprintf(folder->names[i], sizeof folder->names[i], "%s%02d", name, i);
        folder->list[i] =
            (struct definition){.name = folder->names[i], .properties = json_object()};
        json_array_append_new(folder->processes,
                              json_of("{'key': '%s', 'kind': 'lua', 'path': 'p', 'hash': '%d'}",
                                      folder->names[i], count));
        json_array_append_new(
            folder->schedules,
            json_of("{'name': '%s', 'spec': {'handler': '%s', 'cycle': 'R/PT1H'}}",
                    folder->names[i], folder->names[i]));
    }
    folder->deployment = (struct store_deployment){.name = name,
                                                   .hash = "a",
                                                   .definitions = &folder->definitions,
                                                   .processes = folder->processes,
                                                   .schedules = folder->schedules};
}

static void folder_clear(struct folder *folder) {
    for (size_t i = 0; i < folder->definitions.count; i++)
        json_decref(folder->list[i].properties);
    json_decref(folder->processes);
    json_decref(folder->schedules);
}

/* What it costs to deploy the folder, which the store has under the hash "a". */
static struct asked deploy_again(struct contract *c, struct folder *folder, const char *hash) {
    int64_t id = 0;
    struct asked before = asked_now(c);
    folder->deployment.hash = hash;
    bool done = store_deploy(c->store, &folder->deployment, NULL, NOW, &id, &c->error);
    return asked_since(c, before, done);
}

static struct asked known(struct contract *c, const char *name, int count) {
    static struct folder folder;
    int64_t id = 0;
    folder_fill(&folder, name, count);
    struct asked asked = {0};
    if (store_deploy(c->store, &folder.deployment, NULL, NOW, &id, &c->error))
        asked = deploy_again(c, &folder, "a");
    folder_clear(&folder);
    return asked;
}

/* One of the handlers has changed since. */
static struct asked changed(struct contract *c, const char *name, int count) {
    static struct folder folder;
    int64_t id = 0;
    folder_fill(&folder, name, count);
    folder.deployment.processes = folder.deployment.schedules = NULL;
    struct asked asked = {0};
    if (store_deploy(c->store, &folder.deployment, NULL, NOW, &id, &c->error)) {
        json_object_set_new(folder.list[1].properties, "changed", json_true());
        asked = deploy_again(c, &folder, "b");
    }
    folder_clear(&folder);
    return asked;
}

static void folders(struct contract *c) {
    known(c, "first", 2); /* the statements are known now */
    struct asked few = known(c, "small", 2), many = known(c, "large", FEW);
    EXPECT(as_much(few, many) && few.waits < 6);
}

static void changes(struct contract *c) {
    changed(c, "first", 2); /* the statements are known now */
    struct asked few = changed(c, "small", 2), many = changed(c, "large", FEW);
    EXPECT(as_much(few, many));
}

static const struct check checks[] = {
    {"a folder that is known is found so in as many waits for a large one", folders},
    {"one in which a handler has changed is written in as many waits for a large one", changes},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
