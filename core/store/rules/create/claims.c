#include "store/rules/create/claims.h"
#include "store/rules/create/create.h"
#include "store/rules/place/backlog.h"
#include <stdlib.h>
#include <string.h>

enum { LEAST = 2 }; /* one key is claimed by itself */

/* A key that is asked for. */
struct asking {
    struct claim *claim;
    const struct job_spec *spec;
};

/* What is done for all of them. */
struct question {
    struct set set; /* first */
    struct asking *list;
    size_t room;
    int64_t *definitions, *numbers, *untils; /* columns of the set */
    const char **keys, **tenants;
};

/* ---- which are asked for ---- */

/* True if nothing but its key may keep the job from being created. */
static bool claim_is_plain(struct store *store, struct job *job, int64_t deployment) {
    if (!job->unique_key)
        return true;
    if (backlog_of(store, job->handler))
        return false;
    int64_t of = deployment ? deployment : create_deployment(store, job->handler);
    const struct catalog_stream *stream = catalog_find(&store->catalog, job, of);
    if (stream)
        job->definition = stream->definition->id;
    return stream != NULL;
}

/* How many keys there are; 0: too few, or what becomes of a job is not known yet. */
static size_t count_keys(struct store *store, struct job_spec *specs, int64_t deployment) {
    size_t keys = 0;
    for (struct job_spec *spec = specs; spec; spec = spec->next) {
        if (!claim_is_plain(store, &spec->job, deployment))
            return 0;
        keys += spec->job.unique_key != NULL;
    }
    return keys < LEAST ? 0 : keys;
}

static int compare_keys(const struct asking *a, const struct asking *b) {
    int64_t one = a->spec->job.definition, other = b->spec->job.definition;
    int order = (one > other) - (one < other);
    return order ? order : strcmp(a->spec->job.unique_key, b->spec->job.unique_key);
}

/* Of one key first the job that comes first. */
static int in_order(const void *left, const void *right) {
    const struct asking *a = left, *b = right;
    int order = compare_keys(a, b);
    return order ? order : (a->claim > b->claim) - (a->claim < b->claim);
}

/* Each key once. */
static void collect(struct job_spec *specs, struct claims *claims, struct question *question) {
    struct claim *claim = claims->list;
    size_t count = 0, kept = 0;
    for (struct job_spec *spec = specs; spec; spec = spec->next, claim++)
        if (spec->job.unique_key)
            question->list[count++] = (struct asking){claim, spec};
    qsort(question->list, count, sizeof *question->list, in_order);
    for (size_t i = 0; i < count; i++)
        if (!kept || compare_keys(&question->list[kept - 1], &question->list[i]) != 0)
            question->list[kept++] = question->list[i];
    for (size_t i = 0; i < kept; i++)
        question->list[i].claim->state = CLAIM_DONE; /* unless it is held */
    question->room = kept;
}

/* ---- who holds them ---- */

static bool read_holders(struct set *set, struct store *store, struct row *row,
                         struct error *error) {
    const struct question *question = (const struct question *)set;
    enum answer step = NO;
    while ((step = db_step(&store->db, row, error)) == YES) {
        struct claim *claim = question->list[row_int(row, 0)].claim;
        claim->state = CLAIM_HELD;
        claim->found = unique_read(row, 1);
    }
    return step == NO;
}

static bool claim_ask(struct store *store, struct question *question, struct error *error) {
    for (size_t i = 0; i < question->room; i++) {
        question->definitions[i] = question->list[i].spec->job.definition;
        question->numbers[i] = (int64_t)i;
        question->keys[i] = question->list[i].spec->job.unique_key;
    }
    question->set = (struct set){.kind = SET_HOLDERS,
                                 .columns = {question->definitions, question->numbers},
                                 .texts = {question->keys},
                                 .count = question->room,
                                 .read = read_holders};
    return store->engine->set(store, &question->set, error);
}

/* ---- claiming the others ---- */

/* In the order of the list, as when they are created. */
static void give_ids(struct store *store, struct job_spec *specs, const struct claim *claim,
                     time_ms now) {
    for (struct job_spec *spec = specs; spec; spec = spec->next, claim++) {
        bool created = claim->state == CLAIM_DONE ||
                       (claim->state == CLAIM_HELD && unique_is_over(&claim->found, now)) ||
                       !spec->job.unique_key;
        if (created && !spec->job.id)
            spec->job.id = meta_id(store);
    }
}

static bool claim_free(struct store *store, struct question *question, time_ms now,
                       struct error *error) {
    size_t count = 0;
    for (size_t i = 0; i < question->room; i++) {
        const struct job_spec *spec = question->list[i].spec;
        if (question->list[i].claim->state != CLAIM_DONE)
            continue;
        question->definitions[count] = spec->job.definition;
        question->numbers[count] = spec->job.id;
        question->keys[count] = spec->job.unique_key;
        question->tenants[count] = spec->job.tenant;
        question->untils[count++] = spec->unique_until > now ? spec->unique_until : TIME_NONE;
    }
    question->set =
        (struct set){.kind = SET_CLAIM,
                     .columns = {question->definitions, question->numbers, question->untils},
                     .texts = {question->keys, question->tenants},
                     .count = count};
    return !count || store->engine->set(store, &question->set, error);
}

/* Keys that are kept for a time are purged as often as one by one. */
static bool purge(struct store *store, const struct job_spec *specs, time_ms now,
                  struct error *error) {
    int count = 0;
    for (const struct job_spec *spec = specs; spec; spec = spec->next)
        if (spec->job.unique_key && spec->unique_until > now && count++ % UNIQUE_PURGED == 0 &&
            !unique_purge(store, now, error))
            return false;
    return true;
}

/* ---- the whole ---- */

static bool question_begin(struct question *question, size_t count) {
    question->list = calloc(count, sizeof *question->list);
    question->definitions = calloc(count, sizeof *question->definitions);
    question->numbers = calloc(count, sizeof *question->numbers);
    question->untils = calloc(count, sizeof *question->untils);
    question->keys = calloc(count, sizeof *question->keys);
    question->tenants = calloc(count, sizeof *question->tenants);
    return question->list && question->definitions && question->numbers && question->untils &&
           question->keys && question->tenants;
}

static void question_end(struct question *question) {
    free(question->list);
    free(question->definitions);
    free(question->numbers);
    free(question->untils);
    free(question->keys);
    free(question->tenants);
}

static bool claim_make(struct store *store, struct job_spec *specs, time_ms now,
                       struct claims *claims, struct question *question, struct error *error) {
    collect(specs, claims, question);
    if (!purge(store, specs, now, error) || !claim_ask(store, question, error))
        return false;
    give_ids(store, specs, claims->list, now);
    return claim_free(store, question, now, error);
}

static size_t length(const struct job_spec *specs) {
    size_t count = 0;
    for (; specs; specs = specs->next)
        count++;
    return count;
}

bool claims_make(struct store *store, struct job_spec *specs, int64_t deployment, time_ms now,
                 struct claims *claims, struct error *error) {
    struct question question = {0};
    *claims = (struct claims){0};
    size_t keys = store->engine->sets ? count_keys(store, specs, deployment) : 0;
    if (!keys)
        return true;
    claims->list = calloc(length(specs), sizeof *claims->list);
    bool done =
        (question_begin(&question, keys) && claims->list) || db_no_memory(&store->db, error);
    done = done && claim_make(store, specs, now, claims, &question, error);
    question_end(&question);
    if (!done)
        claims_end(claims);
    return done;
}

void claims_end(struct claims *claims) {
    free(claims->list);
    *claims = (struct claims){0};
}
