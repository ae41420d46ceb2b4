/* deployment.c - script folders as the store keeps them, and the definitions they declare
 * (rules §13). */
#include "base/crash_point.h"
#include "base/json.h"
#include "base/text.h"
#include "job/command.h"
#include "store/rules/fleet/definition_rows.h"
#include "store/rules/fleet/executor_list.h"
#include "store/rules/fleet/rename.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"
#include "store/rules/process/version.h"
#include "store/rules/record/operation.h"
#include "store/rules/schedule/schedule.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum answer deploy_find(struct store *store, const struct store_deployment *deployment,
                               int64_t *id, struct error *error) {
    return db_value(&store->db, error, id, "SELECT id FROM deployment WHERE name=?1 AND hash=?2",
                    "tt", deployment->name, deployment->hash);
}

/* Loading what is loaded already costs no commit. YES: all is there. */
static enum answer deploy_known(struct store *store, const struct store_deployment *deployment,
                                const char *executor_name, int64_t *id, struct error *error) {
    int64_t one = 0;
    enum answer found = deploy_find(store, deployment, id, error);
    if (found == YES)
        found = definition_rows_same(store, deployment->definitions, *id, error);
    if (found == YES && executor_name)
        found = db_value(&store->db, error, &one,
                         "SELECT 1 FROM registration WHERE executor=?1 AND deployment=?2", "ti",
                         executor_name, *id);
    if (found == YES)
        found = schedules_known(store, deployment, error);
    return found == YES ? versions_known(store, deployment, error) : found;
}

static bool deploy_files(struct store *store, const struct store_deployment *deployment, int64_t id,
                         struct error *error) {
    for (size_t i = 0; i < deployment->file_count; i++) {
        char *text = utf8_clean(deployment->files[i].text, deployment->files[i].size, SIZE_MAX);
        bool done = text && db_run(&store->db, error,
                                   "INSERT INTO deployment_file(deployment, path, text)"
                                   " VALUES(?1, ?2, ?3) ON CONFLICT DO NOTHING",
                                   "itt", id, deployment->files[i].path, text);
        free(text);
        if (!done)
            return false;
    }
    return true;
}

/* ---- an older one beside a newer one ---- */

/* The newest of the same name that a live executor has; 0: none newer. False: error. */
static bool deploy_newer(struct store *store, const struct executor_list *executors, int64_t id,
                         int64_t *newer, struct error *error) {
    bool done = true;
    *newer = 0;
    for (size_t i = 0; done && i < executors->count; i++) {
        const struct executor_info *info = &executors->list[i];
        int64_t one = 0;
        int64_t has = json_integer_value(json_object_get(info->settings, "deployment"));
        bool lives = info->standing == STANDING_LIVE || info->standing == STANDING_DRAINING;
        if (!lives || info->id == store->self.id || has <= id || has <= *newer)
            continue;
        enum answer same = db_value(&store->db, error, &one,
                                    "SELECT n.id FROM deployment n JOIN deployment d"
                                    " ON d.name=n.name WHERE n.id=?1 AND d.id=?2",
                                    "ii", has, id);
        done = same != FAILED;
        *newer = same == YES ? has : *newer;
    }
    return done;
}

bool store_deployment_newer(struct store *store, int64_t id, time_ms now, int64_t *newer,
                            struct error *error) {
    struct executor_list executors;
    bool own = false;
    if (!look_begin(store, &own, error))
        return false;
    bool done = executor_list_take(&executors, store, false, now, error) &&
                deploy_newer(store, &executors, id, newer, error);
    executor_list_clear(&executors);
    look_end(store, own);
    return done;
}

/* A newer one of this name counted until now. */
static bool deploy_taken_back(struct store *store, struct store_deployment *deployment, int64_t id,
                              time_ms now, struct error *error) {
    char entity[JOB_NAME_MAX + 32], before[32], after[32];
    if (db_value(
            &store->db, error, &deployment->taken_back,
            "SELECT max(d.id) FROM deployment d WHERE d.name=?1 AND d.id>?2 AND EXISTS"
            " (SELECT 1 FROM definition x WHERE x.deployment=d.id) HAVING max(d.id) IS NOT NULL",
            "ti", deployment->name, id) == FAILED)
        return false;
    if (!deployment->taken_back)
        return true;
    snprintf(entity, sizeof entity, "folder \"%.255s\"", deployment->name);
    snprintf(before, sizeof before, "deployment %lld", (long long)deployment->taken_back);
    snprintf(after, sizeof after, "deployment %lld", (long long)id);
    return operation_write(store, "rollback", entity, (int)deployment->definitions->count, before,
                           after, now, error);
}

static bool deploy_register(struct store *store, const char *executor_name, int64_t id,
                            struct error *error) {
    return !executor_name || db_run(&store->db, error,
                                    "INSERT INTO registration(executor, deployment) VALUES(?1, ?2) "
                                    "ON CONFLICT DO NOTHING",
                                    "ti", executor_name, id);
}

