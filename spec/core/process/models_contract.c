/* models_contract.c - a folder that is loaded behind another one reads the models alone that are
 * not the same. A double of XML_ParserCreateNS counts the readings. */
#include "../store/contract.h"
#include "engine/engine.h"
#include "engine/generation.h"
#include "process/models.h"
#include <expat.h>
#include <stdatomic.h>

static atomic_int readings;

XML_Parser __real_XML_ParserCreateNS(const char *encoding, char separator);
XML_Parser __wrap_XML_ParserCreateNS(const char *encoding, char separator);

XML_Parser __wrap_XML_ParserCreateNS(const char *encoding, char separator) {
    atomic_fetch_add(&readings, 1);
    return __real_XML_ParserCreateNS(encoding, separator);
}

#define MODEL(key, inside)                                                                         \
    "<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL' targetNamespace='t' "        \
    "xmlns:c='http://camunda.org/schema/1.0/bpmn'><process id='" key                               \
    "' isExecutable='true'>" inside "</process></definitions>"
#define START "<startEvent id='s'/>"
#define CALL                                                                                       \
    START "<serviceTask id='x' c:class='a.Work' c:asyncBefore='true'/>"                            \
          "<sequenceFlow id='f' sourceRef='s' targetRef='x'/>"
#define TIMER                                                                                      \
    "<startEvent id='s'><timerEventDefinition><timeCycle>${'R/PT1H'}</timeCycle>"                  \
    "</timerEventDefinition></startEvent>"
#define WORK "return function() end"

typedef const char *const files[][2];

static struct folder *folder_of(struct contract *c, files given, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{ssss}", "path", given[i][0], "text", given[i][1]));
    struct folder *folder = folder_from_json(list, "spec", 0, &c->error);
    json_decref(list);
    return folder;
}

/* Checked behind `before` (NULL: none). */
static struct generation *load(struct contract *c, const struct generation *before, files given,
                               size_t count) {
    struct folder *folder = folder_of(c, given, count);
    atomic_store(&readings, 0);
    struct generation *generation = generation_check(
        folder, before ? before->folder : NULL, &c->settings, clock_system(), false, &c->error);
    folder_release(folder);
    return generation;
}

/* Loads and deploys the folder as a program that begins; how many models it reads. -1: error. */
static int begin(struct contract *c, bool checks_only, files given, size_t count) {
    struct folder *folder = folder_of(c, given, count);
    free(c->settings.store);
    c->settings.store = strdup(c->url);
    const struct engine_options options = {.settings = &c->settings,
                                           .mode = STORE_CREATE,
                                           .clock = clock_system(),
                                           .folder = folder,
                                           .checks_only = checks_only};
    atomic_store(&readings, 0);
    struct engine *engine = engine_open(&options, &c->error);
    folder_release(folder);
    int count_read = engine ? atomic_load(&readings) : -1;
    engine_close(engine);
    return count_read;
}

static bool read_were(int count) {
    return atomic_load(&readings) == count;
}

/* The same is deployed, and the next threads know the same. */
static bool equal(const struct generation *one, const struct generation *other) {
    bool same = one && other && json_equal(one->versions, other->versions) &&
                json_equal(one->folder->models, other->folder->models) &&
                one->definitions.count == other->definitions.count;
    for (size_t i = 0; same && i < one->definitions.count; i++)
        same = strcmp(one->definitions.list[i].name, other->definitions.list[i].name) == 0;
    return same;
}

static void same(struct contract *c) {
    files given = {{"handlers/work.lua", WORK},
                   {"processes/a.bpmn", MODEL("a", CALL)},
                   {"processes/b.bpmn", MODEL("b", START)}};
    struct generation *first = load(c, NULL, given, 3);
    EXPECT(first && read_were(2));
    struct generation *second = load(c, first, given, 3);
    EXPECT(read_were(0) && equal(first, second));
    struct generation *third = load(c, second, given, 3);
    EXPECT(read_were(0) && equal(first, third));
    generation_free(first);
    generation_free(second);
    generation_free(third);
}

