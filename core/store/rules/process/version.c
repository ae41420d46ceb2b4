#include "store/rules/process/version.h"
#include "base/json.h"
#include "store/rules/process/searched.h"
#include "store/rules/process/starts.h"
#include "time/span.h"
#include <stdlib.h>
#include <string.h>

/* A process as a folder declares it; borrowed from its JSON. */
struct declared {
    const char *key, *hash, *path, *kind, *tag;
    const json_t *object;
    time_ms ttl;     /* 0: as jobs */
    int64_t version; /* 0: none has this text */
};

static bool declared_read(struct declared *declared, const json_t *object, struct error *error) {
    const char *ttl = json_text(object, "history_time_to_live");
    *declared = (struct declared){.key = json_text(object, "key"),
                                  .hash = json_text(object, "hash"),
                                  .path = json_text(object, "path"),
                                  .kind = json_text(object, "kind"),
                                  .tag = json_text(object, "tag"),
                                  .object = object};
    if (!declared->key || !declared->hash || !declared->path || !declared->kind)
        return error_set(error, ERROR_INVALID, "a process without key, hash, path or kind");
    struct error reason = {0};
    return !ttl || span_parse_ms(ttl, &declared->ttl, &reason) ||
           error_set(error, reason.code, "process \"%.255s\": history_time_to_live: %s",
                     declared->key, reason.text);
}

static enum answer declared_find(struct store *store, struct declared *declared,
                                 struct error *error) {
    return db_value(&store->db, error, &declared->version,
                    "SELECT id FROM process_version WHERE key=?1 AND hash=?2", "tt", declared->key,
                    declared->hash);
}

/* Those of the current versions, by the keys of their processes. NULL: error. */
static json_t *versions_hashes(struct store *store, struct error *error) {
    json_t *hashes = json_object();
    struct row *row = db_query(&store->db, error,
                               "SELECT p.key, v.hash FROM process p JOIN process_version v"
                               " ON v.id=p.current",
                               "");
    enum answer step = row && (hashes || db_no_memory(&store->db, error)) ? YES : FAILED;
    while (step == YES && (step = db_step(&store->db, row, error)) == YES)
        json_object_set_new(hashes, row_text(row, 0), json_string(row_text(row, 1)));
    return json_kept(hashes, step == NO);
}

enum answer versions_known(struct store *store, const struct store_deployment *deployment,
                           struct error *error) {
    const size_t count = json_array_size(deployment->processes);
    json_t *hashes = count ? versions_hashes(store, error) : NULL;
    size_t i, same = 0;
    json_t *object;
    if (count && !hashes)
        return FAILED;
    json_array_foreach(deployment->processes, i, object) {
        const char *hash = json_text(object, "hash");
        const char *stored = json_text(hashes, json_text(object, "key"));
        same += hash && stored && strcmp(hash, stored) == 0;
    }
    json_decref(hashes);
    return same == count ? YES : NO;
}

/* ---- rows ---- */

/* What is kept of a process beside its text: properties, activities, conditions, start timers
 * and start events. */
