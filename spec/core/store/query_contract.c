/* query_contract.c - questions: filters, pages, counts; deployments and definitions. */
#include "contract.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"

static void three_jobs(struct contract *c) {
    static const char payload[] =
        "{\"invoice\":7,\"to\":{\"name\":\"a.b\"},\"paid\":true,\"x\":null}";
    create(c, c->store,
           (struct job){.handler = "bill",
                        .priority = 5,
                        .lane = "l1",
                        .instance = "i1",
                        .category = "money",
                        .payload = payload,
                        .payload_size = sizeof payload - 1},
           NOW);
    create(c, c->store, (struct job){.handler = "mail", .due = NOW + 60000, .type = JOB_TIMER},
           NOW + 1000);
    create(c, c->store, (struct job){.handler = "mail", .priority = -3, .tenant = "t"}, NOW + 2000);
}

static void filters(struct contract *c) {
    static const struct {
        const char *filters;
        int count;
    } cases[] = {
        {"{}", 3},
        {"{\"id\":2}", 1},
        {"{\"id\":[1,3,99]}", 2},
        {"{\"id\":[]}", 0},
        {"{\"handler\":\"mail\"}", 2},
        {"{\"handler\":[\"mail\",\"bill\"]}", 3},
        {"{\"definition\":1}", 1},
        {"{\"definition\":\"mail\"}", 2},
        {"{\"instance\":\"i1\"}", 1},
        {"{\"instance\":null}", 2},
        {"{\"lane\":\"l1\"}", 1},
        {"{\"category\":\"money\"}", 1},
        {"{\"category\":null}", 2},
        {"{\"tenant\":\"t\"}", 1},
        {"{\"deployment\":1}", 0},
        {"{\"state\":\"ready\"}", 2},
        {"{\"state\":[\"scheduled\",\"dead\"]}", 1},
        {"{\"executable\":true}", 2},
        {"{\"executable\":false}", 1},
        {"{\"retries_left\":true}", 3},
        {"{\"no_retries_left\":true}", 0},
        {"{\"locked\":false}", 3},
        {"{\"suspended\":true}", 0},
        {"{\"timer\":true}", 1},
        {"{\"message_job\":true}", 2},
        {"{\"with_exception\":true}", 0},
        {"{\"exception\":\"x\"}", 0},
        {"{\"min_priority\":0,\"max_priority\":5}", 2},
        {"{\"due_before\":\"2026-01-01T00:02:00Z\"}", 1},
        {"{\"due_after\":\"2026-01-01T00:02:00Z\"}", 0},
        {"{\"created_after\":\"2026-01-01T00:00:00.500Z\"}", 2},
        {"{\"created_before\":\"2026-01-01T00:00:00.500Z\"}", 1},
        {"{\"payload\":{\"invoice\":7}}", 1},
        {"{\"payload\":{\"invoice\":\"7\"}}", 0},
        {"{\"payload\":{\"invoice\":[6,7]}}", 1},
        {"{\"payload\":{\"to.name\":\"a.b\"}}", 1},
        {"{\"payload\":{\"paid\":true}}", 1},
        {"{\"payload\":{\"paid\":1}}", 0},
        {"{\"payload\":{\"x\":null}}", 1},
        {"{\"payload\":{\"y\":1}}", 0},
        {"{\"handler\":\"mail\",\"state\":\"ready\"}", 1},
    };
    three_jobs(c);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (matches(c, cases[i].filters) != cases[i].count) {
            error_set(&c->error, ERROR_FAILED, "%s", cases[i].filters);
            EXPECT(!"the right count");
        }
}

