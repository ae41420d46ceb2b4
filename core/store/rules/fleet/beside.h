/* beside.h - the files beside the database, "<store>-gate" and its like. Any user who may write
 * into the folder can put something under such a name. So only plain files of this store are
 * opened, and only a file that was made just now is given to the store's owner. */
#pragma once

#include "base/error.h"

enum {
    BESIDE_FAILED = -1, /* the system refused: errno says why */
    BESIDE_FOREIGN = -2 /* what lies there is not ours */
};

/* Opens "<path><suffix>" close-on-exec, and never through a link. `flags`: O_RDONLY or O_RDWR;
 * with O_CREAT it is made if it is missing, with the mode and, by root, the owner of the store;
 * with O_EXCL too it is made anew, whatever was there before. Below 0: `error` (may be NULL) tells.
 */
int beside_open(const char *path, const char *suffix, int flags, struct error *error);

/* False: something lies at "<path><suffix>" that is not a plain file of this store. */
bool beside_sound(const char *path, const char *suffix, struct error *error);

/* The same for the database itself, which may be named by a link: of this user, of root, or of
 * the owner of the file that it names. */
bool beside_link_sound(const char *path, struct error *error);

/* What the system refused for the file, as an error of the store: ERROR_FULL or ERROR_IO. */
bool beside_fail(const char *path, const char *suffix, int reason, struct error *error);
