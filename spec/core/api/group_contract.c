/* group_contract.c - threads that create jobs on one engine: each has its own answer, and what was
 * acknowledged is there. */
#include "../store/contract.h"
#include "api/group.h"
#include "run/thread.h"
#include "store/sqlite/connection.h"

enum { THREADS = 16, CALLS = 150 };

struct client {
    struct thread thread;
    struct group *group;
    int index;
    int64_t ids[CALLS * 2];
    int count, refused, wrong;
};

static json_t *spec_of(const struct client *client, int call) {
    return call % 10 == 9 ? json_pack("{ss}", "handler", "nobody")
           : call % 10 == 8
               ? json_pack("{ss sb ss ss}", "handler", "w", "unchecked", 1, "unique", "k",
                           "on_conflict", "refuse")
               : json_pack("{ss sb si}", "handler", "w", "unchecked", 1, "priority", client->index);
}

static void note(struct client *client, int call, const struct engine_created *created, bool fine,
                 const struct error *error) {
    if (fine) {
        client->ids[client->count++] = created[0].id;
        client->ids[client->count++] = created[1].id;
    } else if (call % 10 == 9 && strstr(error->text, "unknown handler \"nobody\"")) {
        client->refused++;
    } else if (call % 10 == 8 && strstr(error->text, "unique \"k\" of \"w\" is held by job ")) {
        client->refused++;
    } else {
        client->wrong++;
    }
}

/* Two jobs a call, of which the second one is often refused. */
static void *work(void *arg) {
    struct client *client = arg;
    for (int call = 0; call < CALLS; call++) {
        struct engine_draft drafts[2] = {{.brief = {.unchecked = true}}};
        struct engine_created created[2];
        struct error error = {0};
        drafts[0].brief.names[BRIEF_HANDLER] = "first";
        drafts[0].brief.sizes[BRIEF_HANDLER] = 5;
        drafts[1].spec = spec_of(client, call);
        bool fine = group_enqueue(client->group, drafts, 2, created, &error);
        note(client, call, created, fine, &error);
        json_decref(drafts[1].spec);
    }
    return NULL;
}

static bool is_there(struct contract *c, int64_t id) {
    int64_t one = 0;
    return db_value(&c->store->db, &c->error, &one, "SELECT 1 FROM job WHERE id=?1", "i", id) == 1;
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
    struct group *group = engine ? group_new(engine, &c->error) : NULL;
    bool fine = group != NULL;
    for (int i = 0; fine && i < THREADS; i++) {
        clients[i] = (struct client){.group = group, .index = i};
        fine = thread_start(&clients[i].thread, work, &clients[i]);
    }
    int64_t count = 0, refused = 0;
    for (int i = 0; i < THREADS; i++) {
        thread_join(&clients[i].thread);
        fine = fine && clients[i].wrong == 0;
        for (int at = 0; at < clients[i].count; at++)
            fine = fine && is_there(c, clients[i].ids[at]);
        count += clients[i].count;
        refused += clients[i].refused;
    }
    group_free(group);
    engine_close(engine);
    free(url);
    EXPECT(fine);
    EXPECT(refused == THREADS * CALLS / 5 - 1); /* one has the key */
    EXPECT(count == 2 * (THREADS * CALLS - refused) && jobs(c) == count);
}

static const struct check checks[] = {
    {"of many threads each has its own answer, and what it was told is there", acknowledged},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
