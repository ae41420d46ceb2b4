/* tend.c - what SQLite does for itself when there is time. */
#include "store/rules/record/history.h"
#include "store/sqlite/db/connection.h"

void sqlite_set_clock(struct store *store, struct clock *clock) {
    (void)store, (void)clock; /* every process on this file has the system's */
}

static bool tend_file(struct store *store, int limit, bool *more, struct error *error) {
    int64_t tail = 0;
    *more = false;
    if (!history_unfiled(store, &tail, error))
        return false;
    return tail < limit || store_file_ended(store, limit, more, error);
}

static bool tend_tidy(struct store *store, int limit, bool *more, struct error *error) {
    bool own = false;
    *more = false;
    if (!unit_begin(store, STORE_TURN, &own, error))
        return false;
    bool done = store_file_ended(store, limit, more, error) && sqlite_purge(store, true, error);
    if (!unit_end(store, own, done, error))
        return false;
    *more = *more || store_has_pending_purge(store);
    return true;
}

bool sqlite_tend(struct store *store, enum store_chore chore, int limit, bool *more,
                 struct error *error) {
    switch (chore) {
    case CHORE_LOG:
        return sqlite_checkpoint(store, limit, error);
    case CHORE_CACHE:
        sqlite_trim_cache(store);
        return true;
    case CHORE_FILES:
        return sqlite_intact(store, error);
    case CHORE_PURGE:
        return sqlite_purge(store, true, error);
    case CHORE_FILE:
        return tend_file(store, limit, more, error);
    case CHORE_TIDY:
        return tend_tidy(store, limit, more, error);
    }
    return false;
}
