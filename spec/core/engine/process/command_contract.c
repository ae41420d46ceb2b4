/* command_contract.c - how often a command waits for a server. Run with spec/postgres/contracts. */
#include "../../store/contract.h"
#include "../../store/postgres/turn/asked.h"
#include "../../store/process_site.h"
#include "base/json.h"
#include "engine/engine_state.h"
#include "engine/process/settle_list.h"

enum { RUNS = 3 }; /* the first two learn what the others build on */

static const char *const processes[][2] = {
    {"processes/asks.lua", "return { tag = 'v1', p.task 'look' {} }"},
    {"processes/goes.lua", "return { p.step 'pay' { run = 'pay' }, p.task 'look' {} }"},
    {"processes/waits.lua", "return { p.receive 'paid' { message = 'paid', key = "
                            "'${instance.key}' } }"},
    {"processes/stands.lua", "return { p.receive 'sent' {} }"},
    {"processes/called.lua", "return { p.start 'new' { message = 'new' }, p.task 'look' {} }"},
    {"processes/takes.lua", "return { p.receive 'more' { message = 'new' } }"},
    {"processes/calls.lua", "return { p.call 'ask' { process = 'asks' }, p.task 'sign' {} }"},
    {"processes/asks_first.lua", "return { p.task 'look' {}, p.call 'ask' { process = 'asks' } }"},
    {"processes/works.lua", "return { p.step 'pay' { run = 'pay', async = true } }"},
    {"processes/bound.lua", "return { p.task 'look' {}, p.boundary 'late' { on = 'look', after = "
                            "'PT1H', p.finish 'lost' {} } }"},
    {"processes/sleeps.lua", "return { p.wait 'night' { after = 'PT8H' } }"},
    {"processes/works_often.lua", "return { p.each 'day' { times = 7, parallel = true,"
                                  " p.step 'pay' { run = 'pay', async = true } } }"},
    {"processes/sends.lua", "return { p.step 'charge' { topic = 'charge' } }"},
};

/* Another version of the first one. */
static const char asks_more[] = "return { tag = 'v1', p.task 'look' {}, p.task 'sign' {} }";

static struct folder *folder_of(bool newer, struct error *error) {
    json_t *files =
        json_pack("[{ssss}]", "path", "handlers/pay.lua", "text", "return function() end");
    for (size_t i = 0; i < sizeof processes / sizeof *processes; i++)
        json_array_append_new(
            files, json_pack("{ssso}", "path", processes[i][0], "text",
                             json_sprintf("local p = require 'moonshift.process' %s",
                                          i == 0 && newer ? asks_more : processes[i][1])));
    struct folder *folder = folder_from_json(files, "spec", 0, error);
    json_decref(files);
    return folder;
}

/* An engine over the store under test. */
struct site {
    struct settings settings;
    char url[128];
    struct engine *engine;
};

static bool site_open_with(struct contract *c, struct site *site, bool newer) {
    struct folder *folder = folder_of(newer, &c->error);
    snprintf(site->url, sizeof site->url, "%s", c->url);
    site->settings = c->settings;
    site->settings.store = site->url;
    site->settings.patience = 3600 * 1000; /* no lane is moved on, however long a list walks */
    const struct engine_options options = {
        .settings = &site->settings, .mode = STORE_CREATE, .folder = folder};
    site->engine = folder ? engine_open(&options, &c->error) : NULL;
    folder_release(folder);
    return site->engine != NULL;
}

static bool site_open(struct contract *c, struct site *site) {
    return site_open_with(c, site, false);
}

static int64_t waits(const struct site *site) {
    return postgres_of(site->engine->store)->session.waits;
}

/* The id of the instance; 0: error. Takes the command over. */
static int64_t command(struct contract *c, struct site *site, json_t *object) {
    json_t *answer = NULL;
    bool done = engine_process(site->engine, object, &answer, &c->error);
    int64_t id = json_integer_value(answer);
    json_decref(answer);
    json_decref(object);
    return done ? id : 0;
}

