/* command_unit.c - what a command to a process did (rules §23): its unit and its entry in the log
 * of operations. */
#include "store/rules/ground/unit_ahead.h"
#include "store/rules/work/work.h"
#include <string.h>

/* The token of a lane that ends with the unit is that of its frames, too: no other unit has it, and
 * none is drawn. On a server one that took over since may have drawn it again. */
static int64_t rev_of(const struct store *store, const struct store_entry *entry) {
    return store->engine->sets ? 0 : entry->holds[0].token;
}

/* In the open transaction. *behind: nothing was written. */
static bool write(struct store *store, struct outcome *outcome, const struct store_entry *entry,
                  bool *behind, time_ms now, struct error *error) {
    outcome->unit->rev = rev_of(store, entry);
    bool done = store_settle(store, outcome, now, &outcome->settled, error);
    *behind = done && outcome->settled == SETTLED_BEHIND;
    if (!done || *behind)
        return done;
    done = store_note(store, entry, now, error);
    for (int i = 0; done && i < LANES_AT_ONCE; i++)
        done = !entry->holds[i].token || store_lane_release(store, &entry->holds[i], error);
    return done;
}

/* Writes it as if nothing had changed since it was read. NO: something has, or may have. */
static enum answer resume(struct store *store, struct outcome *outcome,
                          const struct store_entry *entry, time_ms now, struct error *error) {
    struct error reason = {0};
    bool behind = false;
    if (store->writing || !store->engine->resume ||
        store->engine->resume(store, outcome, &reason) != YES)
        return NO;
    bool done = write(store, outcome, entry, &behind, now, &reason) && !behind;
    outcome->way = WAY_UNASKED; /* it may be written again */
    if (!done) {
        store_rollback(store);
        return NO;
    }
    if (store_commit(store, &reason))
        return YES;
    if (store->engine->vain(store) || reason.code == ERROR_BUSY) /* the commit did not take place */
        return NO;
    error_set(error, reason.code, "%s", reason.text);
    return FAILED;
}

enum answer work_unit(struct store *store, struct outcome *outcome, const struct store_entry *entry,
                      time_ms now, struct error *error) {
    bool own = false, behind = false;
    outcome->at_rest = strcmp(entry->verb, "set_variables") == 0;
    enum answer resumed = resume(store, outcome, entry, now, error);
    if (resumed != NO)
        return resumed;
    if (!unit_begin(store, STORE_COMMAND, &own, error))
        return FAILED;
    outcome->unit->alone = !own && outcome->unit->alone;
    bool done = (!own || store_units_ahead(store, &outcome, 1, error)) &&
                write(store, outcome, entry, &behind, now, error);
    if (!unit_end(store, own, done, error))
        return FAILED;
    return behind ? NO : YES;
}

enum answer store_unit(struct store *store, struct outcome *outcome,
                       const struct store_entry *entry, time_ms now, struct error *error) {
    return store->engine->unit ? store->engine->unit(store, outcome, entry, now, error)
                               : work_unit(store, outcome, entry, now, error);
}
