#include "engine/process/settle_list.h"
#include "base/crash_point.h"
#include "base/json.h"
#include "engine/fetch.h"
#include "engine/process/handed_back.h"
#include "engine/process/process_external.h"
#include <stdlib.h>
#include <string.h>

enum { TOGETHER_MOST = 4096 }; /* outcomes of one transaction, but for the last settlement of it */

static bool lost(struct handed_back *one) {
    return error_set(&one->refused, ERROR_CONFLICT,
                     "job %lld: its lock is lost (expected the token of a lock that stands)",
                     (long long)one->id);
}

static bool read_list(struct settlement *asked, const json_t *list, struct error *error) {
    size_t i;
    const json_t *entry;
    bool none = json_is_object(list) && !json_object_size(list); /* an empty table of Lua */
    if ((!json_is_array(list) && !none) || json_array_size(list) > SETTLE_MAX)
        return json_refuse("outcomes", list, "a list of at most 1000", error);
    asked->count = json_array_size(list);
    asked->list = calloc(asked->count + 1, sizeof *asked->list);
    if (!asked->list)
        return error_no_memory(error);
    size_t created = 0;
    json_array_foreach(list, i, entry) {
        if (!handed_back_read(&asked->list[i], entry, i + 1, error))
            return false;
        created += json_array_size(json_object_get(entry, "create"));
    }
    return created <= SETTLE_MAX ||
           error_set(error, ERROR_INVALID, "create: %zu jobs in all outcomes (expected at most %d)",
                     created, SETTLE_MAX);
}

static bool read_fetch(struct settlement *asked, struct engine *engine, const json_t *question,
                       struct error *error) {
    asked->wanted = calloc(1, sizeof *asked->wanted);
    return asked->wanted ? fetch_read(asked->wanted, engine, question, error)
                         : error_no_memory(error);
}

static bool read_question(struct settlement *asked, struct engine *engine, struct error *error) {
    const json_t *question = asked->question;
    static const char *const keys[] = {"outcomes", "worker", "fetch", NULL};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)question, key, value) {
        if (strcmp(key, keys[0]) != 0 && strcmp(key, keys[1]) != 0 && strcmp(key, keys[2]) != 0)
            return error_unknown(error, ERROR_INVALID, "unknown key", key, keys, "expected");
    }
    const json_t *worker = json_object_get(question, "worker");
    asked->worker = json_string_value(worker);
    if (worker && !json_is_null(worker) && !asked->worker)
        return json_refuse("worker", worker, "a text", error);
    const json_t *fetch = json_object_get(question, "fetch");
    return read_list(asked, json_object_get(question, "outcomes"), error) &&
           (!fetch || json_is_null(fetch) || read_fetch(asked, engine, fetch, error));
}

/* The job that one is about; NO: its lock is lost. */
static enum answer fetched(const struct settlement *asked, struct store *store,
                           const struct handed_back *one, struct job **job, struct error *error) {
    bool own = false;
    if (!store_look(store, &own, error))
        return FAILED;
    enum answer held = store_fetched(store, asked->worker, one->id, one->token, job, error);
    store_look_end(store, own);
    return held;
}

static bool make(const struct settlement *asked, struct engine *engine, struct handed_back *one,
                 struct error *error) {
    struct job *job = NULL;
    enum answer held = fetched(asked, engine->store, one, &job, error);
    if (held == NO)
        lost(one);
    return held == NO || (held == YES && handed_back_make(one, engine, job, error));
}

/* An entry before it ends the lock. */
static bool is_over(const struct settlement *asked, size_t which) {
    for (size_t i = 0; i < which; i++)
        if (asked->list[i].id == asked->list[which].id && asked->list[i].outcome)
            return true;
    return false;
}

/* Of entries that name one job twice the second one has no lock. */
static bool make_all(struct settlement *asked, struct engine *engine, struct error *error) {
    for (size_t i = 0; i < asked->count; i++) {
        if (is_over(asked, i))
            lost(&asked->list[i]);
        else if (!make(asked, engine, &asked->list[i], error))
            return false;
    }
    return true;
}

/* An earlier one may have ended the instance, or the body of the turn. */
static bool is_lost(const struct settlement *asked, struct engine *engine,
                    const struct handed_back *one) {
    struct error ignored = {0};
    struct job *job = NULL;
    enum answer held = fetched(asked, engine->store, one, &job, &ignored);
    job_free(job);
    return held == NO;
}