static int64_t start(struct contract *c, struct site *site, const char *process, int key) {
    return command(c, site,
                   json_of("{'kind': 'start', 'process': '%s', 'key': 'k-%d'}", process, key));
}

static int64_t task_of(struct contract *c, struct site *site, int64_t instance) {
    json_t *question = json_of("{'filters': {'instance': %lld}, 'limit': 1}", (long long)instance);
    json_t *rows = engine_ask(site->engine, ASK_TASKS, question, &c->error);
    int64_t id = json_integer_value(json_object_get(json_array_get(rows, 0), "id"));
    json_decref(rows);
    json_decref(question);
    return id;
}

/* A command that is given to an instance that waits as this process says; NULL: it begins one. */
struct verb {
    const char *process, *words;
    bool of_task;
    bool of_called; /* it is given to the instance that this one has called */
};

/* The instance that it has called. */
static int64_t called_by(struct contract *c, int64_t instance) {
    char sql[80];
    snprintf(sql, sizeof sql, "SELECT id FROM instance WHERE parent=%lld", (long long)instance);
    return contract_number(c, sql);
}

static json_t *words_of(const struct verb *verb, int64_t id, int run) {
    if (!verb->process)
        return json_of(verb->words, run);
    if (strstr(verb->words, "message"))
        return json_of(verb->words, run);
    return json_of(verb->words, (long long)id);
}

/* The waits of the last of several runs; -1: error. */
static int64_t waits_of(struct contract *c, const struct verb *verb) {
    struct site site;
    int64_t found = -1;
    bool done = site_open(c, &site);
    for (int run = 0; done && run < RUNS; run++) {
        int64_t id = verb->process ? start(c, &site, verb->process, run) : 1;
        id = id && verb->of_called ? called_by(c, id) : id;
        id = id && verb->of_task ? task_of(c, &site, id) : id;
        int64_t before = id ? waits(&site) : 0;
        done = id && command(c, &site, words_of(verb, id, run)) != 0;
        found = done ? waits(&site) - before : -1;
    }
    engine_close(site.engine);
    return found;
}

#define WAITS(count, ...) EXPECT(waits_of(c, &(struct verb){__VA_ARGS__}) == (count))

static void begins(struct contract *c) {
    WAITS(2, NULL, "{'kind': 'start', 'process': 'asks'}");
    WAITS(2, NULL, "{'kind': 'start', 'process': 'goes'}");
    WAITS(2, NULL, "{'kind': 'start', 'process': 'works'}");
    WAITS(2, NULL, "{'kind': 'start', 'process': 'asks', 'key': 'k-%d', 'unique': true}");
}

/* The one that runs is found as the version is read. */
static void begins_alone(struct contract *c) {
    struct site site;
    EXPECT(site_open(c, &site));
    const char *words = "{'kind': 'start', 'process': 'asks', 'key': 'k', 'unique': true}";
    const int64_t id = command(c, &site, json_of("%s", words));
    EXPECT(id != 0);
    for (int run = 0; run < RUNS; run++)
        EXPECT(start(c, &site, "asks", run) != 0);
    int64_t before = waits(&site);
    EXPECT(command(c, &site, json_of("%s", words)) == 0 && c->error.code == ERROR_CONFLICT);
    EXPECT(waits(&site) - before == 1);
    engine_close(site.engine);
}

static void begins_a_version(struct contract *c) {
    WAITS(2, NULL, "{'kind': 'start', 'process': 'asks', 'version': 1}");
    WAITS(2, NULL, "{'kind': 'start', 'process': 'asks', 'tag': 'v1'}");
}

/* The version of an instance that begins so; 0: error. */
static int64_t version_of(struct contract *c, struct site *site, const char *words) {
    char sql[80];
    int64_t id = command(c, site, json_of("{'kind': 'start', 'process': 'asks', %s}", words));
    snprintf(sql, sizeof sql, "SELECT version FROM instance WHERE id=%lld", (long long)id);
    return id ? contract_number(c, sql) : 0;
}

