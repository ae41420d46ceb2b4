/* definition_rows.c - what the store keeps of the definitions of a script folder (rules §13). */
#include "store/rules/fleet/definition_rows.h"
#include "base/crash_point.h"
#include "base/list.h"
#include "store/rules/place/backlog.h"
#include "store/rules/place/places.h"
#include "store/rules/place/rate_limit.h"
#include <stdlib.h>
#include <string.h>

/* The definition as the store keeps it. NULL: no memory. */
static char *properties_of(const struct definition *definition) {
    return definition->text ? strdup(definition->text) : definition_text(definition);
}

/* True if the row is that of one of them, as it is. Notes its id. */
static bool note_same(const struct definitions *definitions, struct row *row) {
    const struct definition *found = definitions_find(definitions, row_text(row, 1));
    char *properties = found ? properties_of(found) : NULL;
    bool same = properties && strcmp(properties, row_text(row, 2)) == 0;
    if (same)
        definitions->list[found - definitions->list].id = row_int(row, 0);
    free(properties);
    return same;
}

/* ---- those that are there ---- */

/* Rows of a deployment. Those that are not among the definitions as they are: their ids. */
struct other_rows {
    int64_t *list;
    size_t count, same;
};

static bool add_other(struct other_rows *others, int64_t id) {
    int64_t *list = list_room(others->list, others->count, sizeof *list);
    if (!list)
        return false;
    others->list = list;
    list[others->count++] = id;
    return true;
}

/* Notes the ids of the definitions that the deployment has as they are. On a server a question each
 * would be a wait each. `others->list` is the caller's to free. */
static bool rows_of(struct store *store, const struct definitions *definitions, int64_t deployment,
                    struct other_rows *others, struct error *error) {
    struct row *row = db_query(&store->db, error,
                               "SELECT id, name, properties FROM definition WHERE deployment=?1",
                               "i", deployment);
    enum answer step = row ? YES : FAILED;
    while (step == YES && (step = db_step(&store->db, row, error)) == YES) {
        bool same = note_same(definitions, row);
        others->same += same;
        if (!same && !add_other(others, row_int(row, 0))) {
            row_done(row);
            return db_no_memory(&store->db, error);
        }
    }
    return step == NO;
}

enum answer definition_rows_same(struct store *store, const struct definitions *definitions,
                                 int64_t deployment, struct error *error) {
    struct other_rows others = {0};
    bool read = rows_of(store, definitions, deployment, &others, error);
    free(others.list);
    if (!read)
        return FAILED;
    return others.same == definitions->count ? YES : NO;
}

/* ---- those that are written ---- */

static bool stay_with(struct store *store, const struct other_rows *others, int64_t before,
                      struct error *error) {
    for (size_t i = 0; i < others->count; i++)
        if (!db_run(&store->db, error, "UPDATE definition SET deployment=?2 WHERE id=?1", "ii",
                    others->list[i], before))
            return false;
    return true;
}

/* What the deployment before has as it is goes over to this one, in one statement. */
static bool move_same(struct store *store, const struct definitions *definitions, int64_t before,
                      int64_t deployment, struct error *error) {
    struct other_rows others = {0};
    bool done = rows_of(store, definitions, before, &others, error) &&
                (!others.same || (db_run(&store->db, error,
                                         "UPDATE definition SET deployment=?2 WHERE deployment=?1",
                                         "ii", before, deployment) &&
                                  stay_with(store, &others, before, error)));
    free(others.list);
    return done;
}

static bool write_one(struct store *store, struct definition *definition, int64_t deployment,
                      struct error *error) {
    char *properties = properties_of(definition);
    if (!properties)
        return db_no_memory(&store->db, error);
    bool done = db_run(&store->db, error,
                       "INSERT INTO definition(name, deployment, properties) VALUES(?1, ?2, ?3)"
                       " ON CONFLICT(name) DO UPDATE SET deployment=?2, properties=?3",
                       "tit", definition->name, deployment, properties) &&
                db_value(&store->db, error, &definition->id,
                         "SELECT id FROM definition WHERE name=?1", "t", definition->name) == YES &&
                backlog_deploy(store, definition,
                               catalog_definition(&store->catalog, definition->name), error);
    free(properties);
    return done;
}

/* An operator's limit and rate hold, whatever the folder says. */
static bool count_one(struct store *store, const char *name, struct error *error) {
    const struct catalog_definition *definition = catalog_definition(&store->catalog, name);
    return !definition ||
           (place_recount(store, definition, error) && rate_limit_count(store, definition, error));
}

/* `changed` has room for all of them. */
static bool write_changed(struct store *store, const struct definitions *definitions,
                          int64_t deployment, struct definition **changed, struct error *error) {
    size_t count = 0;
    for (size_t i = 0; i < definitions->count; i++)
        if (!definitions->list[i].id)
            changed[count++] = &definitions->list[i];
    for (size_t i = 0; i < count; i++)
        if (!write_one(store, changed[i], deployment, error))
            return false;
    CRASH_POINT("deploy_defined");
    if (!catalog_changed(store, error))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!count_one(store, changed[i]->name, error))
            return false;
    return true;
}

bool definition_rows_write(struct store *store, const struct definitions *definitions,
                           int64_t before, int64_t deployment, struct error *error) {
    struct definition **changed = calloc(definitions->count + 1, sizeof(struct definition *));
    if (!changed)
        return db_no_memory(&store->db, error);
    for (size_t i = 0; i < definitions->count; i++)
        definitions->list[i].id = 0; /* of a try that was rolled back */
    bool done = (!before || move_same(store, definitions, before, deployment, error)) &&
                write_changed(store, definitions, deployment, changed, error);
    free(changed);
    return done;
}

bool definition_rows_leave(struct store *store, const struct definitions *definitions,
                           struct error *error) {
    bool more = false;
    for (size_t i = 0; i < definitions->count; i++) {
        struct definition *definition = &definitions->list[i];
        if (!db_run(&store->db, error,
                    "INSERT INTO definition(name, properties) VALUES(?1, '{}')"
                    " ON CONFLICT DO NOTHING",
                    "t", definition->name) ||
            db_value(&store->db, error, &definition->id, "SELECT id FROM definition WHERE name=?1",
                     "t", definition->name) == FAILED)
            return false;
        more = more || db_changes(&store->db);
    }
    return !more || catalog_changed(store, error);
}
