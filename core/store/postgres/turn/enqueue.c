/* enqueue.c - one job in a transaction of its own. */
#include "store/postgres/db/engine.h"

bool postgres_enqueue(struct store *store, struct job_spec *spec, time_ms now,
                      struct error *error) {
    struct job_spec *next = spec->next;
    spec->next = NULL;
    bool done = store_create(store, spec, 0, now, error);
    spec->next = next;
    return done;
}