/* ---- the one that counts ---- */

enum { CURRENT_KEY = JOB_NAME_MAX + 16 };

/* The key in `meta` of a name whose newest deployment does not count. */
static void current_key(const char *name, char key[CURRENT_KEY]) {
    snprintf(key, CURRENT_KEY, "current/%.*s", JOB_NAME_MAX, name);
}

enum answer store_deployment_current(struct store *store, const char *name, int64_t *id,
                                     struct error *error) {
    char key[CURRENT_KEY];
    current_key(name, key);
    return db_value(&store->db, error, id,
                    "SELECT coalesce((SELECT d.id FROM meta m JOIN deployment d ON d.id=m.value"
                    " WHERE m.key=?2 AND d.name=?1), max(id)) FROM deployment WHERE name=?1"
                    " HAVING max(id) IS NOT NULL",
                    "tt", name, key);
}

/* Kept only for a name whose newest deployment is another one. */
static bool deploy_current(struct store *store, const char *name, int64_t id, struct error *error) {
    char key[CURRENT_KEY];
    int64_t one = 0;
    current_key(name, key);
    enum answer newer =
        db_value(&store->db, error, &one, "SELECT 1 FROM deployment WHERE name=?1 AND id>?2", "ti",
                 name, id);
    if (newer == FAILED)
        return false;
    if (newer == NO)
        return db_run(&store->db, error, "DELETE FROM meta WHERE key=?1", "t", key);
    return db_run(&store->db, error,
                  "INSERT INTO meta(key, value) VALUES(?1, ?2)"
                  " ON CONFLICT(key) DO UPDATE SET value=excluded.value",
                  "ti", key, id);
}

/* Of a deployment that the store has already; the ids of its definitions are filled in. */
static bool deploy_known_one(struct store *store, const struct store_deployment *deployment,
                             const char *executor_name, int64_t *id, struct error *error) {
    int64_t one = 0;
    enum answer found = db_value(&store->db, error, &one, "SELECT 1 FROM deployment WHERE id=?1",
                                 "i", deployment->known);
    if (found == NO)
        return error_set(error, ERROR_NOT_FOUND, "deployment %lld was removed",
                         (long long)deployment->known);
    *id = deployment->known;
    return found == YES && definition_rows_leave(store, deployment->definitions, error) &&
           deploy_register(store, executor_name, *id, error);
}

/* ---- the name ---- */

/* A file by which a folder is known. */
static bool is_known_by(const char *path) {
    static const char *const kinds[] = {"handlers/", "processes/", "schedules/"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(path, kinds[i], strlen(kinds[i])) == 0)
            return true;
    return false;
}

static bool has_file(const struct store_deployment *deployment, const char *path) {
    for (size_t i = 0; i < deployment->file_count; i++)
        if (strcmp(deployment->files[i].path, path) == 0)
            return true;
    return false;
}

/* YES: the deployment `other`, if it has this name, has handlers and the like, and none of them is
 * here. */
static enum answer deploy_strange(struct store *store, const struct store_deployment *deployment,
                                  int64_t other, const char *name, struct error *error) {
    bool any = false, shared = false;
    for (size_t i = 0; i < deployment->file_count; i++)
        any = any || is_known_by(deployment->files[i].path);
    struct row *row = db_query(&store->db, error,
                               "SELECT f.path FROM deployment_file f JOIN deployment d"
                               " ON d.id=f.deployment WHERE d.id=?1 AND d.name=?2",
                               "it", other, name);
    enum answer step = row ? YES : FAILED;
    bool known = false;
    while (step == YES && (step = db_step(&store->db, row, error)) == YES) {
        const char *path = row_text(row, 0);
        known = known || is_known_by(path);
        shared = shared || (is_known_by(path) && has_file(deployment, path));
    }
    if (step == FAILED)
        return FAILED;
    return any && known && !shared ? YES : NO;
}

/* Two applications that share a store and a name would take each other's schedules away. */
static bool deploy_alone(struct store *store, const struct store_deployment *deployment,
                         const struct executor_list *executors, struct error *error) {
    for (size_t i = 0; i < executors->count; i++) {
        const struct executor_info *info = &executors->list[i];
        int64_t has = json_integer_value(json_object_get(info->settings, "deployment"));
        bool lives = info->standing == STANDING_LIVE || info->standing == STANDING_DRAINING;
        if (!lives || info->id == store->self.id || !has)
            continue;
        enum answer strange = deploy_strange(store, deployment, has, deployment->name, error);
        if (strange == YES)
            return error_set(error, ERROR_CONFLICT,
                             "folder \"%.255s\": executor \"%.255s\" (%lld) has another folder of "
                             "this name, and no handler, process or schedule is in both (expected "
                             "another name, by the setting deployment)",
                             deployment->name, info->name, (long long)info->id);
        if (strange == FAILED)
            return false;
    }
    return true;
}

