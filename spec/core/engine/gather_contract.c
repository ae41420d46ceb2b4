/* gather_contract.c - how long a commit waits for creators. */
#include "../store/contract.h"
#include "engine/gather.h"

static void first(struct contract *c) {
    struct gather gather = {0};
    EXPECT(gather_part(&gather, 1, false, false) == GATHER_LEADS);
}

static void alone(struct contract *c) {
    struct gather gather = gather_next(1, 0, 400);
    EXPECT(gather_part(&gather, 1, false, false) == GATHER_LEADS);
}

static void meanwhile(struct contract *c) {
    struct gather gather = gather_next(1, 0, 400);
    EXPECT(gather_part(&gather, 1, true, false) == GATHER_WAITS);
    EXPECT(gather_part(&gather, 9, true, false) == GATHER_WAITS);
}

static void company(struct contract *c) {
    struct gather gather = gather_next(2, 1, 400);
    EXPECT(gather.patience >= 200 && gather.patience <= 201);
    EXPECT(gather_part(&gather, 1, false, false) == GATHER_GATHERS);
    EXPECT(gather_part(&gather, 2, false, true) == GATHER_WAITS);
    EXPECT(gather_part(&gather, 3, false, true) == GATHER_LEADS);
}

static void left_behind(struct contract *c) {
    struct gather gather = gather_next(0, 0, 0);
    EXPECT(gather.patience > 0 && gather_part(&gather, 1, false, false) == GATHER_LEADS);
}

static const struct check checks[] = {
    {"the first creator waits for no company", first},
    {"a creator that was alone waits for no company", alone},
    {"while a transaction is written its successor is waited for", meanwhile},
    {"as many are waited for as lately, half as long as their transaction took", company},
    {"after a transaction for none nobody is expected", left_behind},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