static void refuses(struct contract *c) {
    static const struct {
        const char *filters, *text;
    } cases[] = {
        {"{\"handlr\":\"x\"}", "unknown filter \"handlr\" (did you mean \"handler\"?)"},
        {"{\"zzzzzzzz\":1}", "unknown filter \"zzzzzzzz\""},
        {"{\"id\":\"x\"}", "filter \"id\": expected an integer or a list of integers"},
        {"{\"lane\":1.5}", "filter \"lane\": expected a text or a list of texts"},
        {"{\"locked\":1}", "filter \"locked\": expected true or false"},
        {"{\"min_priority\":1.5}", "filter \"min_priority\": expected an integer"},
        {"{\"due_before\":1}",
         "filter \"due_before\": expected a time such as \"2026-01-01T00:00:00Z\""},
        {"{\"state\":\"runing\"}", "filter \"state\": \"runing\" (expected ready, scheduled, "
                                   "locked, waiting, suspended or dead)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        EXPECT(matches(c, cases[i].filters) == -1 && c->error.code == ERROR_INVALID);
        EXPECT_ERROR(cases[i].text);
    }
}

/* More conditions than SQLite takes in one question. */
static void refuses_too_many(struct contract *c) {
    json_t *filters = json_pack("{s:[]}", "id"), *ids = json_object_get(filters, "id");
    for (int i = 0; i < 260000; i++)
        json_array_append_new(ids, json_integer(i));
    json_t *jobs = store_jobs(c->store, filters, NULL, NOW, &c->error);
    json_decref(filters);
    EXPECT(!jobs && c->error.code == ERROR_INVALID);
    EXPECT_ERROR("filters: too long a question (too many SQL variables)");
}

static void pages(struct contract *c) {
    struct store_page page = {.sort = "priority", .descending = true, .limit = 2};
    three_jobs(c);
    json_t *jobs = store_jobs(c->store, NULL, &page, NOW, &c->error);
    EXPECT(json_array_size(jobs) == 2);
    EXPECT(json_integer_value(json_object_get(json_array_get(jobs, 0), "id")) == 1);
    EXPECT(json_integer_value(json_object_get(json_array_get(jobs, 1), "id")) == 2);
    json_decref(jobs);
    page = (struct store_page){.after = 1, .offset = 1, .limit = 9};
    jobs = store_jobs(c->store, NULL, &page, NOW, &c->error);
    EXPECT(json_array_size(jobs) == 1);
    EXPECT(json_integer_value(json_object_get(json_array_get(jobs, 0), "id")) == 3);
    json_decref(jobs);
    page.sort = "prioritty";
    EXPECT(!store_jobs(c->store, NULL, &page, NOW, &c->error));
    EXPECT_ERROR("cannot sort by \"prioritty\" (did you mean \"priority\"?)");
}

static void states(struct contract *c) {
    struct job *job = NULL;
    three_jobs(c);
    int64_t waits = create(c, c->store, (struct job){.lane = "l1"}, NOW);
    EXPECT((job = acquire_one(c, c->store, NOW)) && job->id == 1);
    EXPECT(give_set_suspended(c->store, IDS(2), true, NOW, &c->error));
    EXPECT(give_set_retries(c->store, IDS(3), 0, false, TIME_NONE, NOW, &c->error));
    FIELD(waits, "state", NOW, "waiting");
    EXPECT(matches(c, "{\"state\":\"locked\"}") == 1 && matches(c, "{\"state\":\"dead\"}") == 1);
    EXPECT(matches(c, "{\"state\":\"suspended\"}") == 1);
    EXPECT(matches(c, "{\"state\":[\"waiting\",\"locked\"]}") == 2);
    json_t *stats = store_stats(c->store, NOW, &c->error), *jobs = json_object_get(stats, "jobs");
    EXPECT(json_integer_value(json_object_get(jobs, "locked")) == 1);
    EXPECT(json_integer_value(json_object_get(jobs, "suspended")) == 1);
    EXPECT(json_integer_value(json_object_get(jobs, "dead")) == 1);
    EXPECT(json_integer_value(json_object_get(jobs, "waiting")) == 1);
    EXPECT(json_integer_value(json_object_get(jobs, "ready")) == 0);
    EXPECT(json_integer_value(json_object_get(stats, "open_incidents")) == 1);
    const json_t *incidents = json_object_get(stats, "incidents");
    EXPECT(json_object_size(incidents) == 1 && json_int(incidents, "failedJob") == 1);
    json_t *executor = json_array_get(json_object_get(stats, "executors"), 0);
    EXPECT(strcmp(json_string_value(json_object_get(executor, "name")), "node") == 0);
    EXPECT(json_integer_value(json_object_get(executor, "locked")) == 1);
    json_decref(stats);
    job_free(job);
}

/* What the statistics, the list of definitions, the list of jobs and `why` say of one store. */
static bool agrees(struct contract *c, time_ms now) {
    static const char *const states[] = {"ready",   "scheduled", "locked",
                                         "waiting", "suspended", "dead"};
    json_t *stats = store_stats(c->store, now, &c->error);
    json_t *definitions = store_definitions(c->store, NULL, NULL, now, &c->error);
    json_t *counts = json_object_get(json_array_get(definitions, 0), "counts");
    bool fine = stats && counts;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        int64_t count = 0, told = 0;
        json_t *filters = json_pack("{ss}", "state", states[i]), *job;
        struct store_page page = {.limit = 100};
        json_t *jobs = store_jobs(c->store, filters, &page, now, &c->error);
        size_t at;
        json_array_foreach(jobs, at, job) {
            int64_t id = json_integer_value(json_object_get(job, "id"));
            json_t *why = store_why(c->store, id, now, &c->error);
            const char *state = json_string_value(json_object_get(why, "state"));
            told += state && strcmp(state, states[i]) == 0;
            json_decref(why);
        }
        fine =
            fine && store_jobs_count(c->store, filters, now, &count, &c->error) && count == told &&
            count == (int64_t)json_array_size(jobs) &&
            count == json_integer_value(json_object_get(counts, states[i])) &&
            count == json_integer_value(json_object_get(json_object_get(stats, "jobs"), states[i]));
        json_decref(filters);
        json_decref(jobs);
    }
    json_decref(stats);
    json_decref(definitions);
    return fine;
}

