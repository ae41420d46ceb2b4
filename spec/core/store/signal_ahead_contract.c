/* signal_ahead_contract.c - who receives a signal is asked once in a transaction, and known to the
 * units behind it. */
#include "contract.h"
#include "store/rules/ground/state.h"
#include "store/rules/process/signal_ahead.h"
#include <string.h>

/* The memory of a unit that is gone is that of the next one. */
static void outlives(struct contract *c) {
    char name[] = "aaaa", tenant[] = "north";
    const struct unit_signal signal = {.name = name, .tenant = tenant, .until = TIME_NONE};
    json_t *receivers = json_array();
    EXPECT(store_begin(c->store, STORE_TURN, &c->error));
    EXPECT(signal_heard_note(c->store, &signal, receivers, &c->error));
    json_decref(receivers);
    EXPECT(signal_heard_find(c->store, &signal));
    strcpy(name, "bbbb");
    EXPECT(!signal_heard_find(c->store, &signal));
    strcpy(name, "aaaa");
    strcpy(tenant, "south");
    EXPECT(!signal_heard_find(c->store, &signal));
    strcpy(tenant, "north");
    EXPECT(signal_heard_find(c->store, &signal));
    EXPECT(store_commit(c->store, &c->error));
    EXPECT(!signal_heard_find(c->store, &signal));
}

static void forgotten(struct contract *c) {
    const struct unit_signal signal = {.name = "paid", .until = TIME_NONE};
    json_t *receivers = json_pack("[{s:i}]", "instance", 7);
    EXPECT(store_begin(c->store, STORE_TURN, &c->error));
    for (int way = 0; way < 3; way++) {
        EXPECT(signal_heard_note(c->store, &signal, receivers, &c->error));
        signals_ahead_forget(c->store, "other");
        signals_ahead_left(c->store, 8);
        EXPECT(signal_known(c->store, &signal));
        if (way == 0)
            signals_ahead_forget(c->store, "paid");
        else if (way == 1)
            signals_ahead_left(c->store, 7);
        else
            signals_ahead_forget_heard(c->store);
        EXPECT(!signal_known(c->store, &signal));
    }
    json_decref(receivers);
    EXPECT(store_commit(c->store, &c->error));
}

static const struct check checks[] = {
    {"what was asked is known though the unit that asked is gone", outlives},
    {"what begins or ceases to wait makes it unknown", forgotten},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
