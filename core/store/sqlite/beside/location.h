/* location.h - by which name the database is known. The log and the locks lie beside that name, so
 * under a second one (a hard link) the same file would be written by two that do not see each
 * other. It is recognised by device and inode. */
#pragma once

#include "store/sqlite/db/connection.h"

/* In a transaction: notes the present name, if it is another one than before; then *moved. */
bool location_note(struct store *store, bool *moved, struct error *error);

/* Before the database is opened: this process may have it open by another name, in which case both
 * would share an index that fits one log only. False: error. */
bool location_enter(struct store *store, const char *path, struct error *error);
void location_leave(struct store *store);

enum location {
    LOCATION_FINE,
    LOCATION_REFUSED, /* error: in use under its other name */
    LOCATION_BEHIND   /* there is a log beside its other name */
};

/* Of a store that has just been opened. `other` has PATH_MAX bytes for its other name. */
enum location location_look(struct store *store, char *other, struct error *error);

/* With nobody's store open: writes the log of that name into the database. */
bool location_bring_home(const char *path, const char *other, struct error *error);
