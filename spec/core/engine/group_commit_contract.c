/* group_contract.c - threads that create jobs on one engine: each has its own answer, and what is
 * acknowledged is there at once. */
#include "../store/contract.h"
#include "base/thread.h"
#include "engine/group_commit.h"
#include "store/sqlite/db/connection.h"

enum { THREADS = 16, CALLS = 150 };

struct client {
    struct thread thread;
    struct group_commit *group;
    struct store *eyes; /* a connection of its own */
    int index;
    int count, refused, wrong;
};

static json_t *spec_of(const struct client *client, int call) {
    if (call % 10 == 9)
        return json_pack("{ss}", "handler", "nobody");
    if (call % 10 == 8)
        return json_pack("{ss sb si ss ss}", "handler", "w", "unchecked", 1, "priority",
                         client->index, "unique", "k", "on_conflict", "refuse");
    return json_pack("{ss sb si}", "handler", "w", "unchecked", 1, "priority", client->index);
}

/* Both are there already, and no other client's; `at`: which of them has a spec. */
static bool is_own(const struct client *client, const struct created created[2], int at) {
    struct error error = {0};
    int64_t priority = -1;
    return db_value(&client->eyes->db, &error, &priority,
                    "SELECT priority FROM job WHERE id=?1 AND EXISTS"
                    " (SELECT 1 FROM job WHERE id=?2)",
                    "ii", created[at].id, created[!at].id) == 1 &&
           priority == client->index && created[1].id == created[0].id + 1;
}

static void note(struct client *client, int call, bool fine, const struct error *error) {
    if (fine) {
        client->count += 2;
    } else if (call % 10 == 9 && strstr(error->text, "unknown handler \"nobody\"")) {
        client->refused++;
    } else if (call % 10 == 8 && strstr(error->text, "unique \"k\" of \"w\" is held by job ")) {
        client->refused++;
    } else {
        client->wrong++;
    }
}

/* Two jobs a call, of which the first or the second one is often refused. */
static void *work(void *arg) {
    struct client *client = arg;
    for (int call = 0; call < CALLS; call++) {
        struct engine_spec specs[2] = {0};
        struct created created[2];
        struct error error = {0};
        int at = call / 10 % 2;
        specs[!at].fast = (struct spec_fast){.unchecked = true};
        specs[!at].fast.names[SPEC_NAME_handler] = "plain";
        specs[!at].fast.sizes[SPEC_NAME_handler] = 5;
        specs[at].object = spec_of(client, call);
        bool fine = group_commit_enqueue(client->group, specs, 2, created, &error);
        note(client, call, fine, &error);
        client->wrong += fine && !is_own(client, created, at);
        json_decref(specs[at].object);
    }
    return NULL;
}

static int64_t jobs(struct contract *c) {
    int64_t count = 0;
    db_value(&c->store->db, &c->error, &count, "SELECT count(*) FROM job", "");
    return count;
}

static void acknowledged(struct contract *c) {
    static struct client clients[THREADS];
    struct settings settings = c->settings;
    char *url = strdup(c->url);
    settings.store = url;
    struct engine_options options = {.settings = &settings, .mode = STORE_CREATE};
    struct engine *engine = engine_open(&options, &c->error);
    struct group_commit *group = engine ? group_commit_new(engine, &c->error) : NULL;
    bool fine = group != NULL;
    for (int i = 0; fine && i < THREADS; i++) {
        struct store *eyes = store_open(url, STORE_READ, &settings, &c->error);
        clients[i] = (struct client){.group = group, .index = i, .eyes = eyes};
        fine = eyes && thread_start(&clients[i].thread, work, &clients[i]);
    }
    int64_t count = 0, refused = 0;
    for (int i = 0; i < THREADS; i++) {
        thread_join(&clients[i].thread);
        store_close(clients[i].eyes);
        fine = fine && clients[i].wrong == 0;
        count += clients[i].count;
        refused += clients[i].refused;
    }
    group_commit_free(group);
    engine_close(engine);
    free(url);
    EXPECT(fine);
    EXPECT(refused == THREADS * CALLS / 5 - 1); /* one has the key */
    EXPECT(count == 2 * (THREADS * CALLS - refused) && jobs(c) == count);
}

static const struct check checks[] = {
    {"of many threads each has its own answer, and what it is told of is there", acknowledged},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
