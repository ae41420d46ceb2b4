#include "store/rules/process/instance.h"
#include "base/crash_point.h"
#include "store/rules/ground/frames.h"
#include "store/rules/ground/unit_ahead.h"
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

enum answer instance_rev(struct store *store, int64_t id, int64_t *rev, struct error *error) {
    const struct frame_change *change = frame_find(store, id);
    const struct asked_entry *ahead = unit_ahead_find(store, ASKED_REV, id, 0);
    if (!change && !ahead)
        return db_value(&store->db, error, rev, "SELECT rev FROM instance WHERE id=?1", "i", id);
    *rev = change ? change->rev : ahead->value;
    return change || ahead->count ? YES : NO;
}

enum answer instance_rev_beside(struct store *store, int64_t id, int64_t lane, int64_t *rev,
                                bool *insisted, struct error *error) {
    const struct frame_change *change = frame_find(store, id);
    const struct asked_entry *ahead = unit_ahead_find(store, ASKED_LANE, lane, TIME_NEVER);
    if (ahead && (change || unit_ahead_find(store, ASKED_REV, id, 0))) {
        *insisted = ahead->count > 0;
        store->lanes_unheld = store->lanes_unheld && !*insisted;
        return instance_rev(store, id, rev, error);
    }
    struct row *row =
        db_query(&store->db, error,
                 "SELECT rev, EXISTS(SELECT 1 FROM lane WHERE (id=?2 AND until=?3) OR id=(~?2))"
                 " FROM instance WHERE id=?1",
                 "iii", id, lane, TIME_NEVER);
    enum answer found = db_step(&store->db, row, error);
    if (found != YES)
        return found;
    *rev = change ? change->rev : row_int(row, 0);
    *insisted = row_int(row, 1) != 0;
    if (*insisted)
        store->lanes_unheld = false; /* it may be a command that has died */
    row_done(row);
    return YES;
}

enum answer instance_twin(struct store *store, const struct unit_instance *one, int64_t *twin,
                          struct error *error) {
    return db_value(&store->db, error, twin,
                    INSTANCE_TWIN("(SELECT key FROM process_version WHERE id=?3)", "?1", "?2"),
                    "tti", one->key, one->tenant, one->version);
}

static bool instance_insert(struct store *store, const struct unit_instance *one, int64_t rev,
                            struct error *error) {
    return unit_row(store, error, ROWS_INSTANCE,
                    "INSERT INTO instance(" INSTANCE_COLUMNS
                    ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                    "iiizzittt", one->id, one->version, rev, one->root, one->parent, one->started,
                    one->key, one->tenant, one->frame);
}

bool instance_write(struct store *store, const struct unit_instance *one, int64_t rev,
                    struct error *error) {
    unit_ahead_forget(store, ASKED_REV, one->id);
    return one->rev ? frame_keep(store, one->id, rev, one->frame, false, error)
                    : instance_insert(store, one, rev, error);
}

bool instance_remove(struct store *store, int64_t id, struct error *error) {
    unit_ahead_forget(store, ASKED_REV, id);
    return frame_drop(store, id) &&
           unit_row(store, error, ROWS_INSTANCE_ENDS, "DELETE FROM instance WHERE id=?1", "i", id);
}
