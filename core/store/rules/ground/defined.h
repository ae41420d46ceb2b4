/* defined.h - what a definition says of the jobs that the store makes by itself: of batches, of
 * history cleanup, of verbs at a date (rules §9). */
#pragma once

#include "job/job_spec.h"
#include "store/rules/ground/state.h"
#include "store/rules/ground/txn_hook.h"

struct defined {
    int64_t priority;
    bool priority_given;
    int32_t retries; /* 0: nothing said */
    char category[JOB_NAME_MAX + 1];
};

/* Reads the definition of that name, once in a transaction; one that is not there says nothing. */
bool defined_read(struct store *store, const char *handler, struct defined *defined,
                  struct error *error);

/* Gives the job what it does not have yet; `defined` must outlive it. The priority goes before the
 * one that the job has by a setting. */
void defined_apply(const struct defined *defined, const struct store *store, struct job_spec *spec);

/* Creates a job that the store makes by itself, with this payload and what its definition says. */
bool defined_create(struct store *store, struct job_spec *spec, const json_t *payload, time_ms now,
                    struct error *error);

extern const struct txn_hook defined_hook;
