/* lease.h - how long this executor's locks last, and when to doubt the leases of others (rules §4).
 * A lease counts on two clocks and is over as soon as one of them says so. */
#pragma once

#include "base/clock.h"

struct lease {
    time_ms span;
    time_ms at, wall; /* when it was last renewed: monotonic, wall clock */
    time_ms offset;   /* of the wall clock from the monotonic one */
    time_ms stepped;  /* monotonic; when the wall clock was last set */
};

struct lease lease_new(time_ms span, time_ms now, time_ms at);
/* Renews it, from the instants at which the turn began. */
void lease_renewed(struct lease *lease, time_ms now, time_ms at);
/* Return the monotonic instants at which it ends, and at which a turn renews it. */
time_ms lease_end(const struct lease *lease);
time_ms lease_renewal(const struct lease *lease);
/* True at a third of the lease, and at once after the clock was set back, or the lease would last
 * longer. */
bool lease_is_due(const struct lease *lease, time_ms now, time_ms at);
bool lease_is_over(const struct lease *lease, time_ms now, time_ms at);
/* False for a while after the clock was set forward, which ends every lease at once: the others get
 * time to renew theirs. */
bool lease_in_step(struct lease *lease, time_ms now, time_ms at);
