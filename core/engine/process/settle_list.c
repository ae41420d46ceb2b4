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
    if (!json_keys(question, keys, "unknown key", "expected", error))
        return false;
    const json_t *worker = json_object_get(question, "worker");
    asked->worker = json_string_value(worker);
    if (worker && !json_is_null(worker) && !asked->worker)
        return json_refuse("worker", worker, "a text", error);
    const json_t *fetch = json_object_get(question, "fetch");
    return read_list(asked, json_object_get(question, "outcomes"), error) &&
           (!fetch || json_is_null(fetch) || read_fetch(asked, engine, fetch, error));
}

/* The jobs that all are about, in one view of the store. */
static bool fetched(const struct settlement *asked, struct store *store, struct lock_named *locks,
                    size_t count, struct error *error) {
    bool own = false;
    if (!store_look(store, &own, error))
        return false;
    bool done = store_fetched(store, asked->worker, locks, count, error);
    store_look_end(store, own);
    return done;
}

/* An entry before it ends the lock. */
static bool is_over(const struct settlement *asked, size_t which) {
    for (size_t i = 0; i < which; i++)
        if (asked->list[i].id == asked->list[which].id && asked->list[i].outcome)
            return true;
    return false;
}

/* Of entries that name one job twice the second one has no lock, unless the first one had none. */
static bool make(struct settlement *asked, struct engine *engine, size_t which, struct job **job,
                 struct error *error) {
    struct handed_back *one = &asked->list[which];
    struct job *own = *job;
    *job = NULL;
    if (own && !is_over(asked, which))
        return handed_back_make(one, engine, own, error);
    job_free(own);
    lost(one);
    return true;
}

static bool make_all(struct settlement *asked, struct engine *engine, struct error *error) {
    struct lock_named *locks = calloc(asked->count + 1, sizeof *locks);
    if (!locks)
        return error_no_memory(error);
    for (size_t i = 0; i < asked->count; i++)
        locks[i] = (struct lock_named){.id = asked->list[i].id, .token = asked->list[i].token};
    bool done = !asked->count || fetched(asked, engine->store, locks, asked->count, error);
    for (size_t i = 0; done && i < asked->count; i++)
        done = make(asked, engine, i, &locks[i].job, error);
    for (size_t i = 0; i < asked->count; i++)
        job_free(locks[i].job);
    free(locks);
    return done;
}

/* An earlier one may have ended the instance, or the body of the turn. */
static bool is_lost(const struct settlement *asked, struct engine *engine,
                    const struct handed_back *one) {
    struct error ignored = {0};
    struct lock_named lock = {.id = one->id, .token = one->token};
    bool read = fetched(asked, engine->store, &lock, 1, &ignored), gone = !lock.job;
    job_free(lock.job);
    return read && gone;
}

static void walked(const struct settlement *asked, struct engine *engine, struct handed_back *one) {
    if (one->refused.code ? one->refused.code == ERROR_NOT_FOUND && is_lost(asked, engine, one)
                          : one->outcome->settled == SETTLED_STALE)
        lost(one);
    one->over = true;
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
    struct lock_named lock = {.id = one->id, .token = one->token};
    bool done = store_fetched(engine->store, asked->worker, &lock, 1, error);
    if (done && !lock.job)
        lost(one);
    done = done && (!lock.job || note(engine, one, lock.job, error));
    job_free(lock.job);
    return done;
}

/* True if it is settled in the transaction. */
static bool settles(const struct handed_back *one) {
    return one->outcome && !one->over && !handed_back_goes_on(one);
}

/* What is settled in one name: a chain, whose outcomes the entries still own. */
struct chain {
    struct outcome *first, **end;
    struct error **refused; /* of each */
    size_t count;
};

static void chain_add(struct chain *chain, struct handed_back *one) {
    if (!settles(one))
        return;
    chain->refused[chain->count++] = &one->refused;
    *chain->end = one->outcome;
    chain->end = &one->outcome->next;
}

static void chain_end(struct chain *chain) {
    for (struct outcome *next; chain->first; chain->first = next) {
        next = chain->first->next;
        chain->first->next = NULL;
    }
    free(chain->refused);
}

static bool same_name(const struct settlement *one, const struct settlement *other) {
    return one->who && other->who ? strcmp(one->who, other->who) == 0 : one->who == other->who;
}

