/* joblog.h - the ended jobs that a query of the log means, for verbs that change them. */
#ifndef MOONSHIFT_STORE_SQLITE_JOBLOG_H
#define MOONSHIFT_STORE_SQLITE_JOBLOG_H

#include "store/sqlite/verbs.h"

/* The jobs of one step in the order of their ends, from where the order stands; `after` and `upto`
 * count ends. Moves the order behind them. */
bool joblog_step(struct store *store, struct step *step, struct order *order, struct error *error);
/* How many they are. */
bool joblog_count(struct store *store, const struct order *order, int64_t *count,
                  struct error *error);

#endif
