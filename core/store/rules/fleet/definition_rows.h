/* definition_rows.h - what the store keeps of the definitions of a script folder (rules §13).
 *
 * The ids of the definitions are filled in. */
#pragma once

#include "job/definition.h"
#include "store/rules/ground/row.h"

/* YES: the deployment has all of them, as they are. */
enum answer definition_rows_same(struct store *store, const struct definitions *definitions,
                                 int64_t deployment, struct error *error);
/* They are those of `deployment` from now on. `before`: the one of its name that counted until now,
 * 0: none; what it has as it is costs nothing each. Those that it alone has stay there. In the
 * transaction of the caller; renews the catalog. */
bool definition_rows_write(struct store *store, const struct definitions *definitions,
                           int64_t before, int64_t deployment, struct error *error);
/* A newer deployment counts: nothing of its rows changes. */
bool definition_rows_leave(struct store *store, const struct definitions *definitions,
                           struct error *error);