/* From `list` on, what is settled in the name of the first. */
static bool settle_named(struct settlement *list, const struct settlement *end,
                         struct engine *engine, struct error *error) {
    struct chain chain = {.end = &chain.first};
    size_t most = 0;
    for (const struct settlement *one = list; one != end; one = one->next)
        most += one->count;
    chain.refused = calloc(most + 1, sizeof *chain.refused);
    if (!chain.refused)
        return error_no_memory(error);
    for (struct settlement *one = list; one != end; one = one->next) {
        if (one->chained || !same_name(list, one))
            continue;
        one->chained = true;
        for (size_t i = 0; i < one->count; i++)
            chain_add(&chain, &one->list[i]);
    }
    bool done = !chain.count || store_settle_outside(engine->store, chain.first, chain.refused,
                                                     engine_now(engine), error);
    chain_end(&chain);
    return done;
}

static void act_for(struct engine *engine, const struct settlement *asked) {
    if (asked->who)
        engine_act_as(engine, asked->who[0] ? asked->who : NULL);
}

static bool settle_all(struct settlement *list, const struct settlement *end, struct engine *engine,
                       struct error *error) {
    bool done = true;
    for (struct settlement *one = list; one != end; one = one->next)
        one->chained = false;
    for (struct settlement *one = list; done && one != end; one = one->next) {
        act_for(engine, one);
        done = one->chained || settle_named(one, end, engine, error);
    }
    return done;
}

/* ---- what moves instances ---- */

static size_t count_all(const struct settlement *list) {
    size_t count = 0;
    for (; list; list = list->next)
        count += list->count;
    return count;
}

/* The externals of those in the name of the first that are not walked yet. */
static size_t collect(struct settlement *list, struct external *externals) {
    size_t count = 0;
    for (struct settlement *asked = list; asked; asked = asked->next) {
        if (asked->chained || !same_name(list, asked))
            continue;
        asked->chained = true;
        for (size_t i = 0; i < asked->count; i++) {
            struct handed_back *one = &asked->list[i];
            if (handed_back_walks(one))
                externals[count++] =
                    (struct external){one->outcome, one->said, &one->refused, NULL};
        }
    }
    return count;
}

/* The failure of one is told of that entry alone. No commit follows on which a refusal rests. */
static void walk_end(struct settlement *asked, struct engine *engine) {
    bool refused = false;
    for (size_t i = 0; i < asked->count; i++) {
        if (handed_back_walks(&asked->list[i]))
            walked(asked, engine, &asked->list[i]);
        refused = refused || asked->list[i].refused.code;
    }
    if (refused)
        store_seen(engine->store, &asked->error);
}

void settlements_walk(struct engine *engine, struct settlement *list) {
    struct external *externals = calloc(count_all(list) + 1, sizeof *externals);
    for (struct settlement *asked = list; asked; asked = asked->next)
        asked->chained = false;
    for (struct settlement *asked = list; externals && asked; asked = asked->next)
        if (!asked->chained) {
            act_for(engine, asked);
            process_externals(engine, externals, collect(asked, externals));
        }
    if (list && list->who)
        engine_act_as(engine, NULL);
    for (; list; list = list->next)
        if (!externals)
            error_no_memory(&list->error);
        else
            walk_end(list, engine);
    free(externals);
}

static bool go_on_all(struct settlement *asked, struct engine *engine, struct error *error) {
    bool done = true;
    act_for(engine, asked);
    for (size_t i = 0; done && i < asked->count; i++)
        if (handed_back_goes_on(&asked->list[i]) && !asked->list[i].refused.code)
            done = go_on(asked, engine, &asked->list[i], error);
    return done;
}

/* Where none has run out for one fetch, none has for the next one of the same topics. */
static bool fetch_each(struct fetch *const *list, struct fetched *const *fetched, size_t count,
                       struct engine *engine, struct error *error) {
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        list[i]->none_late =
            i > 0 && list[i - 1]->none_late && json_equal(list[i]->topics, list[i - 1]->topics);
        done = fetch_take(engine, list[i], fetched[i], error);
    }
    return done;
}

static bool fetch_all(struct settlement *list, const struct settlement *end, struct engine *engine,
                      struct error *error) {
    size_t most = 0, count = 0;
    for (const struct settlement *one = list; one != end; one = one->next)
        most++;
    struct fetch **wanted = calloc(most + 1, sizeof *wanted);
    struct fetched **fetched = calloc(most + 1, sizeof *fetched);
    bool done = (wanted && fetched) || error_no_memory(error);
    for (struct settlement *one = list; done && one != end; one = one->next)
        if (one->wanted) {
            one->wanted->row = 0;
            wanted[count] = one->wanted;
            fetched[count++] = &one->fetched;
        }
    done = done && store_fetch_ahead(engine->store, wanted, count, engine_now(engine), error) &&
           fetch_each(wanted, fetched, count, engine, error);
    free(wanted);
    free(fetched);
    return done;
}