/* Another application may be called so: it keeps its name. */
static bool deploy_rename(struct store *store, struct store_deployment *deployment,
                          const struct executor_list *executors, const char *other,
                          struct error *error) {
    int64_t newest = 0;
    enum answer found =
        db_value(&store->db, error, &newest,
                 "SELECT id FROM deployment WHERE name=?1 ORDER BY id DESC LIMIT 1", "t", other);
    enum answer strange =
        found == YES ? deploy_strange(store, deployment, newest, other, error) : found;
    if (found != YES || strange != NO)
        return found != FAILED && strange != FAILED;
    return deployments_rename(store, executors, other, deployment->name, deployment->renamed,
                              error);
}

/* Deployments of the same folder that were called by another part of its path. */
static bool deploy_called(struct store *store, struct store_deployment *deployment,
                          const struct executor_list *executors, struct error *error) {
    size_t i;
    json_t *other;
    deployment->renamed = json_object();
    bool done = deployment->renamed && deploy_alone(store, deployment, executors, error);
    json_array_foreach(deployment->others, i, other)
        done = done && deploy_rename(store, deployment, executors, json_string_value(other), error);
    if (!done || json_object_size(deployment->renamed) == 0) {
        json_decref(deployment->renamed);
        deployment->renamed = NULL;
    }
    return done;
}

/* ---- the whole ---- */

static bool deploy_insert(struct store *store, const struct store_deployment *deployment,
                          time_ms now, int64_t *id, struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO deployment(id, name, hash, loaded) SELECT 1+max(s.id), ?1, ?2, ?3"
                  " FROM (SELECT 0 AS id UNION ALL SELECT id FROM deployment UNION ALL"
                  " SELECT value FROM meta WHERE key='last_deployment') AS s WHERE s.id>=0"
                  " ON CONFLICT DO NOTHING",
                  "tti", deployment->name, deployment->hash, now) &&
           deploy_find(store, deployment, id, error) == YES && CRASH_POINT("deploy_inserted");
}

/* Fills in `left_to`. `seen`: the store had the deployment. */
static bool deploy_claim(struct store *store, struct store_deployment *deployment,
                         const struct executor_list *executors, bool seen, int64_t id,
                         struct error *error) {
    int64_t current = id;
    switch (deployment->claim) {
    case CLAIM_UNLESS_LIVE:
        return deploy_newer(store, executors, id, &deployment->left_to, error);
    case CLAIM_NEVER:
        if (seen && store_deployment_current(store, deployment->name, &current, error) == FAILED)
            return false;
        deployment->left_to = current != id ? current : 0;
        return true;
    case CLAIM_ALWAYS:
        break;
    }
    return true;
}

/* Its row, and who has to say whether it counts. *before: the one that counted until now. */
static bool deploy_row(struct store *store, struct store_deployment *deployment,
                       const struct executor_list *executors, time_ms now, int64_t *before,
                       int64_t *id, struct error *error) {
    if (!deploy_called(store, deployment, executors, error))
        return false;
    const enum answer seen = deploy_find(store, deployment, id, error);
    return seen != FAILED &&
           store_deployment_current(store, deployment->name, before, error) != FAILED &&
           deploy_insert(store, deployment, now, id, error) &&
           deploy_claim(store, deployment, executors, seen == YES, *id, error);
}

static bool deploy_content(struct store *store, struct store_deployment *deployment, int64_t before,
                           int64_t id, time_ms now, struct error *error) {
    store->ring.everybody = true; /* an executor may follow the deployments of this name */
    if (!deploy_taken_back(store, deployment, id, now, error) ||
        !deploy_current(store, deployment->name, id, error))
        return false;
    if (!definition_rows_write(store, deployment->definitions, before, id, error) ||
        !deploy_files(store, deployment, id, error))
        return false;
    CRASH_POINT("deploy_filed");
    if (!schedules_write(store, deployment, id, now, error))
        return false;
    CRASH_POINT("deploy_scheduled");
    return versions_deploy(store, deployment, id, now, error);
}

static bool deploy_write(struct store *store, struct store_deployment *deployment,
                         const char *executor_name, time_ms now, int64_t *id, struct error *error) {
    struct executor_list executors;
    int64_t before = 0;
    if (deployment->known)
        return deploy_known_one(store, deployment, executor_name, id, error);
    bool done = executor_list_take(&executors, store, false, now, error) &&
                deploy_row(store, deployment, &executors, now, &before, id, error);
    executor_list_clear(&executors);
    if (!done)
        return false;
    return (deployment->left_to ? definition_rows_leave(store, deployment->definitions, error)
                                : deploy_content(store, deployment, before, *id, now, error)) &&
           deploy_register(store, executor_name, *id, error);
}

