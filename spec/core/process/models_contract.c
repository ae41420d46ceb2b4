/* models_contract.c - a folder that is loaded behind another one reads the models alone that are
 * not the same. A double of XML_ParserCreateNS counts the readings. */
#include "../store/contract.h"
#include "engine/generation.h"
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

/* Checked behind `before` (NULL: none). */
static struct generation *load(struct contract *c, const struct generation *before, files given,
                               size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{ssss}", "path", given[i][0], "text", given[i][1]));
    struct folder *folder = folder_from_json(list, "spec", 0, &c->error);
    atomic_store(&readings, 0);
    struct generation *generation = generation_check(
        folder, before ? before->folder : NULL, &c->settings, clock_system(), false, &c->error);
    folder_release(folder);
    json_decref(list);
    return generation;
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

static const struct check checks[] = {
    {"models that are the same are not read, and deployed all the same", same},
    {"models that changed, came or went are as in a folder without one before", changed},
    {"a model with a start timer is read again", timed},
    {"a model whose handler is gone is refused", lost},
    {"a model whose process is in a new file, too, is refused", twice},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
