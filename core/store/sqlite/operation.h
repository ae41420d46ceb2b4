/* operation.h - the operation log: who changed what, one entry a call (rules §11). */
#ifndef MOONSHIFT_STORE_SQLITE_OPERATION_H
#define MOONSHIFT_STORE_SQLITE_OPERATION_H

#include "store/sqlite/connection.h"

/* One entry a call, or, while store->journal names an entry, more of that one. `before` and `after`
 * are shown as they are; NULL: none, or not the same for all. Of activated jobs it also says how
 * many stay suspended, and why (store->journal.held). */
bool operation_write(struct store *store, const char *verb, const char *entity, int count,
                     const char *before, const char *after, time_ms now, struct error *error);

#endif
