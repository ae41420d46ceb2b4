/* rota.h - what a schedule says beside its cycle: what becomes of an occurrence that meets the run
 * before it, how far dates are spread, how many late ones run (rules §20). Pure. */
#ifndef MOONSHIFT_BASE_ROTA_H
#define MOONSHIFT_BASE_ROTA_H

#include "base/cycle.h"
#include <jansson.h>

/* An occurrence falls due while the one before it runs, or is due and waits. */
enum overlap {
    OVERLAP_SKIP,   /* it is passed over */
    OVERLAP_QUEUE,  /* it runs after that one, never beside it */
    OVERLAP_REPLACE /* that one is cancelled */
};

struct rota {
    enum overlap overlap;
    time_ms jitter;   /* ms; 0: none */
    int32_t catch_up; /* late runs at most, of misfire "all"; 0: any number */
};

/* From { overlap, jitter, catch_up, misfire } of a schedule; other keys are not looked at. */
bool rota_read(const json_t *spec, struct rota *rota, struct error *error);

/* True for the keys that only a schedule has. */
bool rota_key(const char *key);

/* How much later than `date` the occurrence of the schedule `name` is due: the same whenever it is
 * asked, below the jitter, and never so much that it meets the cycle's next date. */
time_ms rota_delay(const struct rota *rota, const char *name, const struct cycle *cycle,
                   time_ms date);

#endif
