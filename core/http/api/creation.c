#include "http/api/creation.h"
#include "base/json.h"
#include "http/api/keyed.h"
#include "http/api/problem.h"
#include "job/job_spec.h"
#include <inttypes.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TOGETHER_MOST = 4096, /* jobs of one transaction, but for the last request of it */
    STEP = 1000,          /* jobs of one transaction of many */
    LATE_MOST = 4000
};

struct new_jobs {
    struct create_entry entry; /* first */
    enum creation_step step;
    struct engine_request request; /* without a key: `entry` has none */
    bool list;                     /* it was one: so is the answer */
    struct engine_spec *specs;
    size_t count, completed; /* so many are whole */
    struct created *created;
    char who[CALLER_WHO_SIZE];
    /* of create_jobs_of: answers a failure; NULL: it is told as any other */
    void (*fail)(struct exchange *exchange, const struct error *error);
    char hash[SHA256_DIGEST_STRING_LENGTH];
};

static void creation_free(struct new_jobs *jobs) {
    for (size_t i = 0; jobs->specs && i < jobs->count; i++)
        engine_spec_clear(&jobs->specs[i]);
    json_decref(jobs->request.found);
    free(jobs->specs);
    free(jobs->created);
    free(jobs);
}

/* What is kept under a key: [id, outcome, count] of each run of ids. */
static json_t *answer_kept(void *arg, const struct created *created, size_t count) {
    json_t *list = json_array();
    (void)arg;
    for (size_t i = 0, run; list && i < count; i += run) {
        for (run = 1; i + run < count && created[i + run].creation == created[i].creation &&
                      created[i + run].id == created[i].id + (int64_t)run;)
            run++;
        json_array_append_new(list, json_pack("[IiI]", (json_int_t)created[i].id,
                                              (int)created[i].creation, (json_int_t)run));
    }
    return list;
}

/* ---- reading ---- */

/* A line for each job; lines that are empty are passed over. NULL: error. */
static json_t *read_lines(const struct exchange *exchange, struct error *error) {
    json_t *list = json_array(), *one;
    const char *at = exchange->body, *end = at + exchange->length;
    bool done = list || error_no_memory(error);
    for (int line = 1; done && at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((stop ? stop : end) - at);
        char what[32];
        snprintf(what, sizeof what, "body: line %d", line);
        if (strspn(at, " \t\r") < size) {
            one = json_read(at, size, what, error);
            done = one && (json_array_append_new(list, one) == 0 || error_no_memory(error));
        }
        at += size + 1;
    }
    return json_kept(list, done);
}

static json_t *read_content(const struct exchange *exchange, struct error *error) {
    if (call_has_type(exchange, "application/x-ndjson"))
        return read_lines(exchange, error);
    if (call_has_type(exchange, "application/json"))
        return json_read(exchange->body, exchange->length, "body", error);
    error_set(error, ERROR_TYPE, "content: expected application/json or application/x-ndjson");
    return NULL;
}

/* A job must be in sight of its creator; without a tenant it gets the creator's. */
static bool in_sight(const struct call *call, json_t *job, struct error *error) {
    const struct caller *caller = call->caller;
    const char *handler = json_text(job, "handler");
    if (caller->tenant && !json_object_get(job, "tenant") &&
        !json_put_text(job, "tenant", caller->tenant))
        return error_no_memory(error);
    if (!caller_sees_tenant(caller, json_text(job, "tenant")))
        return error_set(error, ERROR_FORBIDDEN,
                         "tenant: the caller may not create jobs of another one");
    return !handler || caller_sees_handler(caller, handler) ||
           error_set(error, ERROR_FORBIDDEN,
                     "handler \"%.255s\": the caller may not create its jobs", handler);
}

