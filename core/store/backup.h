/* backup.h - a whole copy of a store while others work with it, and the way back (rules §22). */
#pragma once

#include "store/store.h"

struct store_backup {
    bool force;                                        /* a file of that name is replaced */
    void (*tell)(void *arg, int64_t done, int64_t of); /* pages; may be NULL */
    void *arg;
    int64_t bytes; /* out: of the copy */
};

/* Copies the store into the file `to`, as it is at one moment: in steps, while others read and
 * write. The copy is checked and synced before it gets its name; ERROR_CONFLICT: there is a file of
 * that name. */
static inline bool store_backup(struct store *store, const char *to, struct store_backup *backup,
                                struct error *error);

/* Ids and tokens that are left out: what was handed out after the backup is not handed out again.
 */
enum { RESTORE_GAP = 1000000 };

struct store_restored {
    char aside[4096]; /* where the store that was there is now; "": there was none */
    int freed;        /* jobs that were running as the backup was made */
};

/* Makes the backup `from` the store of the settings, checked and synced. A store that is there is
 * moved aside. ERROR_CONFLICT: a process has it open; the error says which. */
bool store_restore(const char *from, const struct settings *settings,
                   struct store_restored *restored, time_ms now, struct error *error);
