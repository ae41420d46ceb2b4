/* gather_contract.c - how long a commit waits for creators. */
#include "../store/contract.h"
#include "engine/gather.h"

static void company(struct contract *c) {
    struct gather gather = gather_next(2, 1, 400);
    EXPECT(gather.expected == 3);
    EXPECT(gather.patience >= 200 && gather.patience <= 201);
}

static void left_behind(struct contract *c) {
    struct gather gather = gather_next(0, 0, 0);
    EXPECT(gather.expected == 0 && gather.patience > 0);
}

static const struct check checks[] = {
    {"as many are waited for as lately, half as long as their transaction took", company},
    {"after a transaction for none nobody is expected", left_behind},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
