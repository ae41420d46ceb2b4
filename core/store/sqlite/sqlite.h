/* sqlite.h - the SQLite back end, as store.c opens it; the verbs of store.h are its functions. */
#ifndef MOONSHIFT_STORE_SQLITE_SQLITE_H
#define MOONSHIFT_STORE_SQLITE_SQLITE_H

#include "store/store.h"

/* `path` NULL: in memory. */
struct store *sqlite_open(const char *path, enum store_mode mode, const struct settings *settings,
                          struct error *error);

#endif