static char *declared_kept(const struct declared *declared) {
    json_t *kept = json_object();
    static const char *const keys[] = {"properties", "activities", "conditions", "timers",
                                       "events"};
    for (size_t i = 0; kept && i < sizeof keys / sizeof *keys; i++) {
        json_t *value = json_object_get(declared->object, keys[i]);
        if (value)
            json_object_set(kept, keys[i], value);
    }
    char *text = kept ? json_dumps(kept, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(kept);
    return text;
}

static bool version_insert(struct store *store, struct declared *declared, int64_t deployment,
                           time_ms now, struct error *error) {
    char *kept = declared_kept(declared);
    bool done =
        kept ? db_run(&store->db, error,
                      "INSERT INTO process_version(key, number, kind, hash, deployment, path, tag,"
                      " properties, created, ttl) SELECT ?1, coalesce(max(number), 0)+1, ?2, ?3,"
                      " ?4, ?5, ?6, ?7, ?8, ?9 FROM process_version WHERE key=?1",
                      "tttitttiz", declared->key, declared->kind, declared->hash, deployment,
                      declared->path, declared->tag, kept, now, declared->ttl)
             : db_no_memory(&store->db, error);
    free(kept);
    return done && declared_find(store, declared, error) == YES &&
           searched_declare(store, declared->version, json_object_get(declared->object, "search"),
                            error);
}

/* `text` is malloc'ed, and freed here. */
static bool version_keep(struct store *store, int64_t version, char *text, struct error *error) {
    bool done =
        text ? db_run(&store->db, error, "UPDATE process_version SET properties=?2 WHERE id=?1",
                      "it", version, text)
             : db_no_memory(&store->db, error);
    free(text);
    return done;
}

/* So that it is seen that they are to begin anew when the process is there again. */
static bool version_without_starts(struct store *store, int64_t version, struct error *error) {
    json_t *kept = starts_kept(store, version);
    json_object_del(kept, "timers");
    json_object_del(kept, "events");
    char *text = kept ? json_dumps(kept, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(kept);
    return version_keep(store, version, text, error);
}

/* A version whose deployment was removed has its text from this one. */
static bool version_again(struct store *store, const struct declared *declared, int64_t deployment,
                          struct error *error) {
    return db_run(&store->db, error,
                  "UPDATE process_version SET deployment=?2, path=?3 WHERE id=?1 AND NOT EXISTS"
                  " (SELECT 1 FROM deployment d WHERE d.id=process_version.deployment)",
                  "iit", declared->version, deployment, declared->path);
}

/* *current: before; 0: the process is new. */
static bool version_move(struct store *store, const struct declared *declared, int64_t *current,
                         struct error *error) {
    *current = 0;
    return db_value(&store->db, error, current, "SELECT current FROM process WHERE key=?1", "t",
                    declared->key) != FAILED &&
           db_run(&store->db, error,
                  "INSERT INTO process(key, current) VALUES(?1, ?2) ON CONFLICT(key) DO UPDATE"
                  " SET current=excluded.current",
                  "ti", declared->key, declared->version);
}

static bool version_deploy(struct store *store, const struct store_deployment *deployment,
                           const json_t *object, int64_t id, time_ms now, struct error *error) {
    struct declared declared;
    int64_t before = 0;
    if (!declared_read(&declared, object, error))
        return false;
    enum answer known = declared_find(store, &declared, error);
    if (known == FAILED || (known == NO && !version_insert(store, &declared, id, now, error)))
        return false;
    const bool lacks = known == YES && starts_lack(store, object, declared.version);
    if ((known == YES && !version_again(store, &declared, id, error)) ||
        (lacks && !version_keep(store, declared.version, declared_kept(&declared), error)) ||
        !version_move(store, &declared, &before, error))
        return false;
    if (before == declared.version && !lacks)
        return true;
    const struct starts starts = {declared.key,     before == declared.version ? 0 : before,
                                  declared.version, id,
                                  object,           deployment};
    return starts_move(store, &starts, now, error);
}

/* ---- processes that the folder has no longer ---- */

static bool is_there(const struct store_deployment *deployment, const char *key) {
    size_t i;
    json_t *object;
    json_array_foreach(deployment->processes, i, object)
        if (strcmp(json_text(object, "key"), key) == 0)
            return true;
    return false;
}

/* { key: version } of those that may begin by themselves, and that no other folder has brought
 * since. NULL: it failed. */
static json_t *versions_gone(struct store *store, const struct store_deployment *deployment,
                             struct error *error) {
    json_t *gone = json_object();
    struct row *rows =
        db_query(&store->db, error,
                 "SELECT p.key, p.current FROM process p JOIN process_version v ON v.id=p.current"
                 " JOIN definition f ON f.name='process/'||p.key||':command'"
                 " JOIN deployment d ON d.id=f.deployment WHERE d.name=?1"
                 " AND (v.properties LIKE '%\"timers\"%' OR v.properties LIKE '%\"events\"%')",
                 "t", deployment->name);
    enum answer step = rows ? YES : FAILED;
    while (step == YES && (step = db_step(&store->db, rows, error)) == YES)
        if (!is_there(deployment, row_text(rows, 0)))
            json_object_set_new(gone, row_text(rows, 0), json_integer(row_int(rows, 1)));
    if (step == NO)
        return gone;
    json_decref(gone);
    return NULL;
}

static bool versions_end(struct store *store, const struct store_deployment *deployment,
                         time_ms now, struct error *error) {
    json_t *gone = versions_gone(store, deployment, error), *version;
    const char *key;
    bool done = gone != NULL;
    json_object_foreach(gone, key, version)
        done = done && starts_end(store, key, json_integer_value(version), now, error) &&
               version_without_starts(store, json_integer_value(version), error);
    json_decref(gone);
    return done;
}

bool versions_deploy(struct store *store, const struct store_deployment *deployment, int64_t id,
                     time_ms now, struct error *error) {
    size_t i;
    json_t *object;
    json_array_foreach(deployment->processes, i, object)
        if (!version_deploy(store, deployment, object, id, now, error))
            return false;
    return versions_end(store, deployment, now, error);
}

bool version_suspend(struct store *store, const char *key, int64_t number, int how,
                     struct error *error) {
    bool done = number
                    ? db_run(&store->db, error,
                             "UPDATE process_version SET suspended=?3 WHERE key=?1 AND number=?2",
                             "tin", key, number, how)
                    : db_run(&store->db, error, "UPDATE process SET suspended=?2 WHERE key=?1",
                             "tn", key, how);
    int count = 0;
    if (!done || !db_count(&store->db, &count, error))
        return false;
    if (count)
        return true;
    return number ? error_set(error, ERROR_NOT_FOUND, "process \"%.255s\" has no version %lld", key,
                              (long long)number)
                  : error_set(error, ERROR_NOT_FOUND, "unknown process \"%.255s\"", key);
}

enum answer version_holds(struct store *store, int64_t instance, struct error *error) {
    int64_t one = 0;
    if (!store->catalog.processes)
        return NO;
    return db_value(&store->db, error, &one,
                    "SELECT 1 FROM instance i JOIN process_version v ON v.id=i.version JOIN"
                    " process p ON p.key=v.key WHERE i.id=?1 AND (v.suspended&2<>0 OR"
                    " p.suspended&2<>0)",
                    "i", instance);
}
