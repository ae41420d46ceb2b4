#include "store/rules/ground/defined.h"
#include "base/json.h"
#include <stdlib.h>
#include <string.h>

bool defined_read(struct store *store, const char *handler, struct defined *defined,
                  struct error *error) {
    *defined = (struct defined){0};
    struct row *row = db_query(&store->db, error, store->engine->sql->configured, "t", handler);
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step == NO;
    const char *category = row_text(row, 1);
    defined->retries = row_int32(row, 0);
    if (category && strlen(category) < sizeof defined->category)
        strcpy(defined->category, category);
    defined->priority_given = row_int32(row, 3) != 0;
    defined->priority = defined->priority_given ? row_int(row, 2) : 0;
    row_done(row);
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
        done = store_create(store, spec, 0, now, error);
    }
    free(text);
    return done;
}
