/* gate_contract.c - writers take turns through the gate. */
#include "../../contract.h"
#include "store/sqlite/turn/gate.h"
#include <sys/resource.h>

static struct gate gate; /* of another process */

static bool opens(struct contract *c) {
    return gate_open(&gate, sqlite_of(c->store)->path, &c->error);
}

static bool writes(struct contract *c, bool keeps) {
    if (!store_begin(c->store, STORE_COMMAND, &c->error))
        return false;
    if (keeps)
        return store_commit(c->store, &c->error);
    store_rollback(c->store);
    return true;
}

static void told(struct contract *c) {
    EXPECT(opens(c));
    uint32_t turn = gate_turn(&gate);
    EXPECT(writes(c, true));
    EXPECT(gate_turn(&gate) != turn);
    turn = gate_turn(&gate);
    EXPECT(writes(c, false));
    EXPECT(gate_turn(&gate) != turn);
    turn = gate_turn(&gate);
    EXPECT(store_tend(c->store, CHORE_LOG, 0, NULL, &c->error));
    EXPECT(gate_turn(&gate) != turn);
    gate_close(&gate);
}

/* How often this thread has slept. */
static long sleeps(void) {
    struct rusage usage = {0};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

/* Each of these waits would sleep if it had to wait at all. */
static void at_once(struct contract *c) {
    EXPECT(opens(c));
    uint32_t turn = gate_turn(&gate);
    EXPECT(writes(c, true));
    const long before = sleeps();
    for (int i = 0; i < 10000; i++)
        gate_wait(&gate, turn);
    EXPECT(sleeps() - before < 1000);
    gate_close(&gate);
}

static void stands_back(struct contract *c) {
    EXPECT(opens(c));
    EXPECT(!gate_stand_back(&sqlite_of(c->store)->gate));
    gate_queue(&gate);
    EXPECT(gate_stand_back(&sqlite_of(c->store)->gate));
    gate_unqueue(&gate);
    EXPECT(!gate_stand_back(&sqlite_of(c->store)->gate));
    gate_close(&gate);
}

/* A wait that is told ends at once, however often the page was found without one. */
static void told_again(struct contract *c) {
    EXPECT(opens(c));
    for (int i = 0; i < 3; i++) {
        EXPECT(writes(c, true) && writes(c, true));
        EXPECT(!atomic_load(&gate.page->sleeping) && !atomic_load(&gate.page->waiting));
        gate_queue(&gate);
        gate_wait(&gate, gate_turn(&gate));
        EXPECT(atomic_load(&gate.page->sleeping) && atomic_load(&gate.page->waiting));
        gate_unqueue(&gate);
    }
    gate_close(&gate);
}

/* Another writer's look that has just found the byte free forgets one that comes meanwhile. */
static void forgotten(struct contract *c) {
    EXPECT(opens(c));
    gate_queue(&gate);
    atomic_store(&gate.page->waiting, 0);
    EXPECT(!gate_stand_back(&sqlite_of(c->store)->gate));
    gate_queue(&gate);
    EXPECT(gate_stand_back(&sqlite_of(c->store)->gate));
    gate_close(&gate);
}

/* Without room for the count a writer looks every 0.2 ms. */
static void unmapped(struct contract *c) {
    struct gate none = {.file = -1};
    EXPECT(gate_turn(&none) == 0);
    gate_ended(&none);
    gate_wait(&none, 0);
    EXPECT(writes(c, true));
}

static const struct check checks[] = {
    {"each end of a transaction and of a checkpoint is told to those that wait", told},
    {"a writer does not wait for an end that has been", at_once},
    {"a writer stands back while another one waits, and not for ever", stands_back},
    {"those that wait are known by the page, and no longer than they wait", told_again},
    {"a writer that is forgotten while it comes is known once it looks again", forgotten},
    {"a gate that has no room for the count is a gate", unmapped},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
