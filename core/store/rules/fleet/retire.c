/* retire.c - deployments that nobody needs are removed: their files and registrations go, what
 * became of their jobs stays (rules §13). */
#include "store/rules/fleet/commands.h"
#include "store/rules/fleet/executor_list.h"
#include "store/rules/fleet/folder_kept.h"
#include "store/rules/record/operation.h"
#include <stdio.h>

enum { STEP_ROWS = 1000 };                        /* jobs that one step looks at */
static const time_ms RETIRE_AFTER = 24 * 3600000; /* a newer one has proved itself by then */

/* ---- who needs it ---- */

/* Nobody else says that this connection has it. */
static bool free_of_engine(struct store *store, int64_t id, struct error *error) {
    return store->deployed != id ||
           error_set(error, ERROR_CONFLICT, "deployment %lld is loaded here", (long long)id);
}

/* An executor that is overdue may go on: only one that is gone has nothing loaded. NULL: none. */
static const struct executor_info *retire_holder(const struct executor_list *executors,
                                                 int64_t id) {
    for (size_t i = 0; i < executors->count; i++) {
        const struct executor_info *info = &executors->list[i];
        int64_t has = json_integer_value(json_object_get(info->settings, "deployment"));
        if (info->standing != STANDING_GONE && has == id)
            return info;
    }
    return NULL;
}

static bool free_of_executors(const struct executor_list *executors, int64_t id,
                              struct error *error) {
    const struct executor_info *holder = retire_holder(executors, id);
    return !holder || error_set(error, ERROR_CONFLICT,
                                "deployment %lld is loaded by executor \"%.255s\" (%lld)",
                                (long long)id, holder->name, (long long)holder->id);
}

static bool free_of_registrations(struct store *store, int64_t id, struct error *error) {
    struct row *rows = db_query(&store->db, error,
                                "SELECT executor FROM registration WHERE deployment=?1"
                                " ORDER BY executor LIMIT 1",
                                "i", id);
    enum answer step = db_step(&store->db, rows, error);
    if (step == YES)
        error_set(error, ERROR_CONFLICT, "deployment %lld is registered for executor \"%.255s\"",
                  (long long)id, row_text(rows, 0));
    if (rows)
        row_done(rows);
    return step == NO;
}

/* The newest of its name that a definition points to. */
static bool free_of_definitions(struct store *store, int64_t id, struct error *error) {
    int64_t newest = 0;
    enum answer found = db_value(&store->db, error, &newest,
                                 "SELECT d.id FROM deployment d WHERE d.name="
                                 "(SELECT name FROM deployment WHERE id=?1)"
                                 " AND EXISTS(SELECT 1 FROM definition x WHERE x.deployment=d.id)"
                                 " ORDER BY d.id DESC LIMIT 1",
                                 "i", id);
    if (found == YES && newest == id)
        return error_set(error, ERROR_CONFLICT,
                         "deployment %lld is the newest of its name that definitions come from",
                         (long long)id);
    return found != FAILED;
}

/* Those that are being written count, too. */
static bool free_of_jobs(struct store *store, int64_t id, struct error *error) {
    int64_t jobs = 0;
    enum answer found = db_value(&store->db, error, &jobs,
                                 "SELECT 1 FROM stream WHERE deployment=?1 LIMIT 1", "i", id);
    if (found == YES)
        found = db_value(&store->db, error, &jobs,
                         "SELECT count(*) FROM counted WHERE stream IN"
                         " (SELECT id FROM stream WHERE deployment=?1)",
                         "i", id);
    if (found == YES && jobs)
        return error_set(error, ERROR_CONFLICT, "deployment %lld is needed by %lld %s",
                         (long long)id, (long long)jobs, jobs == 1 ? "job" : "jobs");
    return found != FAILED;
}

/* Its text is that of a version which runs, or which new instances get. */
static bool free_of_processes(struct store *store, int64_t id, struct error *error) {
    struct row *row = db_query(&store->db, error,
                               "SELECT v.key, v.number FROM process_version v WHERE v.deployment=?1"
                               " AND (EXISTS(SELECT 1 FROM process p WHERE p.current=v.id)"
                               " OR EXISTS(SELECT 1 FROM instance i WHERE i.version=v.id)) LIMIT 1",
                               "i", id);
    enum answer step = db_step(&store->db, row, error);
    if (step == YES) {
        error_set(error, ERROR_CONFLICT,
                  "deployment %lld has version %lld of process \"%.255s\", which is in use",
                  (long long)id, (long long)row_int(row, 1), row_text(row, 0));
        row_done(row);
    }
    return step == NO;
}

static bool retire_check(struct store *store, const struct executor_list *executors, int64_t id,
                         struct error *error) {
    int64_t one = 0;
    enum answer known =
        db_value(&store->db, error, &one, "SELECT 1 FROM deployment WHERE id=?1", "i", id);
    if (known == NO)
        error_set(error, ERROR_NOT_FOUND, "no deployment %lld", (long long)id);
    if (known != YES || !free_of_definitions(store, id, error) ||
        !free_of_executors(executors, id, error))
        return false;
    if (!free_of_engine(store, id, error) || !free_of_processes(store, id, error))
        return false;
    return free_of_jobs(store, id, error) && free_of_registrations(store, id, error);
}

/* ---- removal ---- */

/* No later folder gets an id that the log knows as another one's. */
static bool retire_note_id(struct store *store, int64_t id, struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO meta(key, value) SELECT 'last_deployment', ?1"
                  " WHERE ?1=(SELECT max(id) FROM deployment)"
                  " ON CONFLICT(key) DO UPDATE SET value=excluded.value"
                  " WHERE excluded.value>meta.value",
                  "i", id);
}

