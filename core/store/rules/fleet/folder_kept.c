/* folder_kept.c - what need not be read again of script folders (rules §13). It is not waited for
 * on the disk: what is lost is found anew. */
#include "store/rules/fleet/folder_kept.h"
#include "base/json.h"
#include "store/folder_kept.h"
#include <stdio.h>
#include <string.h>

enum answer store_folder_marked(struct store *store, const char *name, const char *mark,
                                int64_t *id, char *hash, struct error *error) {
    return db_read(&store->db, error,
                   "SELECT d.id, d.hash FROM folder_mark m JOIN deployment d"
                   " ON d.id=m.deployment WHERE m.mark=?1 AND d.name=?2",
                   "it<tt", id, hash, (size_t)65, mark, name);
}

/* Each machine, and each copy of a folder, has marks of its own. All go once there are too many. */
static bool mark_write(struct store *store, int64_t deployment, const char *mark,
                       struct error *error) {
    return db_run(&store->db, error,
                  "DELETE FROM folder_mark WHERE (SELECT count(*) FROM folder_mark)>=100", "") &&
           db_run(&store->db, error,
                  "INSERT INTO folder_mark(mark, deployment) VALUES(?1, ?2)"
                  " ON CONFLICT(mark) DO UPDATE SET deployment=excluded.deployment",
                  "ti", mark, deployment);
}

bool store_folder_mark(struct store *store, int64_t deployment, const char *mark,
                       struct error *error) {
    int64_t one = 0;
    bool own = false;
    enum answer known = db_value(&store->db, error, &one,
                                 "SELECT 1 FROM folder_mark WHERE mark=?1 AND deployment=?2", "ti",
                                 mark, deployment);
    if (known != NO)
        return known == YES;
    return unit_begin(store, STORE_HOLD, &own, error) &&
           unit_end(store, own, mark_write(store, deployment, mark, error), error);
}

json_t *store_models_found(struct store *store, int64_t deployment, const char *program,
                           struct error *error) {
    json_t *found = NULL;
    db_read(&store->db, error, "SELECT found FROM folder_models WHERE deployment=?1 AND program=?2",
            "j<it", &found, deployment, program);
    return found;
}

static bool models_write(struct store *store, int64_t deployment, const char *program,
                         const char *found, struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO folder_models(deployment, program, found) VALUES(?1, ?2, ?3)"
                  " ON CONFLICT(deployment) DO UPDATE SET program=excluded.program,"
                  " found=excluded.found",
                  "itt", deployment, program, found);
}

bool store_models_keep(struct store *store, int64_t deployment, const char *program,
                       const char *found, struct error *error) {
    int64_t one = 0;
    bool own = false;
    enum answer known = db_value(&store->db, error, &one,
                                 "SELECT 1 FROM folder_models WHERE deployment=?1 AND program=?2",
                                 "it", deployment, program);
    if (known != NO)
        return known == YES;
    return unit_begin(store, STORE_HOLD, &own, error) &&
           unit_end(store, own, models_write(store, deployment, program, found, error), error);
}

bool folder_kept_forget(struct store *store, int64_t deployment, struct error *error) {
    return db_run(&store->db, error, "DELETE FROM folder_mark WHERE deployment=?1", "i",
                  deployment) &&
           db_run(&store->db, error, "DELETE FROM folder_models WHERE deployment=?1", "i",
                  deployment);
}
