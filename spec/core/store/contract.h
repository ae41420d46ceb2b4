/* contract.h - how the contract of the store is told: every check is a sentence, every store it
 * leaves behind is verified.
 *
 * CONTRACT_STORE is the URL of another store to check; its {} becomes a number. Each check begins
 * with an empty store: that of the number before, or of a new one. */
#ifndef MOONSHIFT_SPEC_CONTRACT_H
#define MOONSHIFT_SPEC_CONTRACT_H

#include "base/json.h"
#include "folder.h"
#include "give.h"
#include "schema.h"
#include "store/rules/ground/state.h"
#include "time/span.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOW INT64_C(1767225600000) /* 2026-01-01T00:00:00.000Z */
#define LEASE 300000

struct contract {
    char directory[64];
    char url[128]; /* of the store under test */
    struct settings settings;
    struct store *store; /* joined as "node" */
    struct store_executor self;
    struct error error;
    const char *failure; /* what was expected and did not happen */
    int line, passed, failed;
};

struct check {
    const char *sentence;
    void (*run)(struct contract *c);
};

/* Ends the check unless `what` is true. */
#define EXPECT(what)                                                                               \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            c->failure = #what;                                                                    \
            c->line = __LINE__;                                                                    \
            return;                                                                                \
        }                                                                                          \
    } while (0)
#define EXPECT_ERROR(expected)                                                                     \
    do {                                                                                           \
        EXPECT(strcmp(c->error.text, expected) == 0);                                              \
        c->error.text[0] = 0;                                                                      \
    } while (0)

static const struct acquire everything = {.want = 1000,
                                          .lane_run = 16,
                                          .priority_min = INT64_MIN,
                                          .priority_max = INT64_MAX,
                                          .by_priority = true,
                                          .by_due_date = true,
                                          .executor_name = "node"};

/* The number in a variable of the environment, or `otherwise`. */
static inline int contract_count(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text && *text ? atoi(text) : otherwise;
}

/* One more store on the same file, joined; NULL: the error is printed. */
static inline struct store *contract_join(struct contract *c, const char *name, time_ms now,
                                          struct store_executor *self) {
    struct store *store = store_open(c->url, STORE_CREATE, &c->settings, &c->error);
    *self = (struct store_executor){.name = name, .workers = 4, .serves = &everything};
    if (store) /* whatever a question takes on a busy machine */
        store_set_budget(store, INT64_C(3600000));
    if (store && !store_join(store, self, now, LEASE, &c->error)) {
        store_close(store);
        return NULL;
    }
    return store;
}

/* One order of job/command.h, packed as by json_pack. */
static inline bool contract_operate(struct contract *c, const char *format, ...) {
    struct command_run run = {0};
    va_list values;
    va_start(values, format);
    json_t *command = json_vpack_ex(NULL, 0, format, values);
    va_end(values);
    bool fine = store_command(c->store, command, &run, NOW, &c->error);
    json_decref(run.rest);
    json_decref(command);
    return fine;
}

/* The number that a question in SQL answers with; -1: error. */
static inline int64_t contract_number(struct contract *c, const char *sql) {
    struct row *row = db_prepare(&c->store->db, sql, NULL, 0, &c->error);
    int64_t number = row && db_step(&c->store->db, row, &c->error) == YES ? row_int(row, 0) : -1;
    db_forget(&c->store->db, row);
    return number;
}

/* What check --store finds, or "" if nothing. */
static inline void contract_verify(struct contract *c) {
    json_t *found = store_verify(c->store, NULL, &c->error);
    if (!found)
        c->failure = "the store can be verified";
    else if (json_array_size(found)) {
        c->failure = "the store is whole";
        error_set(&c->error, ERROR_DAMAGED, "%s", json_string_value(json_array_get(found, 0)));
    }
    json_decref(found);
}

/* From here on the store is that of the next number; the one before is closed, or will be. */
static inline void contract_url(struct contract *c, bool in_memory) {
    folder_empty(c->directory);
    static int number;
    const char *given = getenv("CONTRACT_STORE"), *gap = given ? strstr(given, "{}") : NULL;
    if (gap)
        snprintf(c->url, sizeof c->url, "%.*s%d%s", (int)(gap - given), given, ++number, gap + 2);
    else if (in_memory)
        snprintf(c->url, sizeof c->url, "sqlite::memory:");
    else
        snprintf(c->url, sizeof c->url, "sqlite:%s/x.db", c->directory);
}

/* From here on the store is an empty one. No store is open. */
static inline void contract_renew(struct contract *c, bool in_memory) {
    const bool served = getenv("CONTRACT_STORE") != NULL;
    if (served && !*c->url)
        contract_url(c, in_memory);
    if (!served || !schema_empty(c->url))
        contract_url(c, in_memory);
}

static inline void contract_check(struct contract *c, const struct check *check, bool in_memory) {
    c->failure = NULL;
    c->error = (struct error){ERROR_NONE, ""};
    contract_renew(c, in_memory);
    c->store = contract_join(c, "node", NOW, &c->self);
    if (!c->store)
        c->failure = "the store opens";
    else
        check->run(c);
    if (!c->failure && c->store)
        contract_verify(c);
    store_close(c->store);
    printf("%s - %s%s\n", c->failure ? "not ok" : "ok", check->sentence,
           in_memory ? " (in memory)" : "");
    if (c->failure)
        printf("# line %d: expected %s; last error: %s\n", c->line, c->failure, c->error.text);
    *(c->failure ? &c->failed : &c->passed) += 1;
    fflush(stdout);
}

