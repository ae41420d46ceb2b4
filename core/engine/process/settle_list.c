#include "engine/process/settle_list.h"
#include "base/json.h"
#include "engine/fetch.h"
#include "engine/process/handed_back.h"
#include "engine/process/process_external.h"
#include <stdlib.h>
#include <string.h>

struct handing {
    struct engine *engine;
    const char *worker; /* NULL: any */
    struct handed_back *list;
    size_t count;
    const json_t *next; /* what is fetched with it; NULL: nothing */
    struct fetch wanted;
    json_t *jobs; /* out: those */
};

static bool lost(struct handed_back *one) {
    return error_set(&one->refused, ERROR_CONFLICT,
                     "job %lld: its lock is lost (expected the token of a lock that stands)",
                     (long long)one->id);
}

static bool read_list(struct handing *handing, const json_t *list, struct error *error) {
    size_t i;
    const json_t *entry;
    bool none = json_is_object(list) && !json_object_size(list); /* an empty table of Lua */
    if ((!json_is_array(list) && !none) || json_array_size(list) > SETTLE_MAX)
        return json_refuse("outcomes", list, "a list of at most 1000", error);
    handing->count = json_array_size(list);
    handing->list = calloc(handing->count + 1, sizeof *handing->list);
    if (!handing->list)
        return error_no_memory(error);
    size_t created = 0;
    json_array_foreach(list, i, entry) {
        if (!handed_back_read(&handing->list[i], entry, i + 1, error))
            return false;
        created += json_array_size(json_object_get(entry, "create"));
    }
    return created <= SETTLE_MAX ||
           error_set(error, ERROR_INVALID, "create: %zu jobs in all outcomes (expected at most %d)",
                     created, SETTLE_MAX);
}

static bool read_question(struct handing *handing, const json_t *question, struct error *error) {
    static const char *const keys[] = {"outcomes", "worker", "fetch", NULL};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)question, key, value) {
        if (strcmp(key, keys[0]) != 0 && strcmp(key, keys[1]) != 0 && strcmp(key, keys[2]) != 0)
            return error_unknown(error, ERROR_INVALID, "unknown key", key, keys, "expected");
    }
    const json_t *worker = json_object_get(question, "worker");
    handing->worker = json_string_value(worker);
    if (worker && !json_is_null(worker) && !handing->worker)
        return json_refuse("worker", worker, "a text", error);
    handing->next = json_object_get(question, "fetch");
    return read_list(handing, json_object_get(question, "outcomes"), error) &&
           (!handing->next || json_is_null(handing->next) ||
            fetch_read(&handing->wanted, handing->engine, handing->next, error));
}

/* The job that one is about; NO: its lock is lost. */
static enum answer fetched(struct handing *handing, const struct handed_back *one, struct job **job,
                           struct error *error) {
    struct store *store = handing->engine->store;
    bool own = false;
    if (!store_look(store, &own, error))
        return FAILED;
    enum answer held = store_fetched(store, handing->worker, one->id, one->token, job, error);
    store_look_end(store, own);
    return held;
}

static bool make(struct handing *handing, struct handed_back *one, struct error *error) {
    struct job *job = NULL;
    enum answer held = fetched(handing, one, &job, error);
    if (held == NO)
        lost(one);
    return held == NO || (held == YES && handed_back_make(one, handing->engine, job, error));
}

/* Entries that name one job twice would end its lock twice: the second one is stale. */
static bool make_all(struct handing *handing, struct error *error) {
    for (size_t i = 0; i < handing->count; i++)
        if (!make(handing, &handing->list[i], error))
            return false;
    return true;
}

/* An earlier one may have ended the instance, or the body of the turn. */
static bool is_lost(struct handing *handing, const struct handed_back *one) {
    struct error ignored = {0};
    struct job *job = NULL;
    enum answer held = fetched(handing, one, &job, &ignored);
    job_free(job);
    return held == NO;
}

/* What moves an instance is written by itself. Its failure is told of that entry alone. */
static void walk_one(struct handing *handing, struct handed_back *one) {
    bool walked = process_external(handing->engine, one->outcome, one->said, &one->refused);
    if (walked ? one->outcome->settled == SETTLED_STALE
               : one->refused.code == ERROR_NOT_FOUND && is_lost(handing, one))
        lost(one);
    one->over = true;
}

static void walk_all(struct handing *handing) {
    for (size_t i = 0; i < handing->count; i++)
        if (handed_back_walks(&handing->list[i]))
            walk_one(handing, &handing->list[i]);
}

static bool note(struct handing *handing, const struct handed_back *one, const struct job *job,
                 struct error *error) {
    struct store *store = handing->engine->store;
    const time_ms now = engine_now(handing->engine);
    const struct worker_note note = {one->outcome, one->fraction, json_text(one->said, "text")};
    return one->hand == HAND_EXTEND ? store_extend_outside(store, job, now + one->span, error)
                                    : store_note_outside(store, &note, now, error);
}