/* The second version has the same tag. */
static void begins_the_one_meant(struct contract *c) {
    struct site site;
    EXPECT(site_open(c, &site));
    engine_close(site.engine);
    EXPECT(site_open_with(c, &site, true));
    int64_t first =
        contract_number(c, "SELECT id FROM process_version WHERE key='asks' AND number=1");
    for (int run = 0; run < RUNS; run++) {
        EXPECT(version_of(c, &site, "'version': 1") == first);
        EXPECT(version_of(c, &site, "'tag': 'v1'") > first);
        EXPECT(version_of(c, &site, "'version': 9") == 0 && c->error.code == ERROR_NOT_FOUND);
    }
    engine_close(site.engine);
}

/* That nothing waits for it is asked beside what it begins. */
static void begins_by_message(struct contract *c) {
    WAITS(2, NULL, "{'kind': 'message', 'message': 'new'}");
    WAITS(2, NULL, "{'kind': 'message', 'message': 'new', 'starts': true}");
}

/* Of two that wait none is meant, and nothing begins. */
static void goes_to_what_waits(struct contract *c) {
    struct site site;
    EXPECT(site_open(c, &site));
    for (int run = 0; run < RUNS; run++) {
        EXPECT(start(c, &site, "takes", 0) && start(c, &site, "takes", 1));
        EXPECT(!command(c, &site, json_of("{'kind': 'message', 'message': 'new'}")));
        EXPECT(c->error.code == ERROR_CONFLICT);
    }
    EXPECT(contract_number(c, "SELECT count(*) FROM instance") == 2 * RUNS);
    engine_close(site.engine);
}

static void of_a_task(struct contract *c) {
    WAITS(2, "asks", "{'kind': 'complete', 'task': %lld}", true);
    WAITS(2, "goes", "{'kind': 'complete', 'task': %lld, 'variables': {'x': 1}}", true);
}

static void of_a_message(struct contract *c) {
    WAITS(2, "waits", "{'kind': 'message', 'message': 'paid', 'key': 'k-%d'}");
}

static void of_an_instance(struct contract *c) {
    WAITS(2, "asks", "{'kind': 'set', 'instance': %lld, 'variables': {'x': 1}}");
    WAITS(2, "stands", "{'kind': 'trigger', 'instance': %lld}");
    WAITS(2, "asks", "{'kind': 'cancel', 'instance': %lld}");
}

/* A timer or a job that nothing runs goes with what waited for it. */
static void of_what_has_jobs(struct contract *c) {
    WAITS(2, NULL, "{'kind': 'start', 'process': 'bound'}");
    WAITS(2, "bound", "{'kind': 'complete', 'task': %lld}", true);
    WAITS(2, "bound", "{'kind': 'cancel', 'instance': %lld}");
    WAITS(2, "sleeps", "{'kind': 'cancel', 'instance': %lld}");
    WAITS(2, "works", "{'kind': 'cancel', 'instance': %lld}");
    const char *gone = "SELECT count(*) FROM ended WHERE outcome=3 AND instance IS NOT NULL";
    EXPECT(contract_number(c, gone) == 4 * RUNS);
    EXPECT(contract_number(c, "SELECT (SELECT count(*) FROM job WHERE instance_id IS NOT NULL)"
                              " - (SELECT count(*) FROM timer)") == 0);
    EXPECT(contract_number(c, "SELECT count(*) FROM timer") == RUNS);
}

/* The caller goes on, or what was called ends with it. */
static void of_two(struct contract *c) {
    WAITS(3, NULL, "{'kind': 'start', 'process': 'calls'}");
    WAITS(3, "asks_first", "{'kind': 'complete', 'task': %lld}", true);
    WAITS(3, "calls", "{'kind': 'complete', 'task': %lld}", true, true);
    WAITS(3, "calls", "{'kind': 'cancel', 'instance': %lld}", .of_called = true);
    WAITS(3, "calls", "{'kind': 'cancel', 'instance': %lld}");
}

