#include "store/rules/ground/defined.h"
#include "base/json.h"
#include <stdlib.h>
#include <string.h>

struct defined_kept {
    struct defined_kept *next;
    int64_t catalog; /* a deployment changes it */
    struct defined defined;
    char handler[];
};

static void forget_all(struct store *store) {
    while (store->defined) {
        struct defined_kept *next = store->defined->next;
        free(store->defined);
        store->defined = next;
    }
}

static const struct defined_kept *find(const struct store *store, const char *handler) {
    const struct defined_kept *kept = store->defined;
    while (kept && !(kept->catalog == store->meta.catalog && strcmp(kept->handler, handler) == 0))
        kept = kept->next;
    return kept;
}

/* What is not kept is read again. */
static void keep(struct store *store, const char *handler, const struct defined *defined) {
    const size_t size = strlen(handler) + 1;
    struct defined_kept *kept = store->writing ? malloc(sizeof *kept + size) : NULL;
    if (!kept)
        return;
    *kept = (struct defined_kept){store->defined, store->meta.catalog, *defined};
    memcpy(kept->handler, handler, size);
    store->defined = kept;
}

bool defined_read(struct store *store, const char *handler, struct defined *defined,
                  struct error *error) {
    const struct defined_kept *kept = find(store, handler);
    *defined = kept ? kept->defined : (struct defined){0};
    if (kept)
        return true;
    struct row *row = db_query(&store->db, error, store->engine->sql->configured, "t", handler);
    enum answer step = db_step(&store->db, row, error);
    if (step == NO)
        keep(store, handler, defined);
    if (step != YES)
        return step == NO;
    const char *category = row_text(row, 1);
    defined->retries = row_int32(row, 0);
    if (category && strlen(category) < sizeof defined->category)
        strcpy(defined->category, category);
    defined->priority_given = row_int32(row, 3) != 0;
    defined->priority = defined->priority_given ? row_int(row, 2) : 0;
    row_done(row);
    keep(store, handler, defined);
    return true;
}

void defined_apply(const struct defined *defined, const struct store *store,
                   struct job_spec *spec) {
    struct job *job = &spec->job;
    if (job->retries < 1)
        job->retries = defined->retries;
    if (!job->category && *defined->category)
        job->category = defined->category;
    if (defined->priority_given && !spec->priority_given && store->rules->produce_priorities)
        job->priority = defined->priority;
}

bool defined_create(struct store *store, struct job_spec *spec, const json_t *payload, time_ms now,
                    struct error *error) {
    struct defined defined;
    char *text = payload ? json_write(payload, &spec->job.payload_size) : NULL;
    if (!text)
        return db_no_memory(&store->db, error);
    spec->job.payload = text;
    bool done = defined_read(store, spec->job.handler, &defined, error);
    if (done) {
        defined_apply(&defined, store, spec);
        done = store->ops->create(store, spec, 0, now, error);
    }
    free(text);
    return done;
}

const struct txn_hook defined_hook = {.committed = forget_all, .drop = forget_all, .parts = true};