bool store_deploy(struct store *store, struct store_deployment *deployment,
                  const char *executor_name, time_ms now, int64_t *id, struct error *error) {
    bool own = false;
    deployment->left_to = deployment->taken_back = 0;
    enum answer known =
        deployment->known ? NO : deploy_known(store, deployment, executor_name, id, error);
    if (known == NO)
        known =
            unit_begin(store, STORE_COMMAND, &own, error) &&
                    unit_end(store, own,
                             deploy_write(store, deployment, executor_name, now, id, error), error)
                ? YES
                : FAILED;
    if (known == YES)
        store->deployed = *id;
    return known == YES;
}

enum answer store_deployed(struct store *store, const struct store_deployment *deployment,
                           int64_t *id, struct error *error) {
    int64_t current = 0;
    enum answer found = store_deployment_current(store, deployment->name, &current, error);
    if (found == YES)
        found = deployment->definitions ? deploy_known(store, deployment, NULL, id, error)
                                        : deploy_find(store, deployment, id, error);
    if (found == YES && *id != current)
        return NO;
    if (found == YES)
        store->deployed = *id;
    return found;
}

static json_t *deployment_file(struct row *row) {
    return json_pack("{s:s, s:s}", "path", row_text(row, 0), "text", row_text(row, 1));
}

static json_t *deployment_rows(struct store *store, struct row *rows, json_t *(*read)(struct row *),
                               struct error *error) {
    json_t *array = rows ? json_array() : NULL;
    enum answer step = array ? YES : FAILED;
    while (step == YES && (step = db_step(&store->db, rows, error)) == YES)
        if (json_array_append_new(array, read(rows)) != 0) {
            db_no_memory(&store->db, error);
            row_done(rows);
            step = FAILED;
        }
    return json_kept(array, step == NO);
}

json_t *store_deployment_files(struct store *store, int64_t deployment, struct error *error) {
    json_t *files = deployment_rows(
        store,
        db_query(&store->db, error,
                 "SELECT path, text FROM deployment_file WHERE deployment=?1 ORDER BY path", "i",
                 deployment),
        deployment_file, error);
    int64_t one = 0;
    if (!files || json_array_size(files))
        return files;
    enum answer found =
        db_value(&store->db, error, &one, "SELECT 1 FROM deployment WHERE id=?1", "i", deployment);
    if (found == YES)
        return files;
    if (found == NO)
        error_set(error, ERROR_NOT_FOUND, "no deployment %lld", (long long)deployment);
    json_decref(files);
    return NULL;
}

static const struct ask_column deployment_columns[] = {
    {"id", ASK_INTEGER, "d.id", ASK_SORT},
    {"name", ASK_TEXT, "d.name", ASK_SHOW},
    {"hash", ASK_TEXT, "d.hash", ASK_SHOW},
    {"loaded", ASK_TIME, "d.loaded", ASK_SHOW},
    {"files", ASK_INTEGER, "(SELECT count(*) FROM deployment_file f WHERE f.deployment=d.id)",
     ASK_SHOW},
    {"executors", ASK_LIST,
     "coalesce((SELECT json_group_array(r.executor) FROM registration r WHERE r.deployment=d.id),"
     " '[]')",
     ASK_SHOW, "REGISTERED FOR"},
    {0},
};

const struct ask_table deployment_table = {"deployments", deployment_columns,
                                           .shown = "id,name,hash,loaded,files,executors?",
                                           .from = " FROM deployment d", .asked = "deployments"};

static json_t *deployment_name(struct row *row) {
    return json_string(row_text(row, 0));
}

json_t *store_deployment_names(struct store *store, struct error *error) {
    return deployment_rows(store,
                           db_query(&store->db, error,
                                    "SELECT DISTINCT name FROM deployment ORDER BY name LIMIT 1000",
                                    ""),
                           deployment_name, error);
}

enum answer store_knows(struct store *store, const char *handler, int64_t *deployment,
                        struct error *error) {
    int64_t id = 0;
    enum answer found = db_value(
        &store->db, error, &id,
        "SELECT deployment FROM definition WHERE name=?1 AND deployment IS NOT NULL", "t", handler);
    if (deployment)
        *deployment = id;
    return found;
}

enum answer store_lost(struct store *store, const char *handler, const char *name, int64_t now,
                       int64_t *since, struct error *error) {
    return db_value(&store->db, error, since,
                    "SELECT coalesce((SELECT min(n.id) FROM deployment n WHERE n.name=d.name"
                    " AND n.id>d.id), CAST(?3 AS BIGINT)) FROM definition x"
                    " JOIN deployment d ON d.id=x.deployment WHERE x.name=?1 AND d.name=?2",
                    "tti", handler, name, now);
}