/* What one settles the others may fetch. */
static bool write_all(struct settlement *list, const struct settlement *end, struct engine *engine,
                      struct error *error) {
    bool done = settle_all(list, end, engine, error);
    for (struct settlement *one = list; done && one != end; one = one->next)
        done = go_on_all(one, engine, error);
    done = done && fetch_all(list, end, engine, error);
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
    fetched_clear(&asked->fetched);
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

void settlements_write(struct engine *engine, struct settlement *list) {
    for (struct settlement *end; list; list = end) {
        end = end_of(list);
        if (write_some(list, end, engine) || list->next == end || error_is_of_store(&list->error))
            continue; /* else one of them is to blame */
        for (struct settlement *one = list; one != end; one = one->next)
            write_some(one, one->next, engine);
    }
}

/* What became of a job, as { id, outcome }, still open. */
static void add_word(struct text *out, int64_t id, const char *outcome) {
    text_push(out, "{\"id\":", strlen("{\"id\":"));
    json_add_integer(out, id);
    text_add(out, ",\"outcome\":\"%s\"", outcome);
}

static void add_created(struct text *out, const struct job_spec *specs) {
    const char *comma = "";
    text_add(out, ",\"created\":[");
    for (; specs; specs = specs->next, comma = ",") {
        text_add(out, "%s", comma);
        add_word(out, specs->reply.id, creation_name(specs->reply.creation));
        text_push(out, "}", 1);
    }
    text_push(out, "]", 1);
}

static void add_verdict(struct text *out, const struct handed_back *one) {
    add_word(out, one->id, handed_back_name(one));
    if (one->refused.code) {
        text_add(out, ",\"code\":\"%s\",\"message\":", error_code_name(one->refused.code));
        json_add_text(out, one->refused.text, strlen(one->refused.text));
    } else if (one->outcome && one->outcome->created)
        add_created(out, one->outcome->created);
    text_push(out, "}", 1);
}

static void add_verdicts(struct text *out, const struct settlement *asked) {
    text_push(out, "[", 1);
    for (size_t i = 0; i < asked->count; i++) {
        text_push(out, ",", i > 0);
        add_verdict(out, &asked->list[i]);
    }
    text_push(out, "]", 1);
}

bool settlement_read(struct settlement *asked, struct engine *engine, const json_t *question,
                     struct error *error) {
    *asked = (struct settlement){.question = json_incref(json_unchanged(question))};
    return engine_idle(engine, error) && read_question(asked, engine, error) &&
           make_all(asked, engine, error);
}

bool settlement_read_fetch(struct settlement *asked, struct engine *engine, const json_t *question,
                           struct error *error) {
    *asked = (struct settlement){.question = json_incref(json_unchanged(question))};
    return engine_idle(engine, error) && read_fetch(asked, engine, question, error);
}

bool settlement_walks(const struct settlement *asked) {
    bool walks = false;
    for (size_t i = 0; i < asked->count; i++)
        walks = walks || handed_back_walks(&asked->list[i]);
    return walks;
}

bool settlement_stays(const struct settlement *asked) {
    bool stays = false;
    for (size_t i = 0; i < asked->count; i++)
        stays = stays || (asked->list[i].outcome && asked->list[i].outcome->created);
    return stays;
}

bool settlement_verdict(const struct settlement *asked, size_t at, struct text *answer,
                        struct error *error) {
    const struct handed_back *one = &asked->list[at];
    if (one->refused.code)
        return error_set(error, one->refused.code, "%s", one->refused.text);
    add_verdict(answer, one);
    return !answer->failed || error_no_memory(error);
}

bool settlement_answer(const struct settlement *asked, struct text *answer, struct error *error) {
    const struct text *jobs = &asked->fetched.text;
    text_add(answer, "{\"outcomes\":");
    add_verdicts(answer, asked);
    if (jobs->data) {
        text_add(answer, ",\"jobs\":");
        text_append(answer, jobs->data, jobs->size);
    }
    text_push(answer, "}", 1);
    return !answer->failed || error_no_memory(error);
}

void settlement_clear(struct settlement *asked) {
    for (size_t i = 0; asked->list && i < asked->count; i++)
        handed_back_clear(&asked->list[i]);
    free(asked->list);
    fetched_clear(&asked->fetched);
    if (asked->wanted)
        fetch_clear(asked->wanted);
    free(asked->wanted);
    json_decref(asked->question);
    *asked = (struct settlement){0};
}

bool engine_settle(struct engine *engine, const json_t *question, struct text *answer,
                   struct error *error) {
    struct settlement asked;
    bool done = settlement_read(&asked, engine, question, error);
    if (done)
        settlements_walk(engine, &asked);
    if (done && !asked.error.code)
        settlements_write(engine, &asked);
    if (done) {
        done = asked.fine || error_set(error, asked.error.code, "%s", asked.error.text);
    }
    done = done && settlement_answer(&asked, answer, error);
    settlement_clear(&asked);
    return done;
}
