/* signal_ahead.h - what waits for the signals of the units of a transaction.
 *
 * Which of them nothing waits for is asked at once where each question is a wait. The receivers of
 * the others are asked for as the first unit gives such a signal, and are known to the units behind
 * it. What has begun or ceased to wait since is forgotten, and asked for again. */
#pragma once

#include "job/outcome.h"
#include "store/rules/ground/txn_hook.h"

struct store;

/* Asks for what these units give, in the open transaction. */
bool signals_ahead_ask(struct store *store, struct outcome *const *outcomes, size_t count,
                       struct error *error);
/* True if nothing waits for it, as far as is known. */
bool signal_unheard(const struct store *store, const struct unit_signal *one);
/* What signal_receivers has answered for an equal signal. NULL: it is not known. Borrowed. */
const json_t *signal_heard_find(const struct store *store, const struct unit_signal *one);
/* Notes the answer for the transaction. */
bool signal_heard_note(struct store *store, const struct unit_signal *one, json_t *receivers,
                       struct error *error);
/* True if it can be given without a question. */
static inline bool signal_known(const struct store *store, const struct unit_signal *one) {
    return signal_unheard(store, one) || signal_heard_find(store, one);
}

/* Something waits for it from now on. */
void signals_ahead_forget(struct store *store, const char *name);
/* Something of this instance waits no longer; of instance 0, a start event. */
void signals_ahead_left(struct store *store, int64_t instance);
/* Whatever may have changed. */
void signals_ahead_forget_heard(struct store *store);

extern const struct txn_hook signals_ahead_hook;
