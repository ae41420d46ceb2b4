/* signal_ahead.h - which signals of the units of a transaction nothing waits for, asked at once
 * where each question is a wait. What begins to wait since is forgotten: then it is asked for when
 * the signal is given, as without this. */
#ifndef MOONSHIFT_STORE_RULES_PROCESS_SIGNAL_AHEAD_H
#define MOONSHIFT_STORE_RULES_PROCESS_SIGNAL_AHEAD_H

#include "job/outcome.h"
#include "store/rules/ground/txn_hook.h"

struct store;

/* Asks for what these units give, in the open transaction. */
bool signals_ahead_ask(struct store *store, struct outcome *const *outcomes, size_t count,
                       struct error *error);
/* True if nothing waits for it, as far as is known. */
bool signal_unheard(const struct store *store, const struct unit_signal *one);
/* Something waits for it from now on. */
void signals_ahead_forget(struct store *store, const char *name);

extern const struct txn_hook signals_ahead_hook;

#endif