/* Handlers that only this folder had are from now on ones that nobody has deployed. Streams stay:
 * the log finds what its entries are about through them. */
static bool retire_rows(struct store *store, int64_t id, struct error *error) {
    if (!db_run(&store->db, error, "UPDATE definition SET deployment=NULL WHERE deployment=?1", "i",
                id))
        return false;
    if (db_changes(&store->db) && !catalog_changed(store, error))
        return false;
    return retire_note_id(store, id, error) &&
           db_run(&store->db, error, "DELETE FROM deployment_file WHERE deployment=?1", "i", id) &&
           db_run(&store->db, error, "DELETE FROM registration WHERE deployment=?1", "i", id) &&
           folder_kept_forget(store, id, error) &&
           db_run(&store->db, error, "DELETE FROM deployment WHERE id=?1", "i", id);
}

static bool retire_one(struct store *store, int64_t id, time_ms now, struct error *error) {
    char entity[64];
    snprintf(entity, sizeof entity, "deployment %lld", (long long)id);
    return retire_rows(store, id, error) &&
           operation_write(store, "delete_deployment", entity, 1, NULL, NULL, now, error);
}

bool retire_deployment(struct store *store, int64_t id, bool try, time_ms now,
                       struct error *error) {
    struct executor_list executors = {0};
    bool done = executor_list_take(&executors, store, false, now, error) &&
                retire_check(store, &executors, id, error) &&
                (try || retire_one(store, id, now, error));
    executor_list_clear(&executors);
    return done;
}

/* ---- by themselves ---- */

/* True of the deployment d if it may be removed; ?1 is an instant a day ago. A newer deployment of
 * its name was loaded by then. No definition comes from d. Each executor that is registered for d
 * is also registered for a newer one. */
#define RETIRE_MAY                                                                                 \
    "(SELECT n.loaded FROM deployment n WHERE n.name=d.name AND n.id>d.id"                         \
    " ORDER BY n.id LIMIT 1)<=?1"                                                                  \
    " AND NOT EXISTS(SELECT 1 FROM definition x WHERE x.deployment=d.id)"                          \
    " AND NOT EXISTS(SELECT 1 FROM registration r WHERE r.deployment=d.id AND NOT EXISTS("         \
    "SELECT 1 FROM registration s JOIN deployment e ON e.id=s.deployment"                          \
    " WHERE s.executor=r.executor AND e.name=d.name AND e.id>d.id))"

/* The next one after the last that was looked at. */
static enum answer retire_next(struct store *store, time_ms now, struct error *error) {
    struct retiring *retiring = &store->retiring;
    enum answer found = db_value(&store->db, error, &retiring->id,
                                 "SELECT d.id FROM deployment d WHERE d.id>?2 AND " RETIRE_MAY
                                 " ORDER BY d.id LIMIT 1",
                                 "ii", now - RETIRE_AFTER, retiring->last);
    retiring->last = found == YES ? retiring->id : NO;
    retiring->id = found == YES ? retiring->id : NO;
    retiring->job = 0;
    return found;
}

struct retire_look {
    bool needed; /* one of the jobs is of the deployment */
    bool more;   /* there may be others */
};

/* The next jobs by id. A job that is created later is never of a deployment that no definition
 * comes from, so what was looked at stays free of it. */
static bool retire_look(struct store *store, struct retire_look *look, struct error *error) {
    struct retiring *retiring = &store->retiring;
    int64_t last = 0;
    int count = 0;
    enum answer step = db_read(&store->db, error,
                               "SELECT count(*), max(id), max(CASE WHEN stream IN"
                               " (SELECT id FROM stream WHERE deployment=?1) THEN 1 ELSE 0 END) "
                               "FROM (SELECT id, stream FROM job WHERE id>?2"
                               " ORDER BY id LIMIT ?3) AS j",
                               "nif<iin", &count, &last, &look->needed, retiring->id, retiring->job,
                               (int)STEP_ROWS);
    look->more = count == STEP_ROWS;
    retiring->job = count ? last : retiring->job;
    return step == YES;
}

/* Looked at again, now that nobody else writes. */
static bool retire_now(struct store *store, const struct executor_list *executors, int64_t *retired,
                       time_ms now, struct error *error) {
    int64_t id = store->retiring.id, one = 0;
    struct retire_look look = {0};
    enum answer may = db_value(&store->db, error, &one,
                               "SELECT 1 FROM deployment d WHERE d.id=?2 AND " RETIRE_MAY, "ii",
                               now - RETIRE_AFTER, id);
    if (may != YES || store->deployed == id || retire_holder(executors, id))
        return may != FAILED;
    if (!retire_look(store, &look, error))
        return false;
    if (look.needed || look.more)
        return true;
    *retired = id;
    return retire_one(store, id, now, error);
}

static bool retire_end(struct store *store, int64_t *retired, time_ms now, struct error *error) {
    bool own = false;
    struct executor_list executors = {0};
    if (!unit_begin(store, STORE_COMMAND, &own, error))
        return false;
    bool done = executor_list_take(&executors, store, false, now, error) &&
                retire_now(store, &executors, retired, now, error);
    executor_list_clear(&executors);
    done = unit_end(store, own, done, error);
    if (!done)
        *retired = 0;
    store->retiring.id = 0;
    return done;
}

bool store_retire(struct store *store, int64_t *retired, bool *more, time_ms now,
                  struct error *error) {
    struct retire_look look = {0};
    *retired = 0;
    *more = true;
    if (!store->retiring.id) {
        enum answer found = retire_next(store, now, error);
        *more = found == YES;
        return found != FAILED;
    }
    if (!retire_look(store, &look, error))
        return false;
    if (look.needed) /* on with the next one */
        store->retiring.id = 0;
    return look.needed || look.more || retire_end(store, retired, now, error);
}