static void one_rule(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){.lane = "l1", .priority = 9, .retries = 3}, NOW));
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job && agrees(c, NOW)); /* one runs in its lane, … */
    EXPECT(create(c, c->store, (struct job){.lane = "l1", .retries = 3}, NOW)); /* one behind it, */
    EXPECT(create(c, c->store, (struct job){.lane = "l1", .due = NOW + 10, .retries = 3}, NOW));
    EXPECT(create(c, c->store, (struct job){.due = NOW + 10, .retries = 3}, NOW));
    EXPECT(create(c, c->store, (struct job){.due = NOW + 900, .retries = 3}, NOW));
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    EXPECT(create(c, c->store, (struct job){.suspended = true, .retries = 3}, NOW));
    int64_t dead = create(c, c->store, (struct job){.retries = 3}, NOW);
    EXPECT(give_set_retries(c->store, IDS(dead), 0, false, TIME_NONE, NOW, &c->error));
    EXPECT(agrees(c, NOW) && agrees(c, NOW + 10) && agrees(c, NOW + 1000));
    EXPECT(matches(c, "{\"state\":\"ready\"}") == 1);
    EXPECT(acquire_count(c, c->store, NOW) == 1 && agrees(c, NOW + 10)); /* parked by now */
    EXPECT(settle(c, c->store, job, (struct outcome){0}, NOW + 10) == SETTLED);
    EXPECT(agrees(c, NOW + 10));
}

static void counts_metrics(struct contract *c) {
    EXPECT(store_metric_add(c->store, 0, METRIC_SUCCESSFUL, 3, &c->error));
    EXPECT(store_metric_add(c->store, 0, METRIC_SUCCESSFUL, 4, &c->error));
    json_t *stats = store_stats(c->store, NOW, &c->error);
    json_t *metrics = json_object_get(stats, "metrics");
    EXPECT(json_integer_value(json_object_get(metrics, "successful")) == 7);
    EXPECT(json_integer_value(json_object_get(metrics, "failed")) == 0);
    json_decref(stats);
}

static bool deploy(struct contract *c, const char *hash, int64_t *id) {
    char names[2][8] = {"a", "b"};
    const struct store_file files[] = {{"handlers/a.lua", "return 1", 8},
                                       {"handlers/b.lua", "return 2", 8}};
    json_t *text = json_loads("[{\"name\":\"a\",\"retries\":4},{\"name\":\"b\"}]", 0, NULL);
    struct definitions definitions = {0};
    (void)names;
    bool done = definitions_read(&definitions, text) &&
                store_deploy(c->store,
                             &(struct store_deployment){.name = "folder",
                                                        .hash = hash,
                                                        .files = files,
                                                        .file_count = 2,
                                                        .definitions = &definitions},
                             "node", NOW, id, &c->error) &&
                definitions.list[0].id == 1 && definitions.list[1].id == 2;
    definitions_clear(&definitions);
    json_decref(text);
    return done;
}

static void deploys(struct contract *c) {
    int64_t first = 0, again = 0, other = 0, of = 0;
    EXPECT(deploy(c, "h1", &first) && deploy(c, "h1", &again) && deploy(c, "h2", &other));
    EXPECT(first == again && other != first);
    EXPECT(store_knows(c->store, "a", &of, &c->error) == YES && of == other);
    EXPECT(store_knows(c->store, "zz", &of, &c->error) == NO);
    EXPECT(create(c, c->store, (struct job){.handler = "zz"}, NOW));
    EXPECT(store_knows(c->store, "zz", NULL, &c->error) == NO);
    json_t *files = store_deployment_files(c->store, first, &c->error);
    json_t *file = json_array_get(files, 1);
    EXPECT(json_array_size(files) == 2);
    EXPECT(strcmp(json_string_value(json_object_get(file, "path")), "handlers/b.lua") == 0);
    EXPECT(strcmp(json_string_value(json_object_get(file, "text")), "return 2") == 0);
    json_decref(files);
    EXPECT(!store_deployment_files(c->store, 9, &c->error));
    EXPECT_ERROR("no deployment 9");
    json_t *list = query_list(c->store, &deployment_table, NULL, NULL, &c->error);
    EXPECT(json_array_size(list) == 2);
    json_decref(list);
}