/* ---- jobs ---- */

enum { CREATIONS = 64 }; /* for which ids are drawn once */

static bool create_jobs(struct contract *c, struct site *site, const char *words, int first) {
    bool done = true;
    for (int i = first; done && i < first + CREATIONS; i++) {
        struct engine_spec spec = {.object = json_of(words, i)};
        struct created created;
        done = engine_enqueue(site->engine, &spec, 1, &created, NULL, &c->error);
        engine_spec_clear(&spec);
    }
    return done;
}

/* The waits of so many creations, each alone; -1: error. */
static int64_t creation_waits(struct contract *c, const char *words) {
    struct site site;
    int64_t found = -1;
    bool done = site_open(c, &site);
    for (int run = 0; done && run < RUNS; run++) {
        int64_t before = waits(&site);
        done = create_jobs(c, &site, words, run * CREATIONS);
        found = done ? waits(&site) - before : -1;
    }
    engine_close(site.engine);
    return found;
}

/* A unique key is claimed by the message that begins. */
static void of_a_job(struct contract *c) {
    const int64_t most = 2 * CREATIONS + 1;
    EXPECT(creation_waits(c, "{'handler': 'pay', 'priority': %d}") == most);
    EXPECT(creation_waits(c, "{'handler': 'pay', 'in': 3%03d}") == most);
    EXPECT(creation_waits(c, "{'handler': 'pay', 'lane': 'l-%d'}") == most);
    EXPECT(creation_waits(c, "{'handler': 'pay', 'unique': 'u-%d'}") == most);
    EXPECT(creation_waits(c, "{'handler': 'pay', 'payload': {'n': %d}}") == most);
}

/* ---- lists ---- */

enum { FEW = 100, MANY = 1000 };

/* Messages that nothing waits for are kept. */
static json_t *kept_list(int first, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(
            list, json_of("{'kind': 'message', 'message': 'paid', 'key': 'k-%d', 'keep': 'PT1H'}",
                          first + i));
    return list;
}

/* What a list asks of the server; waits 0: error. */
static struct asked list_asks(struct contract *c, struct site *site, json_t *list) {
    struct contract at = {.store = site->engine->store};
    struct engine_order given = {.now = true};
    const struct asked before = asked_now(&at);
    json_t *answer = NULL;
    bool done = engine_process_list(site->engine, list, &given, &answer, NULL, &c->error);
    json_decref(answer);
    json_decref(list);
    return asked_since(&at, before, done);
}

/* A list of this verb for so many instances of its process, which begin before. */
static json_t *list_of(struct contract *c, struct site *site, const struct verb *verb, int first,
                       int count) {
    json_t *list = json_array(), *ids = NULL;
    struct engine_order given = {.now = true};
    for (int i = 0; verb->process && i < count; i++)
        json_array_append_new(list, json_of("{'kind': 'start', 'process': '%s', 'key': 'k-%d'}",
                                            verb->process, first + i));
    if (verb->process && !engine_process_list(site->engine, list, &given, &ids, NULL, &c->error))
        count = 0;
    json_array_clear(list);
    for (int i = 0; i < count; i++) {
        int64_t id = json_integer_value(json_array_get(ids, (size_t)i));
        id = verb->of_task ? task_of(c, site, id) : id;
        json_array_append_new(list, words_of(verb, id, first + i));
    }
    json_decref(ids);
    return list;
}

/* A list alone: it asks what its starts begin with, draws their ids, and is written. */
static void begins_a_list(struct contract *c) {
    struct site site;
    struct asked asked = {0};
    const struct verb tasks = {NULL, "{'kind': 'start', 'process': 'asks', 'key': 'k-%d'}"};
    const struct verb bodies = {NULL, "{'kind': 'start', 'process': 'works_often', 'key': 'k-%d'}"};
    EXPECT(site_open(c, &site));
    for (int run = 0; run < RUNS; run++)
        asked = list_asks(c, &site, list_of(c, &site, &tasks, run * FEW, FEW));
    EXPECT(asked.waits == 5);
    for (int run = 0; run < RUNS; run++)
        asked = list_asks(c, &site, list_of(c, &site, &bodies, run * FEW, FEW));
    EXPECT(asked.waits > 5 && asked.waits <= 9);
    engine_close(site.engine);
}

