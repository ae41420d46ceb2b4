#include "store/rules/fleet/rename.h"
#include "base/json.h"
#include "store/rules/fleet/folder_kept.h"
#include "store/rules/ground/catalog.h"
#include "store/rules/record/operation.h"
#include <stdio.h>

enum { RENAME_MAX = 10000 }; /* deployments of one name */

/* Streams of the older deployment ?1 that the newer one ?2 has as well. */
#define SAME_STREAM                                                                                \
    "s.deployment=?1 AND EXISTS(SELECT 1 FROM stream t WHERE t.deployment=?2"                      \
    " AND t.definition=s.definition AND t.category=s.category AND t.type=s.type"                   \
    " AND t.topic=s.topic)"

static const struct executor_info *live_holder(const struct executor_list *executors, int64_t id) {
    for (size_t i = 0; i < executors->count; i++) {
        const struct executor_info *info = &executors->list[i];
        bool lives = info->standing == STANDING_LIVE || info->standing == STANDING_DRAINING;
        if (lives && json_int(info->settings, "deployment") == id)
            return info;
    }
    return NULL;
}

/* ---- two with one text ---- */

static bool move_rows(struct store *store, int64_t older, int64_t newer, struct error *error) {
    static const char *const moves[] = {
        "UPDATE stream SET deployment=?2 WHERE id IN (SELECT s.id FROM stream s"
        " WHERE s.deployment=?1 AND NOT (" SAME_STREAM "))",
        "UPDATE definition SET deployment=?2 WHERE deployment=?1",
        "UPDATE process_version SET deployment=?2 WHERE deployment=?1",
        "INSERT INTO registration(executor, deployment) SELECT executor, CAST(?2 AS BIGINT)"
        " FROM registration"
        " WHERE deployment=?1 ON CONFLICT DO NOTHING",
    };
    static const char *const removals[] = {
        "DELETE FROM registration WHERE deployment=?1",
        "DELETE FROM deployment_file WHERE deployment=?1",
        "DELETE FROM deployment WHERE id=?1",
    };
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (!db_run(&store->db, error, moves[i], "ii", older, newer))
            return false;
    for (size_t i = 0; i < sizeof removals / sizeof *removals; i++)
        if (!db_run(&store->db, error, removals[i], "i", older))
            return false;
    return folder_kept_forget(store, older, error) &&
           db_run(&store->db, error,
                  "UPDATE meta SET value=?2 WHERE key LIKE 'current/%' AND value=?1", "ii", older,
                  newer) &&
           catalog_changed(store, error);
}

/* YES: it may lose its row to the other one. */
static enum answer may_merge(struct store *store, const struct executor_list *executors,
                             int64_t older, int64_t newer, struct error *error) {
    int64_t one = 0;
    if (live_holder(executors, older))
        return NO;
    enum answer both = db_value(&store->db, error, &one,
                                "SELECT 1 FROM counted c WHERE c.stream IN (SELECT s.id FROM "
                                "stream s WHERE " SAME_STREAM ") LIMIT 1",
                                "ii", older, newer);
    if (both == FAILED)
        return FAILED;
    return both == NO ? YES : NO;
}

/* ---- one ---- */

static enum answer rename_row(struct store *store, int64_t id, const char *to,
                              struct error *error) {
    return db_run(&store->db, error, "UPDATE deployment SET name=?2 WHERE id=?1", "it", id, to)
               ? YES
               : FAILED;
}

/* NO: it keeps its name. */
static enum answer rename_one(struct store *store, const struct executor_list *executors,
                              int64_t id, const char *to, struct error *error) {
    int64_t twin = 0;
    enum answer found = db_value(&store->db, error, &twin,
                                 "SELECT e.id FROM deployment e JOIN deployment d ON d.hash=e.hash"
                                 " WHERE d.id=?1 AND e.name=?2",
                                 "it", id, to);
    if (found == FAILED || live_holder(executors, id))
        return found == FAILED ? FAILED : NO;
    if (found == NO)
        return rename_row(store, id, to, error);
    int64_t older = id < twin ? id : twin, newer = id < twin ? twin : id;
    enum answer done = may_merge(store, executors, older, newer, error);
    if (done != YES || !move_rows(store, older, newer, error))
        return done == YES ? FAILED : done;
    return newer == id ? rename_row(store, id, to, error) : YES;
}

/* The ids of a name, in an array. NULL: error. */
static json_t *ids_of(struct store *store, const char *name, struct error *error) {
    json_t *ids = json_array();
    struct row *row =
        db_query(&store->db, error, "SELECT id FROM deployment WHERE name=?1 ORDER BY id LIMIT ?2",
                 "tn", name, (int)RENAME_MAX);
    enum answer step = row ? YES : FAILED;
    while (step == YES && (step = db_step(&store->db, row, error)) == YES)
        json_array_append_new(ids, json_integer(row_int(row, 0)));
    return json_kept(ids, step == NO);
}

/* What is kept by name. */
static bool rename_kept(struct store *store, const char *from, const char *to,
                        struct error *error) {
    return db_run(&store->db, error, "UPDATE schedule SET source=?2 WHERE source=?1", "tt", from,
                  to) &&
           db_run(&store->db, error, "DELETE FROM meta WHERE key='current/' || CAST(?1 AS TEXT)",
                  "t", from);
}

bool deployments_rename(struct store *store, const struct executor_list *executors,
                        const char *from, const char *to, json_t *renamed, struct error *error) {
    json_t *ids = ids_of(store, from, error), *id;
    size_t i;
    enum answer done = ids ? YES : FAILED;
    char number[24];
    json_array_foreach(ids, i, id) {
        if (done != FAILED)
            done = rename_one(store, executors, json_integer_value(id), to, error);
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(id));
        if (done == YES && !json_put_text(renamed, number, from))
            done = FAILED;
    }
    bool fine = done != FAILED && (!json_array_size(ids) || rename_kept(store, from, to, error));
    json_decref(ids);
    return fine;
}

/* ---- by hand ---- */

static bool check_free(struct store *store, const struct executor_list *executors, const char *name,
                       struct error *error) {
    json_t *ids = ids_of(store, name, error), *id;
    const struct executor_info *holder = NULL;
    size_t i, count = json_array_size(ids);
    json_array_foreach(ids, i, id)
        holder = holder ? holder : live_holder(executors, json_integer_value(id));
    bool fine = ids != NULL;
    json_decref(ids);
    if (holder)
        return error_set(error, ERROR_CONFLICT,
                         "deployment \"%s\" is loaded by executor \"%.255s\" (%lld)", name,
                         holder->name, (long long)holder->id);
    return fine &&
           (count || error_set(error, ERROR_NOT_FOUND, "no deployment is called \"%s\"", name));
}

static bool rename_note(struct store *store, const struct command *command, size_t count,
                        time_ms now, struct error *error) {
    char entity[JOB_NAME_MAX + 32];
    snprintf(entity, sizeof entity, "folder \"%.255s\"", command->folder);
    return operation_write(store, "rename_deployment", entity, (int)count, command->folder,
                           command->rename, now, error);
}

bool rename_command(struct store *store, const struct command *command, size_t *touched,
                    time_ms now, struct error *error) {
    struct executor_list executors = {0};
    json_t *renamed = json_object();
    bool done =
        executor_list_take(&executors, store, false, now, error) &&
        check_free(store, &executors, command->folder, error) &&
        deployments_rename(store, &executors, command->folder, command->rename, renamed, error);
    *touched = json_object_size(renamed);
    executor_list_clear(&executors);
    json_decref(renamed);
    store->ring.everybody = true;
    return done && rename_note(store, command, *touched, now, error);
}