/* Asks for rows sorted by the column, or with a filter of its name: there are `size` of them. */
static bool answers(struct contract *c, enum ask_kind kind, const struct ask_column *column,
                    const char *value, size_t size) {
    json_t *question = value ? json_pack("{s:{s:o}}", "filters", column->name,
                                         json_loads(value, JSON_DECODE_ANY, NULL))
                             : json_pack("{s:s}", "sort", column->name);
    json_object_set_new(question, "limit", json_integer(10));
    json_t *rows = store_ask(c->store, kind, question, NOW, &c->error);
    bool fine = json_is_array(rows) && json_array_size(rows) == size;
    json_decref(question);
    json_decref(rows);
    return fine;
}

/* Counts the columns that rows are sorted by and found by; -1: one of them gave no answer. */
static int each_column(struct contract *c, enum ask_kind kind, size_t size) {
    int asked = 0;
    for (const struct ask_column *column = store_ask_table(kind)->columns; column->name; column++) {
        const char *none = column->type == ASK_INTEGER ? "[-1]" : "[\"?\"]";
        bool sorts = column->sql && (column->use == ASK_SORT || column->use == ASK_BOTH);
        bool finds = column->use == ASK_FIND || column->use == ASK_BOTH;
        if ((sorts && !answers(c, kind, column, NULL, size)) ||
            (finds && !answers(c, kind, column, none, 0)))
            return -1;
        asked += sorts + finds;
    }
    return asked;
}

static void asks_by_columns(struct contract *c) {
    three_jobs(c);
    EXPECT(each_column(c, ASK_JOBS, 3) > 20 && each_column(c, ASK_DEFINITIONS, 2) == 8);
    EXPECT(each_column(c, ASK_INCIDENTS, 0) == 17 && each_column(c, ASK_LOG, 3) == 10);
    EXPECT(each_column(c, ASK_OPERATIONS, 0) == 9 && each_column(c, ASK_BATCHES, 0) == 11);
    EXPECT(each_column(c, ASK_INSTANCES, 0) == 3 && each_column(c, ASK_KEPT_MESSAGES, 0) == 10);
}

static void lists_definitions(struct contract *c) {
    int64_t id = 0;
    EXPECT(deploy(c, "h1", &id));
    EXPECT(create(c, c->store, (struct job){.handler = "b"}, NOW));
    EXPECT(create(c, c->store, (struct job){.handler = "b", .due = NOW + 1}, NOW));
    json_t *list = store_definitions(c->store, NULL, NULL, NOW, &c->error);
    json_t *b = json_array_get(list, 1), *counts = json_object_get(b, "counts");
    EXPECT(json_array_size(list) == 2);
    EXPECT(strcmp(json_string_value(json_object_get(b, "name")), "b") == 0);
    EXPECT(json_integer_value(json_object_get(counts, "ready")) == 1);
    EXPECT(json_integer_value(json_object_get(counts, "scheduled")) == 1);
    json_decref(list);
}

static void newest_first(struct contract *c) {
    struct outcome good = {.kind = OUTCOME_SUCCESS};
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    EXPECT(settle(c, c->store, acquire_one(c, c->store, NOW), good, NOW + 5) == SETTLED);
    EXPECT(create(c, c->store, (struct job){0}, NOW + 9));
    json_t *log = store_log(c->store, NULL, NULL, &c->error);
    json_t *first = json_array_get(log, 0), *second = json_array_get(log, 1);
    EXPECT(strcmp(json_string_value(json_object_get(first, "outcome")), "created") == 0);
    EXPECT(strcmp(json_string_value(json_object_get(second, "outcome")), "successful") == 0);
    json_decref(log);
}

static void reads_only(struct contract *c) {
    struct store *reader = store_open(c->url, STORE_READ, &c->settings, &c->error);
    EXPECT(reader);
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    json_t *job = store_job(reader, 1, NOW, &c->error);
    bool begun = store_begin(reader, STORE_COMMAND, &c->error);
    store_close(reader);
    EXPECT(job && !begun && c->error.code == ERROR_CONFLICT);
    json_decref(job);
}

static const struct check checks[] = {
    {"every filter finds what it names", filters},
    {"unknown filters and wrong values are refused", refuses},
    {"jobs come in pages, sorted", pages},
    {"states are read from where the job is", states},
    {"statistics, lists and why tell one state of a job", one_rule},
    {"every list is sorted and found by the columns that say so", asks_by_columns},
    {"metrics are sums", counts_metrics},
    {"the same folder is the same deployment", deploys},
    {"definitions are listed with counts", lists_definitions},
    {"the log shows the newest first", newest_first},
};

static const struct check shared[] = {
    {"a reader sees what is committed and cannot write", reads_only},
};

static const struct check file_checks[] = {
    {"a question longer than SQLite takes is refused", refuses_too_many},
};

int main(void) {
    int failed =
        contract_run(checks, sizeof checks / sizeof *checks, true) | contract_run(shared, 1, false);
    return failed |
           contract_run_of_file(file_checks, sizeof file_checks / sizeof *file_checks, false);
}
