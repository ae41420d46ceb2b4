/* power_trial.h - one life of a store, with its power cuts; see power_contract.c. */
#ifndef MOONSHIFT_SPEC_POWER_TRIAL_H
#define MOONSHIFT_SPEC_POWER_TRIAL_H

#include "power_vfs.h"

/* What was going on when the power went off. */
enum phase { PHASE_NEW, PHASE_UPGRADE, PHASE_WORK, PHASE_RECOVERY, PHASES };
const char *phase_name(enum phase phase);

/* How a life ended. */
enum verdict { FINE, LOST, DAMAGED, STUCK, VERDICTS };

struct tally { /* shared by processes */
    long cuts, lives;
    long hits[PHASES][POWER_KINDS];
    long verdicts[VERDICTS];
    long in_flight; /* cuts after which the transaction in the making was there, whole */
    int told;
};

/* What is wrong with the store, so that its harness can be seen to find it. */
struct mode {
    const char *name;
    bool lies, careless, early; /* see power_lie, power_careless, struct life */
    bool silent;                /* it is expected: nothing is printed */
};

#define COUNT(what) __atomic_add_fetch(&(what), 1, __ATOMIC_RELAXED)

/* Lives it, in an empty directory, and counts. */
void trial_run(const char *root, const struct mode *mode, uint64_t seed, struct tally *tally);

#endif
