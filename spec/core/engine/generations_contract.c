/* generations_contract.c - which loaded folder runs a job, and how long an older one is kept. */
#include "../store/contract.h"
#include "engine/generations.h"

/* Loads a folder with these handlers, ended by NULL. */
static struct generation *load(struct contract *c, const char *const *names) {
    json_t *files = json_array();
    for (; *names; names++) {
        char path[64];
        snprintf(path, sizeof path, "handlers/%s.lua", *names);
        json_array_append_new(files,
                              json_pack("{ssss}", "path", path, "text", "return function() end"));
    }
    struct folder *folder = folder_from_json(files, "spec", 0, &c->error);
    struct generation *generation =
        folder ? generation_check(folder, NULL, &c->settings, clock_system(), false, &c->error)
               : NULL;
    folder_release(folder);
    json_decref(files);
    return generation;
}

/* Puts a new generation before those that there are. */
static bool renew(struct contract *c, struct generations **generations, const char *const *names) {
    struct generations *before = *generations;
    struct generation *newest = load(c, names);
    *generations = newest ? generations_new(newest, before) : NULL;
    generations_free(before, *generations);
    return *generations != NULL;
}

#define RENEW(...) renew(c, &generations, (const char *const[]){__VA_ARGS__, NULL})

static int number_of(const struct generations *generations, const char *handler) {
    return generations_find(generations, handler)->number;
}

static void newest(struct contract *c) {
    struct generations *generations = NULL;
    EXPECT(RENEW("a", "b") && RENEW("a"));
    EXPECT(generations && number_of(generations, "a") == 1 && number_of(generations, "b") == 0);
    EXPECT(generations && number_of(generations, "unknown") == 1);
    EXPECT(generations && definitions_find(&generations->served, "a") &&
           definitions_find(&generations->served, "b"));
    generations_free(generations, NULL);
}

static void kept(struct contract *c) {
    struct generations *generations = NULL;
    EXPECT(RENEW("a", "b") && RENEW("a") && RENEW("a", "c") && generations->count == 2);
    EXPECT(generations && generations_number(generations, 0) &&
           !generations_number(generations, 1));
    EXPECT(RENEW("b") && generations->count == 2 && number_of(generations, "c") == 2);
    EXPECT(RENEW("a", "b", "c") && generations->count == 1);
    EXPECT(generations && generations->list[0]->number == 4);
    generations_free(generations, NULL);
}

static void refused(struct contract *c) {
    json_t *files = json_pack("[{ssss}]", "path", "handlers/a.lua", "text", "local x = = 1");
    struct folder *folder = folder_from_json(files, "spec", 0, &c->error);
    EXPECT(!generation_check(folder, NULL, &c->settings, clock_system(), false, &c->error));
    EXPECT_ERROR("handlers/a.lua:1: unexpected symbol near '='");
    folder_release(folder);
    json_decref(files);
}

static const struct check checks[] = {
    {"a job runs on the newest generation that has its handler", newest},
    {"a generation is kept while it has a handler that no newer one has", kept},
    {"a folder that cannot be loaded is no generation", refused},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
