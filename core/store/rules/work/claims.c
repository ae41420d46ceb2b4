#include "store/rules/work/claims.h"
#include "store/rules/backlog.h"
#include "store/rules/unique.h"
#include "store/rules/work/work.h"
#include <stdlib.h>
#include <string.h>

enum { LEAST = 2 }; /* one key is claimed by itself */

/* A key that is asked for. */
struct asking {
    struct claim *claim;
    const struct job_spec *spec;
    size_t at; /* in the list */
};

/* The question for all of them. */
struct question {
    struct set set; /* first */
    struct asking *list;
    int64_t *definitions, *jobs, *untils;
    const char **keys;
    size_t read; /* so many have their answers */
};

/* ---- what is asked ---- */

static int in_order(const void *left, const void *right) {
    const struct asking *a = left, *b = right;
    int64_t one = a->spec->job.definition, other = b->spec->job.definition;
    int order = (one > other) - (one < other);
    if (order == 0)
        order = strcmp(a->spec->job.unique_key, b->spec->job.unique_key);
    return order ? order : (a->at > b->at) - (a->at < b->at);
}

/* True if nothing but its key decides whether the job is created. */
static bool asks(struct store *store, struct job *job, int64_t deployment) {
    if (!job->unique_key || backlog_of(store, job->handler))
        return false;
    int64_t of = deployment ? deployment : create_deployment(store, job->handler);
    const struct catalog_stream *stream = catalog_find(&store->catalog, job, of);
    if (stream)
        job->definition = stream->definition->id;
    return stream != NULL;
}

static void collect(struct store *store, struct job_spec *specs, int64_t deployment,
                    struct claims *claims, struct question *question) {
    size_t at = 0, count = 0;
    for (struct job_spec *spec = specs; spec; spec = spec->next, at++) {
        struct claim *claim = &claims->list[at];
        claim->given = spec->job.id != 0;
        if (!claim->given)
            spec->job.id = meta_id(store);
        claim->asked = asks(store, &spec->job, deployment);
        if (claim->asked)
            question->list[count++] = (struct asking){claim, spec, at};
    }
    question->set.count = count;
    qsort(question->list, count, sizeof *question->list, in_order);
}

static void fill(struct question *question, time_ms now) {
    for (size_t i = 0; i < question->set.count; i++) {
        const struct job_spec *spec = question->list[i].spec;
        question->definitions[i] = spec->job.definition;
        question->jobs[i] = spec->job.id;
        question->untils[i] = spec->unique_until > now ? spec->unique_until : TIME_NONE;
        question->keys[i] = spec->job.unique_key;
    }
}

/* ---- asking ---- */

/* The rows come in the order of the question. */
static bool read_claimed(struct set *set, struct store *store, struct row *row,
                         struct error *error) {
    struct question *question = (struct question *)set;
    enum answer step = NO;
    while ((step = db_step(&store->db, row, error)) == YES)
        while (question->read < set->count) {
            const struct asking *asking = &question->list[question->read++];
            asking->claim->claimed = asking->spec->job.id == row_int(row, 0);
            if (asking->claim->claimed)
                break;
        }
    return step == NO;
}

/* Keys that are kept for a time are purged as often as one by one. */
static bool purge(struct store *store, const struct question *question, time_ms now,
                  struct error *error) {
    size_t count = 0;
    for (size_t i = 0; i < question->set.count; i++)
        count += question->untils[i] != TIME_NONE;
    for (; count > 0; count = count > UNIQUE_PURGED ? count - UNIQUE_PURGED : 0)
        if (!unique_purge(store, now, error))
            return false;
    return true;
}

static bool ask(struct store *store, struct question *question, time_ms now, struct error *error) {
    if (!question->set.count)
        return true;
    fill(question, now);
    return purge(store, question, now, error) && store->engine->set(store, &question->set, error);
}

static bool question_room(struct question *question, size_t count) {
    question->list = calloc(count, sizeof *question->list);
    question->definitions = calloc(count, sizeof *question->definitions);
    question->jobs = calloc(count, sizeof *question->jobs);
    question->untils = calloc(count, sizeof *question->untils);
    question->keys = calloc(count, sizeof *question->keys);
    question->set = (struct set){
        .kind = SET_CLAIM,
        .columns = {question->definitions, question->jobs, question->untils},
        .texts = question->keys,
        .read = read_claimed,
    };
    return question->list && question->definitions && question->jobs && question->untils &&
           question->keys;
}

static void question_end(struct question *question) {
    free(question->list);
    free(question->definitions);
    free(question->jobs);
    free(question->untils);
    free(question->keys);
}

bool claims_make(struct store *store, struct job_spec *specs, int64_t deployment, time_ms now,
                 struct claims *claims, struct error *error) {
    struct question question = {0};
    size_t count = 0, keyed = 0;
    *claims = (struct claims){0};
    for (const struct job_spec *spec = specs; spec; spec = spec->next, count++)
        keyed += spec->job.unique_key != NULL;
    if (!store->engine->sets || keyed < LEAST)
        return true;
    claims->list = calloc(count, sizeof *claims->list);
    bool done =
        (question_room(&question, count) && claims->list) || db_no_memory(&store->db, error);
    if (done)
        collect(store, specs, deployment, claims, &question);
    done = done && ask(store, &question, now, error);
    question_end(&question);
    if (!done)
        claims_end(claims);
    return done;
}

void claims_end(struct claims *claims) {
    free(claims->list);
    *claims = (struct claims){0};
}
