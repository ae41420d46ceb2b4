/* intact.c - are the files beside each other still the ones this process has open? */
#include "store/sqlite/connection.h"
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

/* The database, its log, the log's index, the gate: whoever opens others meanwhile writes into a
 * store that is not ours, and so would we. */
static const char *const intact_suffixes[INTACT_FILES] = {"", "-wal", "-shm", "-gate"};

static bool intact_look(const struct store *store, int at, struct stat *file) {
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s%s", store->path, intact_suffixes[at]);
    return stat(name, file) == 0 && (at != 0 || file->st_size > 0);
}

void intact_remember(struct store *store) {
    struct stat file;
    for (int i = 0; store->path && i < INTACT_FILES; i++)
        store->files[i] = intact_look(store, i, &file) ? file.st_ino : 0;
}

bool store_intact(struct store *store, struct error *error) {
    struct stat file;
    for (int i = 0; store->path && store->self.id && i < INTACT_FILES; i++) {
        if (intact_look(store, i, &file) && file.st_ino == store->files[i])
            continue;
        store->broken = true;
        return error_set(error, ERROR_IO,
                         "store file \"%s%s\" was moved, removed or replaced while in use",
                         store->path, intact_suffixes[i]);
    }
    return true;
}