static bool read_jobs(const struct call *call, struct new_jobs *jobs, const json_t *content,
                      struct error *error) {
    jobs->list = json_is_array(content);
    const size_t count = jobs->list ? json_array_size(content) : 1;
    if (count > CREATION_MOST)
        return error_set(error, ERROR_TOO_LARGE, "body: %zu jobs (expected at most %d)", count,
                         CREATION_MOST);
    jobs->specs = calloc(count + 1, sizeof *jobs->specs);
    jobs->created = calloc(count + 1, sizeof *jobs->created);
    if (!jobs->specs || !jobs->created)
        return error_no_memory(error);
    for (size_t i = 0; i < count; i++) {
        json_t *job = json_unchanged(jobs->list ? json_array_get(content, i) : content);
        if (!json_is_object(job))
            return json_refuse("body", job, "an object for each job", error);
        jobs->specs[jobs->count++].object = json_incref(job);
        if (!in_sight(call, job, error))
            return false;
    }
    return true;
}

/* The same word for the same jobs, whatever the order of their keys. */
static bool hash_of(struct new_jobs *jobs, struct error *error) {
    SHA2_CTX hash;
    SHA256Init(&hash);
    for (size_t i = 0; i < jobs->count; i++) {
        char *text = json_dumps(jobs->specs[i].object, JSON_COMPACT | JSON_SORT_KEYS);
        if (!text)
            return error_no_memory(error);
        SHA256Update(&hash, (const uint8_t *)text, strlen(text) + 1);
        free(text);
    }
    SHA256End(&hash, jobs->hash);
    return true;
}

/* Lasts as long as the exchange. */
static bool read_key(const struct call *call, struct new_jobs *jobs, struct error *error) {
    jobs->request.answer = answer_kept;
    if (!keyed_read(call, jobs->hash, &jobs->request, error))
        return false;
    if (!jobs->request.asked.key)
        return true;
    jobs->entry.request = &jobs->request;
    return hash_of(jobs, error);
}

/* A job that names no trace has that of its request. It is no part of what is asked for: a client
 * that asks again under a key is in another trace. */
static bool add_trace(const struct call *call, struct new_jobs *jobs, struct error *error) {
    const char *trace = exchange_header(call->exchange, "traceparent");
    for (size_t i = 0; trace && i < jobs->count; i++) {
        json_t *job = jobs->specs[i].object;
        if (!json_object_get(job, "trace") && !json_put_text(job, "trace", trace))
            return error_no_memory(error);
    }
    return true;
}

static bool creation_read(const struct call *call, struct new_jobs *jobs, const json_t *list,
                          struct error *error) {
    json_t *content = list ? NULL : read_content(call->exchange, error);
    bool done = (list || content) && read_jobs(call, jobs, list ? list : content, error) &&
                (list || read_key(call, jobs, error)) && add_trace(call, jobs, error);
    json_decref(content);
    jobs->entry.specs = jobs->specs;
    jobs->entry.count = jobs->count;
    jobs->entry.created = jobs->created;
    snprintf(jobs->who, sizeof jobs->who, "%s", call->caller->who);
    return done;
}

/* ---- answering ---- */

static void answer_take(struct new_jobs *jobs) {
    const json_t *run;
    size_t i, at = 0;
    json_array_foreach(jobs->request.found, i, run) {
        int64_t id = json_integer_value(json_array_get(run, 0));
        enum creation outcome = (enum creation)json_integer_value(json_array_get(run, 1));
        int64_t left = json_integer_value(json_array_get(run, 2));
        for (; left > 0 && at < jobs->count; left--)
            jobs->created[at++] = (struct created){id++, outcome};
    }
}

static json_t *one_told(const struct created *created) {
    return json_pack("{sI ss}", "id", (json_int_t)created->id, "outcome",
                     creation_name(created->creation));
}

