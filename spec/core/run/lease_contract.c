/* lease_contract.c - when an executor renews its lease, when it has lost it, and when it may judge
 * others: by a clock that never jumps, and by the wall clock, which may. */
#include "../store/contract.h"
#include "run/lease.h"

enum { SPAN = 9000, THIRD = 3000, AT = 500000, STEP = 2000, GRACE = 3000 };

static struct lease fresh(void) {
    return lease_new(SPAN, NOW, AT);
}

static void renewed(struct contract *c) {
    struct lease lease = fresh();
    EXPECT(lease_renewal(&lease) == AT + THIRD && lease_end(&lease) == AT + SPAN);
    EXPECT(!lease_is_due(&lease, NOW, AT + THIRD - 1));
    EXPECT(lease_is_due(&lease, NOW, AT + THIRD));
    lease_renewed(&lease, NOW + THIRD, AT + THIRD);
    EXPECT(lease_renewal(&lease) == AT + 2 * THIRD && lease_end(&lease) == AT + THIRD + SPAN);
    EXPECT(!lease_is_due(&lease, NOW + 2 * THIRD - 1, AT + 2 * THIRD - 1));
    struct lease brief = lease_new(12, NOW, AT);
    EXPECT(lease_renewal(&brief) == AT + 10);
}

static void wall_set(struct contract *c) {
    struct lease lease = fresh();
    EXPECT(!lease_is_due(&lease, NOW + THIRD - 1, AT) && lease_is_due(&lease, NOW + THIRD, AT));
    EXPECT(!lease_is_due(&lease, NOW - STEP, AT) && lease_is_due(&lease, NOW - STEP - 1, AT));
}

static void over(struct contract *c) {
    struct lease lease = fresh();
    EXPECT(!lease_is_over(&lease, NOW + SPAN - 1, AT + SPAN - 1));
    EXPECT(lease_is_over(&lease, NOW, AT + SPAN) && lease_is_over(&lease, NOW + SPAN, AT));
    lease_renewed(&lease, NOW + THIRD, AT + THIRD);
    EXPECT(!lease_is_over(&lease, NOW + SPAN, AT + SPAN));
}

/* A machine that slept, or whose clock was set, waits until the others have renewed theirs. */
static void out_of_step(struct contract *c) {
    struct lease lease = fresh();
    EXPECT(lease_in_step(&lease, NOW, AT) && lease_in_step(&lease, NOW + STEP, AT));
    EXPECT(!lease_in_step(&lease, NOW + 2 * STEP + 1, AT));
    EXPECT(!lease_in_step(&lease, NOW + 2 * STEP + GRACE, AT + GRACE - 1));
    EXPECT(lease_in_step(&lease, NOW + 2 * STEP + GRACE + 1, AT + GRACE));
    EXPECT(lease_in_step(&lease, NOW, AT + GRACE)); /* set back: nobody seems dead */
}

static const struct check checks[] = {
    {"a lease is renewed after a third of its span", renewed},
    {"a wall clock that was set renews it sooner", wall_set},
    {"a lease is over by either clock", over},
    {"after a step of the wall clock nobody is judged for a while", out_of_step},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
