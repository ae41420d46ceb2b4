/* power_vfs.h - SQLite's way to the files, with a hand on the mains switch: the power is cut at one
 * operation, or an operation fails as the system would let it fail. Passes everything on to the
 * system's own VFS; power_disk keeps what would be safe. */
#ifndef MOONSHIFT_SPEC_POWER_VFS_H
#define MOONSHIFT_SPEC_POWER_VFS_H

#include <stdbool.h>
#include <stdint.h>

enum power_kind {
    POWER_OPEN,
    POWER_READ,
    POWER_LOG_WRITE,
    POWER_LOG_SYNC,
    POWER_LOG_CUT, /* the write-ahead log is made shorter */
    POWER_DATABASE_WRITE,
    POWER_DATABASE_SYNC,
    POWER_JOURNAL_WRITE, /* of the rollback journal, which a new store begins with */
    POWER_JOURNAL_SYNC,
    POWER_REMOVE,
    POWER_OTHER, /* lengths, looks at names, the index of the log, locks */
    POWER_KINDS
};

const char *power_kind_name(enum power_kind kind);

/* Becomes the VFS of every database that is opened without naming one. */
bool power_install(void);

/* The power goes off at the nth operation (from 1) of the kind; POWER_KINDS: of any but reading.
 * That one may still be done, or in part. `seed` decides. */
void power_cut(enum power_kind kind, int nth, uint64_t seed);
void power_on(void); /* and no cut or fault any more */
bool power_is_off(void);
enum power_kind power_was_at(void); /* the operation it went off at */

/* The nth operation (from 1) of the kind, POWER_KINDS: of any, fails with this code of SQLite (0:
 * the input/output error of its kind); `lasting`: and all of that kind after it. */
void power_fault(enum power_kind kind, int nth, int code, bool lasting);
int power_faults(void); /* so many have happened */

/* Syncs say that they are done, and are not: all of them, or those of commits. */
void power_lie(bool lying);
void power_careless(bool careless);

/* Called once, as the next commit is about to be synced; NULL: nothing is. */
void power_during_sync(void (*call)(void *), void *arg);

/* Seeds what SQLite draws by chance. */
void power_seed(uint64_t seed);

#endif