static bool list_as_often(struct contract *c, const struct verb *verb) {
    struct site site;
    struct asked few = {0}, many = {0};
    bool done = site_open(c, &site);
    for (int run = 0; done && run < RUNS; run++)
        few = list_asks(c, &site, list_of(c, &site, verb, run * FEW, FEW));
    if (done)
        many = list_asks(c, &site, list_of(c, &site, verb, MANY, MANY));
    engine_close(site.engine);
    return as_much(few, many);
}

#define AS_OFTEN(...) EXPECT(list_as_often(c, &(struct verb){__VA_ARGS__}))

static void walks_a_list(struct contract *c) {
    AS_OFTEN(NULL, "{'kind': 'start', 'process': 'asks'}");
    AS_OFTEN(NULL, "{'kind': 'start', 'process': 'works', 'key': 'k-%d'}");
    AS_OFTEN(NULL, "{'kind': 'start', 'process': 'sleeps', 'key': 'k-%d'}");
    AS_OFTEN(NULL, "{'kind': 'start', 'process': 'asks', 'key': 'k-%d', 'unique': true}");
    AS_OFTEN(NULL, "{'kind': 'start', 'process': 'calls', 'key': 'k-%d'}");
    AS_OFTEN("asks", "{'kind': 'complete', 'task': %lld}", true);
    AS_OFTEN("waits", "{'kind': 'message', 'message': 'paid', 'key': 'k-%d'}");
    AS_OFTEN("asks", "{'kind': 'set', 'instance': %lld, 'variables': {'x': 1}}");
    AS_OFTEN("stands", "{'kind': 'trigger', 'instance': %lld}");
    AS_OFTEN("asks", "{'kind': 'cancel', 'instance': %lld}");
    AS_OFTEN("bound", "{'kind': 'complete', 'task': %lld}", true);
    AS_OFTEN("works", "{'kind': 'cancel', 'instance': %lld}");
    AS_OFTEN("works_often", "{'kind': 'cancel', 'instance': %lld}");
}

/* ---- external tasks ---- */

/* A worker hands so many back, of as many instances that begin before; waits 0: error. */
static struct asked handed_back(struct contract *c, struct site *site, int count) {
    const struct verb sends = {NULL, "{'kind': 'start', 'process': 'sends', 'key': 'k-%d'}"};
    struct contract at = {.store = site->engine->store};
    struct text text = {0}, answer = {0};
    json_t *fetch = json_of("{'worker': 'w', 'topics': ['charge'], 'max': %d}", count), *outcomes;
    bool done = list_asks(c, site, list_of(c, site, &sends, 0, count)).waits > 0 &&
                engine_fetch(site->engine, fetch, &text, &c->error);
    outcomes = done ? json_read(text.data, text.size, "jobs", &c->error) : NULL;
    done = done && (int)json_array_size(outcomes) == count;
    json_t *question = json_array();
    for (int i = 0; done && i < count; i++) {
        const json_t *job = json_array_get(outcomes, (size_t)i);
        json_array_append_new(question, json_pack("{sI sI ss}", "id", json_int(job, "id"), "token",
                                                  json_int(job, "token"), "outcome", "complete"));
    }
    question = json_pack("{so}", "outcomes", question);
    const struct asked before = asked_now(&at);
    done = done && engine_settle(site->engine, question, &answer, &c->error) &&
           !strstr(answer.data, "\"code\"");
    const struct asked asked = asked_since(&at, before, done);
    json_decref(fetch);
    json_decref(outcomes);
    json_decref(question);
    text_clear(&text);
    text_clear(&answer);
    return asked;
}

/* A few more for their pages. A walk that a busy machine holds up goes by itself: then it is tried
 * again. */
