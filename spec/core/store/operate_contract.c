/* operate_contract.c - verbs as commands: steps, refusals, effects of a job; questions in time. */
#include "contract.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"

/* Creates `count` jobs in one transaction. */
static bool create_many(struct contract *c, int count) {
    bool fine = store_begin(c->store, STORE_COMMAND, &c->error);
    for (int i = 0; fine && i < count; i++)
        fine = create(c, c->store, (struct job){.retries = 3}, NOW);
    return fine && store_commit(c->store, &c->error);
}

static json_t *last_operation(struct contract *c) {
    struct store_page page = {.descending = true, .limit = 1};
    json_t *list = query_list(c->store, &operation_table, NULL, &page, &c->error);
    json_t *last = json_incref(json_array_get(list, 0));
    json_decref(list);
    return last;
}

#define OPERATION(key, text)                                                                       \
    do {                                                                                           \
        json_t *last = last_operation(c);                                                          \
        char *shown = json_dumps(json_object_get(last, key), JSON_ENCODE_ANY);                     \
        bool equal = shown && strcmp(shown, text) == 0;                                            \
        free(shown);                                                                               \
        json_decref(last);                                                                         \
        EXPECT(equal && (key));                                                                    \
    } while (0)

static void goes_on(struct contract *c) {
    struct command_run run = {0};
    EXPECT(create_many(c, 2500));
    json_t *command = json_pack("{ss,s{}}", "verb", "suspend", "query");
    int steps = 0;
    while (command) {
        EXPECT(store_command(c->store, command, &run, NOW, &c->error));
        EXPECT(run.touched == (steps < 2 ? 1000u : 500u));
        json_decref(command);
        command = run.rest;
        /* Who comes meanwhile is not meant. */
        EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
        steps++;
    }
    EXPECT(steps == 3 && matches(c, "{\"suspended\":true}") == 2500);
    OPERATION("count", "2500");
    OPERATION("entity", "\"2500 jobs\"");
    OPERATION("old", "\"active\"");
}

static void whole_thousand(struct contract *c) {
    struct command_run run = {0};
    EXPECT(create_many(c, 1000));
    json_t *command = json_pack("{ss,s{}}", "verb", "suspend", "query");
    EXPECT(store_command(c->store, command, &run, NOW, &c->error));
    json_decref(command);
    EXPECT(run.touched == 1000 && !run.rest);
}

static void refused_ids(struct contract *c) {
    EXPECT(create_many(c, 2));
    EXPECT(!contract_operate(c, "{ss,s[iii],si}", "verb", "set_retries", "ids", 1, 2, 99, "retries",
                             5));
    EXPECT(c->error.code == ERROR_NOT_FOUND);
    EXPECT_ERROR("no job 99");
    FIELD(1, "retries", NOW, "3");
    EXPECT(!last_operation(c));
}

static void refused_words(struct contract *c) {
    EXPECT(!contract_operate(c, "{ss,si}", "verb", "set_priority", "ids", 1));
    EXPECT_ERROR("set_priority: priority is missing");
    EXPECT(!contract_operate(c, "{ss,ss}", "verb", "suspend", "ids", "1"));
    EXPECT_ERROR("suspend: ids \"1\": expected an integer or a list of integers");
    EXPECT(!contract_operate(c, "{ss,ss}", "verb", "suspend_definition", "definition", "none"));
    EXPECT(c->error.code == ERROR_NOT_FOUND);
    EXPECT_ERROR("unknown definition \"none\"");
    EXPECT(!contract_operate(c, "{ss,ss,ss}", "verb", "activate_definition", "definition", "none",
                             "at", "2027-01-01T00:00:00Z"));
    EXPECT_ERROR("unknown definition \"none\"");
    EXPECT(!contract_operate(c, "{ss,ss}", "verb", "suspend_instance", "instance", ""));
    EXPECT_ERROR("suspend_instance: instance \"\": expected a text that is not empty");
    EXPECT(!contract_operate(c, "{ss,s{ss}}", "verb", "delete", "query", "handlr", "x"));
    EXPECT_ERROR("unknown filter \"handlr\" (did you mean \"handler\"?)");
    EXPECT(!contract_operate(c, "{ss,si}", "verb", "resolve", "incident", 1));
    EXPECT_ERROR("no incident 1");
}

