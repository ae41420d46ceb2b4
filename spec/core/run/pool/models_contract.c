/* models_contract.c - workers begin without reading a model: the check of the folder has read it. A
 * double of XML_ParserCreateNS counts the readings. */
#include "site.h"
#include <expat.h>
#include <stdatomic.h>

static atomic_int readings;

XML_Parser __real_XML_ParserCreateNS(const char *encoding, char separator);
XML_Parser __wrap_XML_ParserCreateNS(const char *encoding, char separator);

XML_Parser __wrap_XML_ParserCreateNS(const char *encoding, char separator) {
    atomic_fetch_add(&readings, 1);
    return __real_XML_ParserCreateNS(encoding, separator);
}

#define MODEL(key)                                                                                 \
    "<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL' targetNamespace='t'>"        \
    "<process id='" key "' isExecutable='true'><startEvent id='s'/></process></definitions>"

static const char *const first[][2] = {
    {"handlers/gated.lua",
     "return function(job)\n  while not io.open(job.payload.path) do end\nend"},
    {"processes/a.bpmn", MODEL("a")},
    {"processes/b.bpmn", MODEL("b")},
};

static const char *const second[][2] = {
    {"handlers/gated.lua",
     "return function(job)\n  while not io.open(job.payload.path) do end\nend"},
    {"processes/a.bpmn", MODEL("changed")},
    {"processes/b.bpmn", MODEL("b")},
};

/* Two workers run at once, so each has loaded the folder; then both end. */
static bool two_run(struct contract *c, struct site *site, int id) {
    char path[160];
    snprintf(path, sizeof path, "%s/open", c->directory);
    remove(path);
    if (!submit_gated(c, site, id) || !submit_gated(c, site, id + 1) || !loaded(site, 2, 0) ||
        !let_go(c))
        return false;
    struct outcome *list = outcomes(site, 2);
    bool fine =
        list && list->next && list->kind == OUTCOME_SUCCESS && list->next->kind == OUTCOME_SUCCESS;
    outcome_free_list(list);
    return fine;
}

static void the_check_reads_each_model_once_and_the_workers_none(struct contract *c) {
    OPEN(2);
    atomic_store(&readings, 0);
    EXPECT(renew(c, &site, first, 3) && atomic_load(&readings) == 2);
    EXPECT(two_run(c, &site, 1) && atomic_load(&readings) == 2);
    EXPECT(renew(c, &site, second, 3) && atomic_load(&readings) == 4);
    EXPECT(two_run(c, &site, 3) && atomic_load(&readings) == 4);
    CLOSE;
}

static const struct check checks[] = {
    {"the check reads each model once, and the workers none",
     the_check_reads_each_model_once_and_the_workers_none},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
