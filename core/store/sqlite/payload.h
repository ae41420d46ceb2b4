/* payload.h - the filter "payload" in SQLite's words. */
#ifndef MOONSHIFT_STORE_SQLITE_PAYLOAD_H
#define MOONSHIFT_STORE_SQLITE_PAYLOAD_H

#include "store/rules/ask/query.h"

/* Makes the SQL function payload_fits known to the connection. */
bool payload_attach(struct store *store, struct error *error);

/* Fields of the payload by their path; tables go deeper, a list is any of its values. */
filter_add payload_filter;

#endif
