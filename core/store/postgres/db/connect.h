/* connect.h - a connection to the server of an address, and why it was refused. */
#pragma once

#include "store/postgres/db/address.h"

/* Waits for it, 5 s for each server. Tries each host of the address. NULL: no memory. Ask PQstatus.
 */
PGconn *connect_to(const struct address *address);

/* Behind a connection that failed: with which SQLSTATE does the server refuse it? libpq tells the
 * words alone, in the server's language. "08001": it does not answer. */
const char *connect_refusal(const struct address *address, char state[6]);
