/* create_list_contract.c - what many creators ask for is written together: each has its own answer,
 * and a key is answered once. */
#include "../store/contract.h"
#include "base/json.h"
#include "engine/create_list.h"

enum { ENTRIES = 8 };

struct creator {
    struct create_entry entry;
    struct engine_spec spec;
    struct engine_request request;
    struct created created;
};

static json_t *answer_kept(void *arg, const struct created *created, size_t count) {
    (void)arg;
    return count == 1 ? json_integer(created->id) : NULL;
}

/* A key that is NULL: without one. Two of one `what` ask for the same. */
static void begin(struct creator *creator, const char *key, const char *what) {
    creator->spec.object = json_pack("{ss sb ss ss}", "handler", "w", "unchecked", 1, "unique",
                                     what, "on_conflict", "refuse");
    creator->request = (struct engine_request){.asked = {0, key, what}, .answer = answer_kept};
    creator->entry = (struct create_entry){.specs = &creator->spec,
                                           .count = 1,
                                           .created = &creator->created,
                                           .request = key ? &creator->request : NULL};
}

static void write_list(struct engine *engine, struct creator *creators) {
    struct create_list list = {0};
    for (int i = 0; i + 1 < ENTRIES; i++)
        creators[i].entry.next = &creators[i + 1].entry;
    create_list_write(&list, engine, &creators[0].entry);
    create_list_clear(&list);
}

static void end(struct creator *creators) {
    for (int i = 0; i < ENTRIES; i++) {
        engine_spec_clear(&creators[i].spec);
        json_decref(creators[i].request.found);
    }
}

static bool is_new(const struct creator *creator) {
    return creator->entry.fine && !creator->request.found && creator->created.id > 0;
}

static bool is_again(const struct creator *creator, const struct creator *first) {
    return creator->entry.fine && json_integer_value(creator->request.found) == first->created.id;
}

static bool is_refused(const struct creator *creator, const char *why) {
    return !creator->entry.fine && creator->entry.error.code == ERROR_CONFLICT &&
           strstr(creator->entry.error.text, why);
}

static struct engine *open_at(struct contract *c, struct settings *settings) {
    settings->store = strdup(c->url);
    struct engine_options options = {.settings = settings, .mode = STORE_CREATE};
    return engine_open(&options, &c->error);
}

static void answered(struct contract *c) {
    struct creator first[ENTRIES] = {{.created = {0}}}, later[ENTRIES] = {{.created = {0}}};
    struct settings settings = c->settings;
    struct engine *engine = open_at(c, &settings);
    EXPECT(engine != NULL);
    if (!engine)
        return;
    begin(&first[0], NULL, "a");
    begin(&first[1], "k", "b");
    begin(&first[2], NULL, "a"); /* the key of a job is held */
    begin(&first[3], "k", "b");
    begin(&first[4], "k", "c"); /* other content */
    begin(&first[5], "l", "d");
    begin(&first[6], "l", "d");
    begin(&first[7], "m", "a"); /* refused: the request is not kept */
    write_list(engine, first);
    EXPECT(is_new(&first[0]) && is_new(&first[1]) && is_new(&first[5]));
    EXPECT(is_refused(&first[2], "is held by job") && is_refused(&first[7], "is held by job"));
    EXPECT(is_refused(&first[4], "used for something else"));
    EXPECT(is_again(&first[3], &first[1]) && is_again(&first[6], &first[5]));
    begin(&later[0], "k", "b");
    begin(&later[1], "m", "e");
    for (int i = 2; i < ENTRIES; i++)
        begin(&later[i], i % 2 ? "l" : "k", i % 2 ? "d" : "b");
    write_list(engine, later);
    EXPECT(is_new(&later[1]) && is_again(&later[0], &first[1]));
    for (int i = 2; i < ENTRIES; i++)
        EXPECT(is_again(&later[i], i % 2 ? &first[5] : &first[1]));
    int64_t count = 0;
    db_value(&c->store->db, &c->error, &count, "SELECT count(*) FROM job", "");
    EXPECT(count == 4);
    end(first);
    end(later);
    engine_close(engine);
    free((char *)(uintptr_t)settings.store);
}

static const struct check checks[] = {
    {"of creators that are written together each has its own answer, and a key has one", answered},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
