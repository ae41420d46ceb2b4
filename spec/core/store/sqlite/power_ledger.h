/* power_ledger.h - what callers of the store were told, kept by hand: the fate of every job. */
#ifndef MOONSHIFT_SPEC_POWER_LEDGER_H
#define MOONSHIFT_SPEC_POWER_LEDGER_H

#include "store/store.h"

enum { LEDGER_JOBS = 2048, LEDGER_KEYS = 4 };

enum told { TOLD_NOTHING, TOLD_ALIVE, TOLD_DONE, TOLD_REMOVED };

struct told_job {
    unsigned char told; /* enum told */
    bool suspended;
    bool ours;       /* the store made it by itself: of a batch, of a cycle */
    signed char key; /* of the unique keys; -1: none */
    int retries, failures;
    int64_t priority;
};

struct ledger {
    int64_t last;              /* the highest id told of */
    int64_t keys[LEDGER_KEYS]; /* who holds each; 0: nobody */
    struct told_job jobs[LEDGER_JOBS];
};

void ledger_copy(struct ledger *to, const struct ledger *from);
/* NULL beyond LEDGER_JOBS. */
struct told_job *ledger_job(struct ledger *ledger, int64_t id);
/* It has ended, or has no retries left: its key is free. */
void ledger_unkey(struct ledger *ledger, int64_t id);
/* Jobs with ids above `after` that the store has made by itself. */
bool ledger_discover(struct ledger *ledger, int64_t after, struct store *store, time_ms now,
                     struct error *error);

/* Does the store have what was told, and no more? If not, `text` says what differs first. */
bool ledger_agrees(struct ledger *ledger, struct store *store, time_ms now, char *text, size_t size,
                   struct error *error);

#endif
