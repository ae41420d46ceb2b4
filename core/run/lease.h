/* lease.h - how long this executor's locks last, and when to doubt the leases of others
 * (rules §4). A lease counts on two clocks; whichever says first that it is over is right. */
#ifndef MOONSHIFT_RUN_LEASE_H
#define MOONSHIFT_RUN_LEASE_H

#include "base/clock.h"

struct lease {
    time_ms span;
    time_ms at, wall; /* when it was last renewed: monotonic, wall clock */
    time_ms offset;   /* of the wall clock from the monotonic one */
    time_ms stepped;  /* monotonic; when the wall clock was last set */
};

struct lease lease_new(time_ms span, time_ms now, time_ms at);
/* Renewed, by a turn that began at these instants. */
void lease_renewed(struct lease *lease, time_ms now, time_ms at);
/* Monotonic: when it ends, and when a turn renews it. */
time_ms lease_end(const struct lease *lease);
time_ms lease_renewal(const struct lease *lease);
/* At a third of the lease; at once after the clock was set back, or the lease would last longer. */
bool lease_is_due(const struct lease *lease, time_ms now, time_ms at);
bool lease_is_over(const struct lease *lease, time_ms now, time_ms at);
/* False for a while after the clock was set forward, which ends every lease at once: the others get
 * time to renew theirs. */
bool lease_in_step(struct lease *lease, time_ms now, time_ms at);

#endif
