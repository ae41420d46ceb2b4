#include "store/rules/process/instance.h"
#include "base/crash_point.h"
#include "base/json.h"
#include "store/rules/ground/engine.h"
#include "store/rules/ground/frames.h"
#include "store/rules/ground/unit_ahead.h"
#include <stdio.h>
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
    enum answer found =
        db_read(&store->db, error,
                "SELECT rev, EXISTS(SELECT 1 FROM lane WHERE (id=?2 AND until=?3) OR id=(~?2))"
                " FROM instance WHERE id=?1",
                "if<iii", rev, insisted, id, lane, TIME_NEVER);
    if (found != YES)
        return found;
    if (change)
        *rev = change->rev;
    if (*insisted)
        store->lanes_unheld = false; /* it may be a command that has died */
    return YES;
}

enum answer instance_twin(struct store *store, const struct unit_instance *one, int64_t *twin,
                          struct error *error) {
    return db_value(&store->db, error, twin,
                    INSTANCE_TWIN("(SELECT key FROM process_version WHERE id=?3)", "?1", "?2"),
                    "tti", one->key, one->tenant, one->version);
}

/* ---- the only ones of their keys ---- */

bool instance_twins(struct store *store, struct instance_key *keys, size_t count,
                    struct error *error) {
    struct kept_rows rows = {.letters = "iitt", .cells = calloc(4 * count + 1, sizeof *rows.cells)};
    enum answer step = NO;
    if (!rows.cells)
        return db_no_memory(&store->db, error);
    for (size_t i = 0; i < count; i++) {
        union unit_cell *cells = rows.cells + 4 * rows.count;
        cells[0].number = (int64_t)i;
        cells[1].number = keys[i].version;
        cells[2].text = keys[i].key;
        cells[3].text = keys[i].tenant;
        rows.count += keys[i].key != NULL;
    }
    struct row *row =
        rows.count ? store->engine->asked_rows(store, ASKED_TWINS, &rows, error) : NULL;
    while (rows.count && (step = db_step(&store->db, row, error)) == YES)
        keys[row_int(row, 1)].twin = row_int(row, 0);
    free(rows.cells);
    return step == NO;
}

/* The process is left out: of two that differ in it alone each is looked for by itself. */
static char *name_of(const struct unit_instance *one) {
    char *name = NULL;
    const char *tenant = one->tenant ? one->tenant : "";
    return asprintf(&name, "%zu %s %s", strlen(one->key), one->key, tenant) < 0 ? NULL : name;
}

/* How many instances of the list begin with the key, with so many more. */
static int64_t count_key(json_t *counts, const struct unit_instance *one, int more) {
    char *name = name_of(one);
    int64_t count = name ? json_int(counts, name) + more : -1;
    if (name && more && !json_put(counts, name, json_integer(count)))
        count = -1;
    free(name);
    return count;
}

static bool count_keys(json_t *counts, const struct unit *unit) {
    bool done = true;
    for (size_t i = 0; done && unit && i < unit->instance_count; i++) {
        const struct unit_instance *one = &unit->instances[i];
        done = one->rev || !one->key || count_key(counts, one, 1) > 0;
    }
    return done;
}

/* The first instance of a unit that must be the only one; NULL: it begins none. */
static const struct unit_instance *unique_of(const struct unit *unit) {
    for (size_t i = 0; unit && i < unit->instance_count; i++)
        if (unit->instances[i].unique)
            return &unit->instances[i];
    return NULL;
}

static bool find_twins(struct store *store, struct outcome *const *outcomes, size_t count,
                       json_t *counts, struct instance_key *keys, struct error *error) {
    for (size_t i = 0; i < count; i++) {
        const struct unit_instance *one = unique_of(outcomes[i]->unit);
        if (one && count_key(counts, one, 0) == 1)
            keys[i] = (struct instance_key){one->version, one->key, one->tenant, 0};
    }
    if (!instance_twins(store, keys, count, error))
        return false;
    for (size_t i = 0; i < count; i++)
        if (keys[i].key)
            outcomes[i]->unit->alone = !keys[i].twin;
    return true;
}

bool instances_alone(struct store *store, struct outcome *const *outcomes, size_t count,
                     struct error *error) {
    size_t unique = 0;
    for (size_t i = 0; i < count; i++)
        unique += unique_of(outcomes[i]->unit) != NULL;
    if (!unique || !store->engine->sets)
        return true;
    struct instance_key *keys = calloc(count, sizeof *keys);
    json_t *counts = json_object();
    bool done = keys && counts;
    for (size_t i = 0; done && i < count; i++)
        done = count_keys(counts, outcomes[i]->unit);
    done = done ? find_twins(store, outcomes, count, counts, keys, error)
                : db_no_memory(&store->db, error);
    free(keys);
    json_decref(counts);
    return done;
}

/* ---- writing ---- */

static bool instance_insert(struct store *store, const struct unit_instance *one, int64_t rev,
                            struct error *error) {
    return unit_row(store, error, ROWS_INSTANCE,
                    "INSERT INTO instance(" INSTANCE_COLUMNS
                    ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                    "iiizzittt", one->id, one->version, rev, one->root, one->parent, one->started,
                    one->key, one->tenant, one->frame);
}

bool instance_set_version(struct store *store, const struct unit_instance *one,
                          struct error *error) {
    return db_run(&store->db, error, "UPDATE instance SET version=?2 WHERE id=?1", "ii", one->id,
                  one->version);
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
