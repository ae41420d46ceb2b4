/* estimate_contract.c - how long runs are expected to take, by those that have ended. */
#include "../../store/contract.h"
#include "run/pool/estimate.h"

static bool near(double value, double wanted) {
    return value > wanted - 0.001 && value < wanted + 0.001;
}

static void unknown(struct contract *c) {
    struct estimate estimate = {0};
    EXPECT(near(estimate_run(&estimate, 7), UNKNOWN_RUN));
    estimate_note(&estimate, 7, 50);
    EXPECT(near(estimate_run(&estimate, 8), UNKNOWN_RUN));
    estimate_clear(&estimate);
}

static void averages(struct contract *c) {
    struct estimate estimate = {0};
    estimate_note(&estimate, 7, 80);
    EXPECT(near(estimate_run(&estimate, 7), 80));
    estimate_note(&estimate, 7, 0);
    EXPECT(near(estimate_run(&estimate, 7), 70));
    estimate_note(&estimate, 7, 150);
    EXPECT(near(estimate_run(&estimate, 7), 80));
    estimate_clear(&estimate);
}

static void forgets(struct contract *c) {
    struct estimate estimate = {0};
    estimate_note(&estimate, 7, 10000);
    for (int i = 0; i < 60; i++)
        estimate_note(&estimate, 7, 1);
    EXPECT(estimate_run(&estimate, 7) < 5);
    estimate_clear(&estimate);
}

static void clock_steps(struct contract *c) {
    struct estimate estimate = {0};
    estimate_note(&estimate, 7, -3600000);
    EXPECT(near(estimate_run(&estimate, 7), 0));
    estimate_clear(&estimate);
}

static void many(struct contract *c) {
    struct estimate estimate = {0};
    for (int64_t definition = 1; definition <= 1000; definition++)
        estimate_note(&estimate, definition << 8, (double)definition);
    for (int64_t definition = 1; definition <= 1000; definition++)
        EXPECT(near(estimate_run(&estimate, definition << 8), (double)definition));
    estimate_clear(&estimate);
}

static void left(struct contract *c) {
    EXPECT(near(estimate_left(80, 30), 50) && near(estimate_left(80, 80), 0));
    EXPECT(near(estimate_left(80, 200), 120) && near(estimate_left(0, 200), 200));
    EXPECT(near(estimate_fills(30), 30) && near(estimate_fills(10000), HORIZON));
}

int main(void) {
    static const struct check checks[] = {
        {"a handler of which no run has ended is expected to take a millisecond", unknown},
        {"each run has a weight of one eighth", averages},
        {"one long run is forgotten after many short ones", forgets},
        {"no run takes less than no time", clock_steps},
        {"each of many handlers has an estimate of its own", many},
        {"a run that outlives its estimate is expected to go on for as long as it is over it",
         left},
    };
    return contract_run(checks, sizeof checks / sizeof checks[0], false);
}