/* What moves an instance is written by itself. Its failure is told of that entry alone. */
static void walk_one(const struct settlement *asked, struct engine *engine,
                     struct handed_back *one) {
    bool walked = process_external(engine, one->outcome, one->said, &one->refused);
    if (walked ? one->outcome->settled == SETTLED_STALE
               : one->refused.code == ERROR_NOT_FOUND && is_lost(asked, engine, one))
        lost(one);
    one->over = true;
}

static void walk_all(struct settlement *asked, struct engine *engine) {
    for (size_t i = 0; i < asked->count; i++)
        if (handed_back_walks(&asked->list[i]))
            walk_one(asked, engine, &asked->list[i]);
}

static bool note(struct engine *engine, const struct handed_back *one, const struct job *job,
                 struct error *error) {
    struct store *store = engine->store;
    const time_ms now = engine_now(engine);
    const struct worker_note note = {one->outcome, one->fraction, json_text(one->said, "text")};
    return one->hand == HAND_EXTEND ? store_extend_outside(store, job, now + one->span, error)
                                    : store_note_outside(store, &note, now, error);
}

/* Of a job that its worker keeps. */
static bool go_on(const struct settlement *asked, struct engine *engine, struct handed_back *one,
                  struct error *error) {
    struct store *store = engine->store;
    struct job *job = NULL;
    enum answer held = store_fetched(store, asked->worker, one->id, one->token, &job, error);
    if (held == NO)
        lost(one);
    bool done = held == NO || (held == YES && note(engine, one, job, error));
    job_free(job);
    return done;
}

/* True if it is settled in the transaction. */
static bool settles(const struct handed_back *one) {
    return one->outcome && !one->over && !handed_back_goes_on(one);
}

/* Puts the outcomes of the transaction into a chain, which the entries still own. */
static struct outcome *chain(struct settlement *asked, struct error **refused) {
    struct outcome *first = NULL, **end = &first;
    for (size_t i = 0; i < asked->count; i++) {
        if (!settles(&asked->list[i]))
            continue;
        *refused++ = &asked->list[i].refused;
        *end = asked->list[i].outcome;
        end = &(*end)->next;
    }
    *end = NULL;
    return first;
}

static void unchain(struct settlement *asked) {
    for (size_t i = 0; i < asked->count; i++)
        if (asked->list[i].outcome)
            asked->list[i].outcome->next = NULL;
}

static bool settle_all(struct settlement *asked, struct engine *engine, struct error *error) {
    struct error **refused = calloc(asked->count + 1, sizeof *refused);
    if (!refused)
        return error_no_memory(error);
    struct outcome *outcomes = chain(asked, refused);
    bool done = !outcomes ||
                store_settle_outside(engine->store, outcomes, refused, engine_now(engine), error);
    unchain(asked);
    free(refused);
    return done;
}

static bool settle_one(struct settlement *asked, struct engine *engine, struct error *error) {
    if (asked->who)
        engine_act_as(engine, asked->who[0] ? asked->who : NULL);
    bool done = settle_all(asked, engine, error);
    for (size_t i = 0; done && i < asked->count; i++)
        if (handed_back_goes_on(&asked->list[i]) && !asked->list[i].refused.code)
            done = go_on(asked, engine, &asked->list[i], error);
    return done;
}

static bool fetch_one(struct settlement *asked, struct engine *engine, struct error *error) {
    return !asked->wanted || fetch_take(engine, asked->wanted, &asked->jobs, error);
}

/* What one settles the others may fetch. */
static bool write_all(struct settlement *list, const struct settlement *end, struct engine *engine,
                      struct error *error) {
    bool done = true;
    for (struct settlement *one = list; done && one != end; one = one->next)
        done = settle_one(one, engine, error);
    for (struct settlement *one = list; done && one != end; one = one->next)
        done = fetch_one(one, engine, error);
    if (list->who)
        engine_act_as(engine, NULL);
    return done;
}

/* It is on the disk. */
static void written(struct settlement *asked) {
    asked->fine = true;
    for (size_t i = 0; i < asked->count; i++) {
        struct handed_back *one = &asked->list[i];
        if (settles(one) && !one->refused.code && one->outcome->settled == SETTLED_STALE)
            lost(one);
    }
}

