#include "run/lease.h"

enum { CLOCK_STEP = 2000, STEP_GRACE = 3000, RENEWAL_MIN = 10 };

struct lease lease_new(time_ms span, time_ms now, time_ms at) {
    return (struct lease){
        .span = span, .at = at, .wall = now, .offset = now - at, .stepped = at - STEP_GRACE};
}

void lease_renewed(struct lease *lease, time_ms now, time_ms at) {
    lease->wall = now;
    lease->at = at;
}

time_ms lease_end(const struct lease *lease) {
    return lease->at + lease->span;
}

static time_ms third(const struct lease *lease) {
    time_ms third = lease->span / 3;
    return third > RENEWAL_MIN ? third : RENEWAL_MIN;
}

time_ms lease_renewal(const struct lease *lease) {
    return lease->at + third(lease);
}

bool lease_is_due(const struct lease *lease, time_ms now, time_ms at) {
    return at >= lease_renewal(lease) || now - lease->wall >= third(lease) ||
           now < lease->wall - CLOCK_STEP;
}

bool lease_is_over(const struct lease *lease, time_ms now, time_ms at) {
    return at >= lease->at + lease->span || now >= lease->wall + lease->span;
}

bool lease_in_step(struct lease *lease, time_ms now, time_ms at) {
    time_ms offset = now - at, step = offset - lease->offset;
    lease->offset = offset;
    if (step > CLOCK_STEP)
        lease->stepped = at;
    return at - lease->stepped >= STEP_GRACE;
}