static void resolves(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    EXPECT(give_dead_letter(c->store, IDS(id), NOW, &c->error));
    OPERATION("verb", "\"dead_letter\"");
    OPERATION("old", "\"3\"");
    OPERATION("new", "\"0\"");
    EXPECT(contract_operate(c, "{ss,si,ss}", "verb", "resolve", "incident", 1, "note", "known"));
    FIELD(id, "state", NOW, "dead");
    EXPECT(!contract_operate(c, "{ss,si}", "verb", "resolve", "incident", 1));
    EXPECT(c->error.code == ERROR_CONFLICT);
    EXPECT_ERROR("incident 1 is resolved already");
}

static void resolves_none(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    EXPECT(give_dead_letter(c->store, IDS(id), NOW, &c->error));
    EXPECT(give_delete(c->store, IDS(id), NOW, &c->error));
    EXPECT(!contract_operate(c, "{ss,si}", "verb", "resolve", "incident", 1));
    EXPECT_ERROR("incident 1 is closed with its job already");
}

static void previews(struct contract *c) {
    struct command_run run = {.dry_run = true};
    EXPECT(create_many(c, 3));
    json_t *command = json_pack("{ss,s{}}", "verb", "delete", "query");
    EXPECT(store_command(c->store, command, &run, NOW, &c->error) && run.touched == 3);
    json_decref(command);
    struct job *job = acquire_one(c, c->store, NOW);
    command = json_pack("{ss,s[ii]}", "verb", "delete", "ids", 1, 2);
    EXPECT(!store_command(c->store, command, &run, NOW, &c->error));
    json_decref(command);
    EXPECT_ERROR("job 1 is locked by \"node/1\" (cancel it instead)");
    EXPECT(matches(c, "{}") == 3 && !last_operation(c));
    job_free(job);
}

/* Every key that some verb takes; those that this one refuses are left out. */
static json_t *whole_command(enum command_verb verb) {
    static const char keys[] =
        "{\"ids\":[], \"definition\":\"none\", \"instance\":\"none\", \"incident\":9, \"batch\":9,"
        " \"plan\":{}, \"schedule\":\"none\", \"executor\":\"none\", \"deployment\":9, "
        "\"process\":\"none\", \"task\":9, "
        "\"retries\":1, \"limit\":1, \"rate\":\"1/PT1S\","
        " \"priority\":1, \"due\":null, \"cycle\":\"R/PT1H\", \"note\":\"\", "
        "\"removal_time\":\"never\"}";
    static const char unknown[] = "unknown key \"";
    json_t *whole = json_loads(keys, 0, NULL);
    struct command command;
    struct error refused = {0};
    json_object_set_new(whole, "verb", json_string(command_name(verb)));
    while (!command_read(&command, whole, &refused)) {
        char key[32] = "";
        const char *at = strstr(refused.text, unknown);
        if (!at || sscanf(at + strlen(unknown), "%31[a-z_]", key) != 1)
            break;
        json_object_del(whole, key);
    }
    return whole;
}

/* A command for things that are not there may be refused, but not because no code does it. */
static void each_has_code(struct contract *c) {
    for (int verb = 0; verb < COMMAND_COUNT; verb++) {
        json_t *command = whole_command((enum command_verb)verb);
        struct command_run run = {0};
        bool fine = store_command(c->store, command, &run, NOW, &c->error);
        EXPECT(fine || (c->error.code != ERROR_FAILED && !strstr(c->error.text, "missing")));
        json_decref(run.rest);
        json_decref(command);
    }
}

/* An outcome of success that asks for these verbs. */
static int settle_with(struct contract *c, struct job *job, json_t *effects) {
    struct outcome good = {.kind = OUTCOME_SUCCESS, .effects = effects};
    int settled = settle(c, c->store, job, good, NOW);
    json_decref(effects);
    return settled;
}

static void effects(struct contract *c) {
    EXPECT(create_many(c, 2));
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(settle_with(c, job,
                       json_pack("[{ss,si,si}]", "verb", "set_priority", "ids", 2, "priority",
                                 9)) == SETTLED);
    FIELD(2, "priority", NOW, "9");
    OPERATION("who", "\"job 1\"");
    EXPECT(give_set_priority(c->store, IDS(2), 5, NOW, &c->error));
    json_t *last = last_operation(c);
    bool mine = strcmp(json_string_value(json_object_get(last, "who")), "job 1") != 0;
    json_decref(last);
    EXPECT(mine);
}

