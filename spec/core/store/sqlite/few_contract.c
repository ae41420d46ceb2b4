/* few_contract.c - what questions for few jobs cost on a file, in steps of its machine. */
#include "../few.h"
#include "store/sqlite/db/connection.h"

static int64_t steps; /* of all statements that have ended */

static int count_steps(unsigned kind, void *arg, void *statement, void *took) {
    (void)kind;
    (void)arg;
    (void)took;
    steps += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
    return 0;
}

static int64_t cost_since(struct contract *c) {
    const int64_t cost = steps;
    steps = 0;
    sqlite3_trace_v2(c->store->db.handle, SQLITE_TRACE_PROFILE, count_steps, NULL);
    return cost;
}

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
