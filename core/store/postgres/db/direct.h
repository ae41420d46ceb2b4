/* direct.h - the session that locks outlive a transaction in, and that is notified. */
#pragma once

#include "base/error.h"

struct store;

/* False: there can be none. */
bool direct_has(const struct store *store);
/* It is another one than that of the statements, and is open. */
bool direct_is_other(const struct store *store);
/* Opens it at the first call. NULL: error. */
struct db *direct_db(struct store *store, struct error *error);
struct session *direct_session(struct store *store);
/* Connects it again after a loss, once a second at most, and takes what it had held. */
bool direct_again(struct store *store, struct error *error);
void direct_close(struct store *store);
