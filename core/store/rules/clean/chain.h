/* chain.h - the jobs that clean the history, each of which makes the next (rules §18). */
#pragma once

#include "job/cleanup.h"
#include "store/rules/ground/state.h"

#define CHAIN_WINDOW "cleanup"
#define CHAIN_DEMAND "cleanup_now"

struct chain {
    const char *key;
    json_t *plan; /* what its jobs were made by; NULL: there is no chain */
    int64_t jobs[CLEANUP_PARTS];
    int parts;
};

/* What the store knows of it; chain->plan is owned. */
bool chain_read(struct store *store, const char *key, struct chain *chain, struct error *error);