static bool creation_tell(struct exchange *exchange, const struct new_jobs *jobs,
                          struct error *error) {
    struct call call = {.exchange = exchange};
    char location[64];
    bool made = false;
    json_t *items = json_array();
    for (size_t i = 0; items && i < jobs->count; i++) {
        json_array_append_new(items, one_told(&jobs->created[i]));
        made = made || jobs->created[i].creation == CREATION_CREATED;
    }
    if (jobs->list)
        return call_answer(&call, made ? 201 : 200, json_pack("{so}", "items", items), error);
    snprintf(location, sizeof location, "/v1/jobs/%" PRId64, jobs->created[0].id);
    exchange->location = strdup(location);
    json_t *one = json_incref(json_array_get(items, 0));
    json_decref(items);
    return call_answer(&call, made ? 201 : 200, one, error);
}

static bool creation_answer(struct exchange *exchange, struct new_jobs *jobs, struct error *error) {
    if (jobs->fail) /* it is there */
        return true;
    if (jobs->request.found)
        answer_take(jobs);
    return creation_tell(exchange, jobs, error);
}

/* It is over: written, or refused with this error. */
static void creation_end(struct exchange *exchange, bool fine, struct error *error) {
    struct new_jobs *jobs = exchange->new_jobs;
    bool done = fine && creation_answer(exchange, jobs, error);
    if (!done && jobs->fail)
        jobs->fail(exchange, error);
    else if (!done)
        problem_answer(exchange, error);
    exchange->new_jobs = NULL;
    creation_free(jobs);
}

/* ---- many ---- */

/* Those that replace a job which others see are written with the end of the intake. */
struct late {
    struct new_jobs *jobs;
    size_t count;
    size_t places[LATE_MOST];
    struct engine_spec specs[LATE_MOST];
    struct created created[LATE_MOST];
};

static bool late_find(struct late *late, int64_t first, int64_t last, struct error *error) {
    const struct new_jobs *jobs = late->jobs;
    for (size_t i = 0; i < jobs->count; i++) {
        const struct created *created = &jobs->created[i];
        if (created->creation != CREATION_REPLACED || (created->id >= first && created->id <= last))
            continue;
        if (late->count == LATE_MOST)
            return error_set(error, ERROR_TOO_LARGE,
                             "body: expected at most %d jobs that replace others", LATE_MOST);
        late->places[late->count] = i;
        late->specs[late->count++] = jobs->specs[i];
    }
    return true;
}

static void late_note(const struct late *late) {
    for (size_t i = 0; i < late->count; i++)
        late->jobs->created[late->places[i]] = late->created[i];
}

static json_t *answer_many(void *arg, const struct created *created, size_t count) {
    const struct late *late = arg;
    for (size_t i = 0; i < count; i++)
        late->jobs->created[late->places[i]] = created[i];
    return answer_kept(NULL, late->jobs->created, late->jobs->count);
}

static bool write_steps(struct engine *engine, struct store_intake *intake, struct late *late,
                        struct error *error) {
    struct new_jobs *jobs = late->jobs;
    const int64_t first = intake->next, last = intake->last;
    for (size_t at = 0, count; at < jobs->count; at += count) {
        count = jobs->count - at < STEP ? jobs->count - at : STEP;
        if (!engine_intake_add(engine, intake, &jobs->specs[at], count, &jobs->created[at], NULL,
                               error))
            return false;
    }
    return late_find(late, first, last, error);
}

/* In several transactions, as `enqueue --from` does: nobody sees any of them before all are there.
 */
static bool write_many(struct engine *engine, struct new_jobs *jobs, struct error *error) {
    struct store_intake intake;
    struct late *late = calloc(1, sizeof *late);
    if (!late)
        return error_no_memory(error);
    late->jobs = jobs;
    jobs->request.answer = answer_many;
    jobs->request.arg = late;
    bool done = engine_intake_begin(engine, &intake, (int64_t)jobs->count, error);
    if (done && !write_steps(engine, &intake, late, error)) {
        engine_intake_abandon(engine, &intake);
        done = false;
    }
    done = done && engine_intake_end(engine, &intake, late->specs, late->count, late->created,
                                     jobs->entry.request, error);
    if (done && !jobs->request.found)
        late_note(late);
    free(late);
    return done;
}

