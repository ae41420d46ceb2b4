/* tend.c - what is done for the store when there is time: the server moves and cleans up by itself.
 */
#include "store/postgres/db/engine.h"
#include "store/rules/ground/state.h"
#include "store/rules/record/history.h"

/* Files behind the gate, so that no number below the last one is still to come. What a crash of the
 * server takes back of it is filed again. */
static bool tend_file(struct store *store, int least, int limit, bool *more, struct error *error) {
    int64_t unfiled = 0;
    if (!history_unfiled(store, &unfiled, error))
        return false;
    if (unfiled < least)
        return true;
    if (!store_begin(store, STORE_HOLD, error))
        return false;
    return unit_end(store, true, store_file_ended(store, limit, more, error), error);
}

bool postgres_tend(struct store *store, enum store_chore chore, int limit, bool *more,
                   struct error *error) {
    if (more)
        *more = false;
    switch (chore) {
    case CHORE_LOG:
    case CHORE_CACHE:
    case CHORE_FILES:
    case CHORE_PURGE:
        return true;
    case CHORE_FILE:
        return tend_file(store, limit, limit, more, error);
    case CHORE_TIDY:
        return tend_file(store, 1, limit, more, error);
    }
    return false;
}
