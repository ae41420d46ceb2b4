/* deployment_contract.c - which deployment of a name counts, and what an executor writes that takes
 * its files from the store. */
#include "contract.h"
#include "store/folder_kept.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"

/* Deploys `work` with this priority as "shop"; `known` as in struct store_deployment. Its id; 0:
 * error. */
static int64_t deploy(struct contract *c, const char *hash, int priority, int64_t known) {
    json_t *declared = json_pack("[{s:s, s:i}]", "name", "work", "priority", priority);
    struct definitions definitions = {0};
    int64_t id = 0;
    bool done =
        definitions_read(&definitions, declared) &&
        store_deploy(c->store,
                     &(struct store_deployment){
                         .name = "shop", .hash = hash, .definitions = &definitions, .known = known},
                     "node", NOW, &id, &c->error) &&
        definitions.list[0].id > 0;
    definitions_clear(&definitions);
    json_decref(declared);
    return done ? id : 0;
}

static int64_t current(struct contract *c, const char *name) {
    int64_t id = 0;
    int found = store_deployment_current(c->store, name, &id, &c->error);
    return found > 0 ? id : found;
}

static void newest(struct contract *c) {
    EXPECT(current(c, "shop") == 0);
    EXPECT(deploy(c, "h1", 1, 0) == 1 && current(c, "shop") == 1);
    EXPECT(deploy(c, "h2", 2, 0) == 2 && current(c, "shop") == 2);
    EXPECT(current(c, "sho") == 0);
}

static void taken_back(struct contract *c) {
    EXPECT(deploy(c, "h1", 1, 0) == 1 && deploy(c, "h2", 2, 0) == 2 && deploy(c, "h3", 3, 0) == 3);
    EXPECT(deploy(c, "h1", 1, 0) == 1 && current(c, "shop") == 1);
    EXPECT(deploy(c, "h2", 2, 0) == 2 && current(c, "shop") == 2);
    EXPECT(deploy(c, "h3", 3, 0) == 3 && current(c, "shop") == 3);
    EXPECT(deploy(c, "h4", 4, 0) == 4 && current(c, "shop") == 4);
}

/* For how many executors the first one is registered. -1: it is told otherwise than in a list. */
static int registered(struct contract *c) {
    json_t *rows = query_list(c->store, &deployment_table, NULL, NULL, &c->error);
    const json_t *executors = json_object_get(json_array_get(rows, 0), "executors");
    int count = json_is_array(executors) ? (int)json_array_size(executors) : -1;
    json_decref(rows);
    return count;
}

static void known(struct contract *c) {
    int64_t from = 0;
    EXPECT(deploy(c, "h1", 1, 0) == 1 && deploy(c, "h2", 2, 0) == 2);
    EXPECT(contract_operate(c, "{ss,si,ss}", "verb", "unregister", "deployment", 1, "executor",
                            "node"));
    EXPECT(registered(c) == 0);
    EXPECT(deploy(c, "h1", 1, 1) == 1 && current(c, "shop") == 2);
    EXPECT(store_knows(c->store, "work", &from, &c->error) == YES && from == 2);
    EXPECT(registered(c) == 1);
    EXPECT(deploy(c, "h9", 1, 9) == 0);
    EXPECT_ERROR("deployment 9 was removed");
}

/* Is it the one that counts, with `work` of this priority? -1: only the hash is asked for. */
static enum answer deployed(struct contract *c, const char *hash, int priority, int64_t *id) {
    json_t *declared = json_pack("[{s:s, s:i}]", "name", "work", "priority", priority);
    struct definitions definitions = {0};
    const struct store_deployment asked = {
        .name = "shop", .hash = hash, .definitions = priority < 0 ? NULL : &definitions};
    enum answer found = FAILED;
    if (definitions_read(&definitions, declared))
        found = store_deployed(c->store, &asked, id, &c->error);
    if (found == YES && priority >= 0 && definitions.list[0].id == 0)
        found = FAILED;
    definitions_clear(&definitions);
    json_decref(declared);
    return found;
}

static void as_it_is(struct contract *c) {
    int64_t id = 0;
    EXPECT(deployed(c, "h1", -1, &id) == NO);
    EXPECT(deploy(c, "h1", 1, 0) == 1 && deploy(c, "h2", 2, 0) == 2);
    EXPECT(deployed(c, "h2", -1, &id) == YES && id == 2);
    EXPECT(deployed(c, "h2", 2, &id) == YES && deployed(c, "h2", 3, &id) == NO);
    EXPECT(deployed(c, "h1", -1, &id) == NO && deployed(c, "h1", 1, &id) == NO);
    EXPECT(deploy(c, "h1", 1, 0) == 1 && deployed(c, "h1", 1, &id) == YES && id == 1);
    EXPECT(deployed(c, "h2", -1, &id) == NO && deployed(c, "h3", -1, &id) == NO);
}

/* The deployment of these files of "shop"; 0: it is not known; -1: error, or another hash. */
static int64_t marked(struct contract *c, const char *mark) {
    char hash[65] = "";
    int64_t id = 0;
    enum answer found = store_folder_marked(c->store, "shop", mark, &id, hash, &c->error);
    if (found == NO)
        return 0;
    const char *expected = id == 1 ? "h1" : "h2";
    return found == YES && strcmp(hash, expected) == 0 ? id : -1;
}