static void changed(struct contract *c) {
    files given = {{"processes/a.bpmn", MODEL("a", START)},
                   {"processes/b.bpmn", MODEL("b", START)}};
    files next = {{"processes/a.bpmn", MODEL("a", START)},
                  {"processes/b.bpmn", MODEL("new", START)},
                  {"processes/c.bpmn", MODEL("c", START)}};
    files last = {{"processes/c.bpmn", MODEL("c", START)}};
    struct generation *first = load(c, NULL, given, 2), *second = load(c, first, next, 3);
    EXPECT(read_were(2) && second && json_array_size(second->versions) == 3);
    struct generation *third = load(c, second, last, 1), *fresh = load(c, NULL, last, 1);
    EXPECT(equal(third, fresh) && json_array_size(third->versions) == 1);
    generation_free(first);
    generation_free(second);
    generation_free(third);
    generation_free(fresh);
}

/* A start timer is asked when the folder is loaded. */
static void timed(struct contract *c) {
    files given = {{"processes/a.bpmn", MODEL("a", TIMER)},
                   {"processes/b.bpmn", MODEL("b", START)}};
    struct generation *first = load(c, NULL, given, 2), *second = load(c, first, given, 2);
    EXPECT(first && second && read_were(1));
    generation_free(first);
    generation_free(second);
}

static void lost(struct contract *c) {
    files given = {{"handlers/work.lua", WORK}, {"processes/a.bpmn", MODEL("a", CALL)}};
    struct generation *first = load(c, NULL, given, 2);
    EXPECT(!load(c, first, given + 1, 1));
    EXPECT_ERROR("processes/a.bpmn:1: \"x\": there is no handler for its class \"a.Work\" "
                 "(looked for activities/a/x.lua, handlers/a/Work.lua, handlers/Work.lua, "
                 "handlers/work.lua)");
    generation_free(first);
}

static void twice(struct contract *c) {
    files given = {{"processes/b.bpmn", MODEL("b", START)}};
    files next = {{"processes/a.bpmn", MODEL("b", START)}, {"processes/b.bpmn", MODEL("b", START)}};
    struct generation *first = load(c, NULL, given, 1);
    EXPECT(!load(c, first, next, 2));
    EXPECT_ERROR("processes/b.bpmn:1: \"b\": a process of this key is in processes/a.bpmn, too");
    generation_free(first);
}

/* Where the next program begins, the store says what was found. */
static void kept(struct contract *c) {
    files given = {{"processes/a.bpmn", MODEL("a", START)},
                   {"processes/b.bpmn", MODEL("b", START)}};
    files next = {{"processes/a.bpmn", MODEL("a", START)},
                  {"processes/b.bpmn", MODEL("new", START)}};
    int64_t count = 0;
    EXPECT(begin(c, true, given, 2) == 2 && begin(c, true, given, 2) == 0);
    EXPECT(begin(c, false, given, 2) == 0);
    EXPECT(begin(c, true, next, 2) == 1 && begin(c, true, next, 2) == 0);
    EXPECT(db_value(&c->store->db, &c->error, &count, "SELECT count(*) FROM process", "") == YES &&
           count == 3);
}

/* Data of another program, or of nobody knows whom, is not trusted. */
static void strange(struct contract *c) {
    files given = {{"processes/a.bpmn", MODEL("a", START)}};
    static const char *const changes[] = {
        "UPDATE folder_models SET program='0.0.1 00 0'",
        "UPDATE folder_models SET found='{\"models\":{\"processes/a.bpmn\":{\"processes\":7}}}'",
        "UPDATE folder_models SET found='{'"};
    EXPECT(begin(c, true, given, 1) == 1);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        EXPECT(db_execute(&c->store->db, changes[i], &c->error));
        EXPECT(begin(c, true, given, 1) == 1);
    }
}

/* What is found in models depends on the settings that this names. */
static void program(struct contract *c) {
    char before[MODELS_PROGRAM], after[MODELS_PROGRAM];
    struct settings other = c->settings;
    models_program(&c->settings, before);
    models_program(&other, after);
    EXPECT(strcmp(before, after) == 0);
    other.cron = other.cron == CRON_AUTO ? CRON_QUARTZ : CRON_AUTO;
    models_program(&other, after);
    EXPECT(strcmp(before, after) != 0);
}

static const struct check checks[] = {
    {"models are read anew with another dialect of cron", program},
    {"what was found in models is kept in the store for the next program", kept},
    {"what another program has found, or is of no such shape, is found anew", strange},
    {"models that are the same are not read, and deployed all the same", same},
    {"models that changed, came or went are as in a folder without one before", changed},
    {"a model with a start timer is read again", timed},
    {"a model whose handler is gone is refused", lost},
    {"a model whose process is in a new file, too, is refused", twice},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