/* As it was read: it may be tried again. */
static void unwritten(struct settlement *asked, const struct error *error) {
    asked->error = *error;
    json_decref(asked->jobs);
    asked->jobs = NULL;
    for (size_t i = 0; i < asked->count; i++)
        if (asked->list[i].outcome && !asked->list[i].over)
            asked->list[i].refused = (struct error){0};
}

static bool write_some(struct settlement *list, const struct settlement *end,
                       struct engine *engine) {
    struct error error = {0};
    bool done = store_begin(engine->store, STORE_TURN, &error) &&
                engine_end(engine, write_all(list, end, engine, &error), &error);
    CRASH_POINT("work_committed");
    for (struct settlement *one = list; one != end; one = one->next) {
        if (done)
            written(one);
        else
            unwritten(one, &error);
    }
    return done;
}

/* The first one that does not go with those before it. */
static struct settlement *end_of(struct settlement *list) {
    size_t count = 0;
    for (; list && count < TOGETHER_MOST; list = list->next)
        count += list->count + (list->wanted ? (size_t)list->wanted->max : 0);
    return list;
}

/* What one of them is to blame for; a commit of which nobody knows is not tried again. */
static bool is_of_one(enum error_code code) {
    return code != ERROR_IO && code != ERROR_UNAVAILABLE && code != ERROR_BUSY &&
           code != ERROR_FULL;
}

void settlements_write(struct engine *engine, struct settlement *list) {
    for (struct settlement *end; list; list = end) {
        end = end_of(list);
        if (write_some(list, end, engine) || list->next == end || !is_of_one(list->error.code))
            continue;
        for (struct settlement *one = list; one != end; one = one->next)
            write_some(one, one->next, engine);
    }
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

static json_t *verdicts(const struct settlement *asked) {
    json_t *list = json_array();
    bool done = list != NULL;
    for (size_t i = 0; done && i < asked->count; i++)
        done = json_array_append_new(list, verdict(&asked->list[i])) == 0;
    return json_kept(list, done);
}

/* No commit follows on which that rests. */
static bool refuses(const struct settlement *asked) {
    bool refused = false;
    for (size_t i = 0; i < asked->count; i++)
        refused = refused || asked->list[i].refused.code;
    return refused;
}

static bool read_all(struct settlement *asked, struct engine *engine, struct error *error) {
    if (!read_question(asked, engine, error) || !make_all(asked, engine, error))
        return false;
    walk_all(asked, engine);
    return !refuses(asked) || store_seen(engine->store, error);
}

bool settlement_read(struct settlement *asked, struct engine *engine, const json_t *question,
                     struct error *error) {
    *asked = (struct settlement){.question = json_incref(json_unchanged(question))};
    return engine_idle(engine, error) && read_all(asked, engine, error);
}

bool settlement_read_fetch(struct settlement *asked, struct engine *engine, const json_t *question,
                           struct error *error) {
    *asked = (struct settlement){.question = json_incref(json_unchanged(question))};
    return engine_idle(engine, error) && read_fetch(asked, engine, question, error);
}

bool settlement_stays(const struct settlement *asked) {
    bool stays = false;
    for (size_t i = 0; i < asked->count; i++)
        stays = stays || (asked->list[i].outcome && asked->list[i].outcome->created);
    return stays;
}

json_t *settlement_answer(struct settlement *asked) {
    json_t *jobs = asked->jobs;
    asked->jobs = NULL;
    return json_pack("{so so*}", "outcomes", verdicts(asked), "jobs", jobs);
}

void settlement_clear(struct settlement *asked) {
    for (size_t i = 0; asked->list && i < asked->count; i++)
        handed_back_clear(&asked->list[i]);
    free(asked->list);
    json_decref(asked->jobs);
    if (asked->wanted)
        fetch_clear(asked->wanted);
    free(asked->wanted);
    json_decref(asked->question);
    *asked = (struct settlement){0};
}

bool engine_settle(struct engine *engine, const json_t *question, json_t **answer,
                   struct error *error) {
    struct settlement asked;
    *answer = NULL;
    bool done = settlement_read(&asked, engine, question, error);
    if (done) {
        settlements_write(engine, &asked);
        done = asked.fine || error_set(error, asked.error.code, "%s", asked.error.text);
    }
    if (done) {
        *answer = settlement_answer(&asked);
        done = *answer || error_no_memory(error);
    }
    settlement_clear(&asked);
    return done;
}