static void effects_refused(struct contract *c) {
    EXPECT(create_many(c, 3));
    struct job *job = acquire_one(c, c->store, NOW), *next = acquire_one(c, c->store, NOW);
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    EXPECT(settle(c, c->store, next, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW) == SETTLED);
    struct job *again = job_copy(job);
    json_t *asked = json_pack("[{ss,ss},{ss,si}]", "verb", "suspend_instance", "instance", "i",
                              "verb", "delete", "ids", 99);
    EXPECT(settle_with(c, job, asked) == -1);
    EXPECT_ERROR("no job 99");
    struct outcome bad = {.kind = OUTCOME_FAILURE};
    EXPECT(settle(c, c->store, again, bad, NOW) == SETTLED);
    EXPECT(store_commit(c->store, &c->error));
    FIELD(1, "retries", NOW, "2");
    EXPECT(matches(c, "{}") == 2 && !last_operation(c));
    EXPECT(create(c, c->store, (struct job){.retries = 3, .instance = "i"}, NOW));
    FIELD(4, "state", NOW, "ready");
}

static void effects_go_on(struct contract *c) {
    EXPECT(create_many(c, 1101));
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(settle_with(c, job,
                       json_pack("[{ss,ss,sb}]", "verb", "suspend_definition", "definition", "work",
                                 "include_jobs", 1)) == SETTLED);
    EXPECT(matches(c, "{\"suspended\":true}") == 1000);
    EXPECT(matches(c, "{\"handler\":\"moonshift/operate\"}") == 1);
    job = acquire_one(c, c->store, NOW); /* the highest priority left is anybody's */
    while (job && strcmp(job->handler, "moonshift/operate") != 0) {
        job_free(job);
        job = acquire_one(c, c->store, NOW);
    }
    EXPECT(job);
    json_t *command = json_loadb(job->payload, job->payload_size, 0, NULL);
    EXPECT(settle_with(c, job, json_pack("[o]", command)) == SETTLED);
    EXPECT(matches(c, "{\"suspended\":true}") == 1100);
    OPERATION("count", "1100");
}

static void budget(struct contract *c) {
    int64_t count = 0;
    EXPECT(create_many(c, 3000));
    time_ms before = c->store->db.budget;
    c->store->db.budget = 0;
    EXPECT(!store_jobs_count(c->store, NULL, NOW, &count, &c->error));
    c->store->db.budget = before;
    EXPECT(c->error.code == ERROR_FAILED);
    EXPECT(strstr(c->error.text, " took longer than 0 s (expected one that looks at less: other "
                                 "filters, pages by id)"));
    EXPECT(matches(c, "{}") == 3000);
}

/* The questions of a look before have taken all the time that there was. */
static void budget_again(struct contract *c) {
    bool own = false;
    int64_t count = 0;
    EXPECT(create_many(c, 3000));
    EXPECT(store_look(c->store, &own, &c->error));
    c->store->db.deadline = 1;
    store_look_on(c->store);
    bool counted = store_jobs_count(c->store, NULL, NOW, &count, &c->error);
    store_look_end(c->store, own);
    EXPECT(own && counted && count == 3000);
    store_look_on(c->store);
    EXPECT(c->store->db.deadline == 0);
}

static void sorts(struct contract *c) {
    static const char *const fields[] = {
        "id",       "type",       "handler",         "payload",    "priority",       "due",
        "repeat",   "retries",    "attempt",         "crashes",    "exclusive",      "lane",
        "instance", "root",       "activity",        "definition", "category",       "deployment",
        "tenant",   "batch",      "suspended",       "state",      "created",        "message",
        "rev",      "lock_owner", "lock_expiration", "token",      "failed_activity"};
    EXPECT(create_many(c, 2));
    job_free(acquire_one(c, c->store, NOW));
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct store_page page = {.sort = fields[i], .limit = 10};
        json_t *jobs = store_jobs(c->store, NULL, &page, NOW, &c->error);
        size_t count = json_array_size(jobs);
        json_decref(jobs);
        EXPECT(count == 2);
    }
}

static const struct check checks[] = {
    {"more than a thousand jobs take several steps and one entry", goes_on},
    {"a thousand jobs are one step", whole_thousand},
    {"an unknown id in a list changes nothing", refused_ids},
    {"what cannot be read, or is not there, is refused", refused_words},
    {"an incident is resolved once, its job untouched", resolves},
    {"an incident that was closed with its job cannot be resolved", resolves_none},
    {"a preview counts and refuses, and writes nothing", previews},
    {"every verb has code", each_has_code},
    {"what a job asks for is done with its success, in its name", effects},
    {"effects that are refused leave the transaction as it was", effects_refused},
    {"effects on more than a thousand jobs go on as a job", effects_go_on},
    {"a question that takes too long is ended", budget},
    {"questions of one look may each take as long as one alone", budget_again},
    {"jobs are sorted by every field they show", sorts},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