/* Of a job that its worker keeps. */
static bool go_on(struct handing *handing, struct handed_back *one, struct error *error) {
    struct store *store = handing->engine->store;
    struct job *job = NULL;
    enum answer held = store_fetched(store, handing->worker, one->id, one->token, &job, error);
    if (held == NO)
        lost(one);
    bool done = held == NO || (held == YES && note(handing, one, job, error));
    job_free(job);
    return done;
}

/* True if it is settled in the transaction. */
static bool settles(const struct handed_back *one) {
    return one->outcome && !one->over && !handed_back_goes_on(one);
}

/* Puts the outcomes of the transaction into a chain, which the entries still own. */
static struct outcome *chain(struct handing *handing, struct error **refused) {
    struct outcome *first = NULL, **end = &first;
    for (size_t i = 0; i < handing->count; i++) {
        if (!settles(&handing->list[i]))
            continue;
        *refused++ = &handing->list[i].refused;
        *end = handing->list[i].outcome;
        end = &(*end)->next;
    }
    *end = NULL;
    return first;
}

static void unchain(struct handing *handing) {
    for (size_t i = 0; i < handing->count; i++)
        if (handing->list[i].outcome)
            handing->list[i].outcome->next = NULL;
}

static bool settle_all(struct handing *handing, struct error *error) {
    struct error **refused = calloc(handing->count + 1, sizeof *refused);
    if (!refused)
        return error_no_memory(error);
    struct outcome *outcomes = chain(handing, refused);
    bool done = !outcomes || store_settle_outside(handing->engine->store, outcomes, refused,
                                                  engine_now(handing->engine), error);
    unchain(handing);
    free(refused);
    return done;
}

static bool write_all(struct handing *handing, struct error *error) {
    struct engine *engine = handing->engine;
    bool done = settle_all(handing, error);
    for (size_t i = 0; done && i < handing->count; i++)
        if (handed_back_goes_on(&handing->list[i]) && !handing->list[i].refused.code)
            done = go_on(handing, &handing->list[i], error);
    return done &&
           (!handing->wanted.worker || fetch_take(engine, &handing->wanted, &handing->jobs, error));
}

/* All that is left in one transaction. */
static bool write(struct handing *handing, struct error *error) {
    if (!store_begin(handing->engine->store, STORE_TURN, error) ||
        !engine_end(handing->engine, write_all(handing, error), error))
        return false;
    for (size_t i = 0; i < handing->count; i++) {
        struct handed_back *one = &handing->list[i];
        if (settles(one) && !one->refused.code && one->outcome->settled == SETTLED_STALE)
            lost(one);
    }
    return true;
}

/* What became of the jobs that it creates. NULL: no memory. */
static json_t *creations(const struct job_spec *specs) {
    json_t *list = json_array();
    bool done = list != NULL;
    for (; done && specs; specs = specs->next)
        done = json_array_append_new(list, json_pack("{sI ss}", "id", (json_int_t)specs->reply.id,
                                                     "outcome",
                                                     creation_name(specs->reply.creation))) == 0;
    return json_kept(list, done);
}

static json_t *verdict(const struct handed_back *one) {
    json_t *object =
        json_pack("{sI ss}", "id", (json_int_t)one->id, "outcome", handed_back_name(one));
    bool done = object != NULL;
    if (one->refused.code)
        done = json_put_text(object, "code", error_code_name(one->refused.code)) &&
               json_put_text(object, "message", one->refused.text);
    else if (done && one->outcome && one->outcome->created)
        done = json_put(object, "created", creations(one->outcome->created));
    return json_kept(object, done);
}

static json_t *verdicts(const struct handing *handing) {
    json_t *list = json_array();
    bool done = list != NULL;
    for (size_t i = 0; done && i < handing->count; i++)
        done = json_array_append_new(list, verdict(&handing->list[i])) == 0;
    return json_kept(list, done);
}

bool engine_settle(struct engine *engine, const json_t *question, json_t **answer,
                   struct error *error) {
    struct handing handing = {.engine = engine};
    *answer = NULL;
    bool done = engine_idle(engine, error) && read_question(&handing, question, error);
    done = done && make_all(&handing, error);
    if (done)
        walk_all(&handing);
    done = done && write(&handing, error);
    done = store_seen(engine->store, error) && done;
    if (done) {
        *answer = json_pack("{so so*}", "outcomes", verdicts(&handing), "jobs", handing.jobs);
        done = *answer || error_no_memory(error);
        handing.jobs = NULL;
    }
    for (size_t i = 0; handing.list && i < handing.count; i++)
        handed_back_clear(&handing.list[i]);
    free(handing.list);
    json_decref(handing.jobs);
    fetch_clear(&handing.wanted);
    return done;
}
