/* command_unit.c - what a command to a process did (rules §23): its unit and its entry in the log
 * of operations. */
#include "store/rules/ground/unit_ahead.h"
#include "store/rules/work/work.h"
#include <string.h>

enum answer work_unit(struct store *store, struct outcome *outcome, const struct store_entry *entry,
                      time_ms now, struct error *error) {
    bool own = false;
    outcome->at_rest = strcmp(entry->verb, "set_variables") == 0;
    if (!unit_begin(store, STORE_COMMAND, &own, error))
        return FAILED;
    bool done = (!own || store_units_ahead(store, &outcome, 1, error)) &&
                work_settle(store, outcome, now, &outcome->settled, error) &&
                (!own || work_settle_end(store, error));
    bool behind = done && outcome->settled == SETTLED_BEHIND;
    done = done && (behind || store_note(store, entry, now, error)) &&
           (behind || !entry->hold.token || store_lane_release(store, &entry->hold, error));
    if (!unit_end(store, own, done, error))
        return FAILED;
    return behind ? NO : YES;
}
