/* bell.h - doorbells: one datagram socket per executor, "<store>-bell-<id>" (rules §5). A bell that
 * cannot be made or reached is no error: who listens looks again in time anyway. */
#pragma once

#include "store/sqlite/db/connection.h"

/* Binds the bell of executor `id`. */
void bell_make(struct bell *bell, const char *path, int64_t id);
/* True if it was rung. */
bool bell_empty(const struct bell *bell);
void bell_ring(struct bell *bell, const char *path, int64_t id);
void bell_close(struct bell *bell);

/* Removes the socket of an executor that is gone. */
void bell_remove(const char *path, int64_t id);