/* Every check on a file (or CONTRACT_STORE), and in memory too if asked. The exit status of the
 * program. */
static inline int contract_run(const struct check *checks, size_t count, bool in_memory) {
    struct contract c = {.directory = "/tmp/moonshift-contract-XXXXXX"};
    if (!mkdtemp(c.directory) || !settings_init(&c.settings, &c.error))
        return 1;
    c.settings.failed_job_wait = 0; /* what fails may run again at the same instant */
    free(c.settings.state_dir);
    c.settings.state_dir = strdup(c.directory); /* not the folder where the contract is run */
    json_setup();
    for (size_t i = 0; i < count; i++) {
        contract_check(&c, &checks[i], false);
        if (in_memory && !getenv("CONTRACT_STORE"))
            contract_check(&c, &checks[i], true);
    }
    folder_empty(c.directory);
    rmdir(c.directory);
    settings_clear(&c.settings);
    printf("%d passed, %d failed\n", c.passed, c.failed);
    return c.failed != 0;
}

/* The same of what a store on a file has alone: nothing is checked over another store. */
static inline int contract_run_of_file(const struct check *checks, size_t count, bool in_memory) {
    return getenv("CONTRACT_STORE") ? 0 : contract_run(checks, count, in_memory);
}

/* The same of what a store on a server has alone. */
static inline int contract_run_of_server(const struct check *checks, size_t count) {
    if (getenv("CONTRACT_STORE"))
        return contract_run(checks, count, false);
    printf("  pending no server: run it with spec/postgres/contracts\n0 passed, 0 failed\n");
    return 0;
}

/* ---- builders ---- */

/* The same with the handler and the due date that most jobs have. */
static inline struct job_spec completed(struct job_spec spec) {
    if (!spec.job.handler)
        spec.job.handler = "work";
    if (!spec.job.due)
        spec.job.due = TIME_NONE;
    spec.job.exclusive = spec.job.lane != NULL;
    return spec;
}

/* Creates one job at `now`; its id, 0: error. */
static inline int64_t create_spec(struct contract *c, struct store *store, struct job_spec spec,
                                  time_ms now) {
    spec = completed(spec);
    return store_create(store, &spec, 0, now, &c->error) ? spec.job.id : 0;
}

static inline int64_t create(struct contract *c, struct store *store, struct job job, time_ms now) {
    return create_spec(c, store, (struct job_spec){.job = job}, now);
}

/* The best job alone, locked; NULL: none. */
static inline struct job *acquire_one(struct contract *c, struct store *store, time_ms now) {
    struct acquire one = everything;
    struct job *job = NULL;
    int count = 0;
    bool more = false;
    one.want = 1;
    return store_acquire(store, &one, now, &job, &count, &more, &c->error) ? job : NULL;
}

/* How many jobs can be had; they are locked and forgotten. */
static inline int acquire_count(struct contract *c, struct store *store, time_ms now) {
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    if (!store_acquire(store, &everything, now, &jobs, &count, &more, &c->error))
        return -1;
    job_free_list(jobs);
    return count;
}

/* The end of a run as `end` describes it; takes the job over. -1: error. */
static inline int settle(struct contract *c, struct store *store, struct job *job,
                         struct outcome end, time_ms now) {
    enum settled settled = SETTLED;
    end.job = job;
    end.lane_ends = true;
    end.lane_token = end.lane_token ? end.lane_token : job->token;
    end.started = end.ended = now;
    if (!end.due)
        end.due = TIME_NONE;
    bool done = store_settle(store, &end, now, &settled, &c->error);
    job_free(job);
    return done ? (int)settled : -1;
}

/* One field of a job as text, in a buffer of its own; "" for null or a missing job. */
static inline const char *field(struct contract *c, int64_t id, const char *name, time_ms now) {
    static char texts[4][256];
    static int at;
    char *text = texts[at++ % 4];
    json_t *job = store_job(c->store, id, now, &c->error), *value = json_object_get(job, name);
    text[0] = 0;
    if (json_is_string(value))
        snprintf(text, 256, "%s", json_string_value(value));
    else if (value && !json_is_null(value)) {
        char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        snprintf(text, 256, "%s", dump);
        free(dump);
    }
    json_decref(job);
    return text;
}

#define FIELD(id, name, now, text) EXPECT(strcmp(field(c, id, name, now), text) == 0)

#define IDS(...)                                                                                   \
    (struct ids) {                                                                                 \
        (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)   \
    }

/* How many jobs match the filters, given as JSON text. -1: error. */
static inline int64_t matches(struct contract *c, const char *filters) {
    int64_t count = -1;
    json_t *wanted = json_loads(filters, 0, NULL);
    if (!store_jobs_count(c->store, wanted, NOW, &count, &c->error))
        count = -1;
    json_decref(wanted);
    return count;
}

#endif