static void hands_back(struct contract *c) {
    struct site site;
    bool alike = false;
    EXPECT(site_open(c, &site) && handed_back(c, &site, 1).waits > 0);
    for (int run = 0; !alike && run < 50; run++) {
        const struct asked few = handed_back(c, &site, 10), many = handed_back(c, &site, 90);
        alike =
            few.waits > 0 && many.waits <= few.waits + 4 && many.statements <= few.statements + 8;
    }
    engine_close(site.engine);
    EXPECT(alike);
}

static void keeps_a_list(struct contract *c) {
    struct site site;
    EXPECT(site_open(c, &site));
    for (int run = 0; run < RUNS; run++)
        EXPECT(list_asks(c, &site, kept_list(run * FEW, FEW)).waits > 0);
    const struct asked few = list_asks(c, &site, kept_list(RUNS * FEW, FEW));
    const struct asked many = list_asks(c, &site, kept_list(MANY, MANY));
    EXPECT(as_much(few, many));
    const int64_t kept = contract_number(c, "SELECT count(*) FROM kept_message");
    EXPECT(kept == (RUNS + 1) * FEW + MANY);
    EXPECT(start(c, &site, "waits", 7) != 0); /* it is given its own */
    EXPECT(contract_number(c, "SELECT count(*) FROM kept_message WHERE job IS NOT NULL") == 1);
    EXPECT(contract_number(c, "SELECT count(*) FROM operation WHERE verb='correlate'") == kept);
    engine_close(site.engine);
}

/* What an instance of the list waits for is given what the list keeps, in either order. */
static void keeps_beside_a_start(struct contract *c) {
    struct site site;
    EXPECT(site_open(c, &site));
    for (int first = 0; first < 2; first++) {
        json_t *list = kept_list(first, 1);
        json_array_insert_new(
            list, (size_t)first,
            json_of("{'kind': 'start', 'process': 'waits', 'key': 'k-%d'}", first));
        EXPECT(list_asks(c, &site, list).waits > 0);
    }
    EXPECT(contract_number(c, "SELECT count(*) FROM kept_message WHERE job IS NOT NULL") == 2);
    engine_close(site.engine);
}

/* ---- what has changed between both ---- */

/* A command whose handler does something to the store in the middle. */
static void changed(struct contract *c) {
    struct site site, other;
    EXPECT(site_open(c, &site) && site_open(c, &other));
    for (int i = 0; i < RUNS; i++)
        EXPECT(start(c, &site, "asks", i) != 0);
    int64_t before = waits(&site);
    EXPECT(start(c, &other, "asks", RUNS) != 0); /* counters alone */
    EXPECT(start(c, &site, "asks", RUNS) != 0 && waits(&site) - before == 2);
    engine_close(other.engine);
    engine_close(site.engine);
}

static const struct check checks[] = {
    {"a command that begins an instance waits twice", begins},
    {"a start beside one that must be alone waits once", begins_alone},
    {"a start of a version waits twice", begins_a_version},
    {"a start of a version or a tag begins that one", begins_the_one_meant},
    {"a message goes to what waits before it begins an instance", goes_to_what_waits},
    {"a message that begins an instance waits twice", begins_by_message},
    {"a command that completes a task waits twice", of_a_task},
    {"a message that finds its receiver waits twice", of_a_message},
    {"a command to an instance waits twice", of_an_instance},
    {"so does one behind which jobs go that nothing runs", of_what_has_jobs},
    {"a list of commands waits as often for many as for a few, whatever they do", walks_a_list},
    {"ids for all that a list begins are drawn in few requests", begins_a_list},
    {"external tasks that are handed back wait as often for many as for a few", hands_back},
    {"a list of messages that are kept waits as often for many as for a few", keeps_a_list},
    {"a list gives a message that it keeps to what it begins", keeps_beside_a_start},
    {"a job that is created alone waits twice, and once more for ids of many", of_a_job},
    {"a command that touches a called instance waits three times", of_two},
    {"a command of another program makes none wait more often", changed},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