/* ---- completing ---- */

/* NO: the engine cannot call the functions that are to be asked. */
static enum answer complete(struct engine *engine, struct new_jobs *jobs, struct error *error) {
    struct engine_check check = {0};
    enum answer done = YES;
    while (done == YES && jobs->completed < jobs->count) {
        done = engine_complete(engine, &jobs->specs[jobs->completed], &check, error);
        jobs->completed += done == YES;
    }
    return done;
}

/* What was asked for before has its answer, also if it would be refused by now. */
static bool was_asked(struct engine *engine, struct new_jobs *jobs) {
    struct error ignored = {0};
    return jobs->entry.request && engine_request_find(engine, &jobs->request, &ignored) &&
           jobs->request.found;
}

static void go_on_many(struct engine *engine, struct exchange *exchange) {
    struct new_jobs *jobs = exchange->new_jobs;
    struct error error = {0};
    jobs->step = CREATION_READ;
    if (!engine_has_scripts(engine))
        return;
    engine_act_as(engine, jobs->who);
    bool done = !jobs->entry.request || engine_request_find(engine, &jobs->request, &error);
    done = done && (jobs->request.found || write_many(engine, jobs, &error));
    engine_act_as(engine, NULL);
    creation_end(exchange, done, &error);
}

void creation_go_on(struct engine *engine, struct exchange *exchange) {
    struct new_jobs *jobs = exchange->new_jobs;
    struct error error = {0};
    if (jobs->count > CREATION_WHOLE) {
        go_on_many(engine, exchange);
        return;
    }
    switch (complete(engine, jobs, &error)) {
    case YES:
        jobs->step = CREATION_COMPLETE;
        if (!jobs->count)
            creation_end(exchange, true, &error);
        break;
    case NO:
        jobs->step = CREATION_READ;
        break;
    case FAILED:
        creation_end(exchange, was_asked(engine, jobs), &error);
        break;
    }
}

bool create_jobs(struct call *call, struct error *error) {
    return create_jobs_of(call, NULL, NULL, error);
}

bool create_jobs_of(struct call *call, const json_t *list,
                    void (*fail)(struct exchange *exchange, const struct error *error),
                    struct error *error) {
    struct new_jobs *jobs = calloc(1, sizeof *jobs);
    if (!jobs)
        return error_no_memory(error);
    jobs->fail = fail;
    if (!creation_read(call, jobs, list, error)) {
        creation_free(jobs);
        return false;
    }
    call->exchange->new_jobs = jobs;
    creation_go_on(call->engine, call->exchange);
    return true;
}

enum creation_step creation_step(const struct exchange *exchange) {
    return exchange->new_jobs ? exchange->new_jobs->step : CREATION_ANSWERED;
}

/* ---- writing ---- */

/* The next ones that are written together. Returns the first one that is not. */
static struct exchange *take_some(struct exchange *exchange, struct create_entry **entries) {
    size_t jobs = 0;
    *entries = NULL;
    for (; exchange && jobs < TOGETHER_MOST; exchange = exchange->next) {
        struct create_entry *entry = &exchange->new_jobs->entry;
        *entries = entry;
        jobs += entry->count;
        entries = &entry->next;
        *entries = NULL;
    }
    return exchange;
}

void creations_write(struct create_list *room, struct engine *engine, struct exchange *list) {
    struct create_entry *entries;
    for (struct exchange *rest = list; rest;) {
        rest = take_some(rest, &entries);
        create_list_write(room, engine, entries);
    }
    for (; list; list = list->next) {
        struct create_entry *entry = &list->new_jobs->entry;
        creation_end(list, entry->fine, &entry->error);
    }
}

void creation_give_up(struct exchange *exchange, const struct error *error) {
    struct error why = *error;
    creation_end(exchange, false, &why);
}