static void marks(struct contract *c) {
    int64_t id = 0;
    char hash[65], mark[16];
    EXPECT(deploy(c, "h1", 1, 0) == 1 && deploy(c, "h2", 2, 0) == 2 && marked(c, "m") == 0);
    EXPECT(store_folder_mark(c->store, 1, "m", &c->error) && marked(c, "m") == 1);
    EXPECT(store_folder_mark(c->store, 2, "m", &c->error) && marked(c, "m") == 2);
    EXPECT(store_folder_marked(c->store, "sho", "m", &id, hash, &c->error) == NO);
    for (int i = 0; i < 99; i++) {
        snprintf(mark, sizeof mark, "m%d", i);
        EXPECT(store_folder_mark(c->store, 2, mark, &c->error));
    }
    EXPECT(marked(c, "m") == 2 && marked(c, "m98") == 2);
    EXPECT(store_folder_mark(c->store, 2, "more", &c->error) && marked(c, "more") == 2);
    EXPECT(marked(c, "m") == 0);
}

/* Another connection sees that a file has changed. */
static void unwritten(struct contract *c) {
    struct store_executor self;
    int64_t before = 0, after = 0;
    if (strncmp(c->url, "sqlite:", 7) != 0)
        return;
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(other && deploy(c, "h1", 1, 0) == 1 && store_folder_mark(other, 1, "m", &c->error));
    db_value(&c->store->db, &c->error, &before, "PRAGMA data_version", "");
    bool done = store_folder_mark(other, 1, "m", &c->error);
    db_value(&c->store->db, &c->error, &after, "PRAGMA data_version", "");
    store_close(other);
    EXPECT(done && before == after);
}

/* ---- what becomes of the definitions ---- */

static bool deploy_all(struct contract *c, const char *hash, json_t *declared, int64_t *id) {
    struct definitions definitions = {0};
    bool done = definitions_read(&definitions, declared) &&
                store_deploy(c->store,
                             &(struct store_deployment){
                                 .name = "shop", .hash = hash, .definitions = &definitions},
                             NULL, NOW, id, &c->error);
    for (size_t i = 0; done && i < definitions.count; i++) {
        int64_t row = 0;
        done = db_value(&c->store->db, &c->error, &row, "SELECT id FROM definition WHERE name=?1",
                        "t", definitions.list[i].name) == YES &&
               row == definitions.list[i].id;
    }
    definitions_clear(&definitions);
    json_decref(declared);
    return done;
}

/* The definition is of this deployment, and its row has the text. */
static bool has(struct contract *c, const char *name, int64_t deployment, const char *text) {
    int64_t found = 0;
    return db_value(&c->store->db, &c->error, &found,
                    "SELECT count(*) FROM definition WHERE name=?1 AND deployment=?2"
                    " AND properties LIKE '%'||?3||'%'",
                    "tit", name, deployment, text) == YES &&
           found == 1;
}

static json_t *three(const char *first, const char *second, int priority, const char *third) {
    return json_pack("[{s:s, s:i, s:i}, {s:s, s:i}, {s:s}]", "name", first, "priority", 7, "limit",
                     2, "name", second, "priority", priority, "name", third);
}

static void definitions_move(struct contract *c) {
    int64_t one = 0, two = 0;
    EXPECT(deploy_all(c, "h1", three("keeps", "changes", 1, "goes"), &one));
    EXPECT(deploy_all(c, "h2", three("keeps", "changes", 2, "comes"), &two) && two != one);
    EXPECT(has(c, "keeps", two, "\"limit\":2") && has(c, "changes", two, "\"priority\":2"));
    EXPECT(has(c, "goes", one, "") && has(c, "comes", two, ""));
    EXPECT(deploy_all(c, "h1", three("keeps", "changes", 1, "goes"), &two) && two == one);
    EXPECT(has(c, "keeps", one, "") && has(c, "changes", one, "\"priority\":1"));
    EXPECT(has(c, "goes", one, "") && has(c, "comes", 2, ""));
}

/* A try that was undone has left ids, which say nothing. */
static void definitions_again(struct contract *c) {
    struct definitions definitions = {0};
    json_t *declared = three("one", "two", 1, "three");
    int64_t id = 0;
    EXPECT(deploy_all(c, "h1", three("one", "two", 1, "four"), &id));
    EXPECT(definitions_read(&definitions, declared) && definitions.count == 3);
    for (size_t i = 0; i < definitions.count; i++)
        definitions.list[i].id = 77;
    EXPECT(store_deploy(
        c->store,
        &(struct store_deployment){.name = "shop", .hash = "h2", .definitions = &definitions}, NULL,
        NOW, &id, &c->error));
    EXPECT(has(c, "one", id, "") && has(c, "two", id, "") && has(c, "three", id, ""));
    EXPECT(definitions.list[0].id != 77 && definitions.list[1].id != 77);
    definitions_clear(&definitions);
    json_decref(declared);
}

static const struct check checks[] = {
    {"definitions go over to the next deployment, changed or not, and the others stay",
     definitions_move},
    {"definitions are written whatever ids a try before has left", definitions_again},
    {"a folder is known by its mark, and of a hundred marks all go", marks},
    {"a mark that is known is not written again", unwritten},
    {"the newest deployment of a name counts", newest},
    {"one that was taken back counts until the next one", taken_back},
    {"a deployment is there as it is if it counts, with the same definitions", as_it_is},
    {"one that the store knows is registered, and nothing else changes", known},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
