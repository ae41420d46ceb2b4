/* executor.c - joining, renewing the lease, leaving (rules §4, §15). */
#include "base/crash_point.h"
#include "store/rules/fleet/executor_list.h"
#include "store/rules/job/locks.h"
#include "store/rules/job/stuck.h"
#include "store/rules/place/occupancy.h"
#include "store/rules/place/suspects.h"
#include "store/rules/record/metric.h"
#include "store/rules/work/work.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXECUTORS_KEPT 1000 /* rows of executors that are gone: names for the history */

/* When it ends by the clock of this boot; a virtual clock has none. */
static time_ms lease_boot(bool steady, time_ms lease) {
    return steady ? clock_since_boot() + lease : TIME_NONE;
}

static bool join_insert(struct store *store, const struct store_executor *executor, time_ms now,
                        time_ms lease, int64_t *id, struct error *error) {
    const struct acquire *serves = executor->serves;
    time_ms max = serves && serves->priority_max != INT64_MAX ? serves->priority_max : TIME_NONE;
    time_ms min = serves ? serves->priority_min : TIME_NONE;
    char *categories = serves && serves->categories
                           ? json_dumps(serves->categories, JSON_COMPACT | JSON_ENCODE_ANY)
                           : NULL;
    bool steady = serves && serves->steady;
    char *settings = serves ? executor_list_settings(serves, executor->workers) : NULL;
    bool done =
        db_value(&store->db, error, id,
                 "INSERT INTO executor(name, started, lease, seen, range_min, range_max,"
                 " categories, aware, state, settings, pid, version, boot, lease_boot)"
                 " VALUES(?1, ?2, ?3, ?2, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) RETURNING id",
                 "tiiTTtnntnttT", executor->name, now, now + lease, min, max, categories,
                 (int)(serves && serves->deployment_aware), (int)EXECUTOR_LIVE, settings,
                 (int)getpid(), MOONSHIFT_VERSION, steady ? store_boot(store) : NULL,
                 lease_boot(steady, lease)) == YES;
    free(settings);
    free(categories);
    return done;
}

/* Rows of executors long gone; what they counted is kept under the number 0. Ids may have gaps. */
static bool join_prune(struct store *store, struct error *error) {
    int64_t last = 0;
    if (db_value(&store->db, error, &last,
                 "SELECT id FROM executor ORDER BY id DESC LIMIT 1 OFFSET ?1", "n",
                 EXECUTORS_KEPT) == FAILED)
        return false;
#define PRUNED "(SELECT id FROM executor WHERE id<=?1 AND state=0)"
    return db_run(&store->db, error, METRIC_FOLD(PRUNED), "i", last) &&
           db_run(&store->db, error, METRIC_FORGET(PRUNED), "i", last) &&
           db_run(&store->db, error, "DELETE FROM executor WHERE id<=?1 AND state=0", "i", last) &&
           db_run(&store->db, error,
                  "DELETE FROM progress WHERE NOT EXISTS(SELECT 1 FROM live WHERE id=progress.job)",
                  "") &&
           suspects_tidy(store, error);
}

/* Ageing compares instants, and under fair share places are none. */
static bool join_aging(struct store *store, const struct store_executor *executor,
                       struct error *error) {
    if (!store->meta.fair || !executor->serves || executor->serves->aging <= 0)
        return true;
    return error_set(error, ERROR_CONFIG,
                     "aging: does not go with fair_by, which store \"%s\" has (expected one of the"
                     " two)",
                     store->db.name);
}

bool store_join(struct store *store, struct store_executor *executor, time_ms now, time_ms lease,
                struct error *error) {
    int64_t id = 0;
    if (store->self.id)
        return error_set(error, ERROR_CONFLICT, "store \"%s\": joined already", store->db.name);
    if (!store_begin(store, STORE_COMMAND, error))
        return false;
    bool done =
        join_aging(store, executor, error) && join_insert(store, executor, now, lease, &id, error);
    CRASH_POINT("join_inserted");
    done = done && join_prune(store, error) &&
           store->engine->enter(store, id, executor->workers, error) &&
           CRASH_POINT("join_files_made");
    store->meta.executors++;
    store->ring.everybody = true;
    if (!unit_end(store, true, done, error)) {
        store->engine->quit(store, id);
        return false;
    }
    CRASH_POINT("joined");
    store->self = (struct self){.id = id, .lease = lease, .lease_until = now + lease, .now = now};
    store->self.steady = executor->serves && executor->serves->steady;
    store->rate_clock = (struct rate_clock){.next = TIME_NEVER};
    snprintf(store->self.owner, sizeof store->self.owner, "%s/%lld", executor->name, (long long)id);
    executor->id = id;
    return store->engine->entered(store, error);
}

bool store_renew(struct store *store, time_ms now, time_ms lease, struct error *error) {
    bool own = false;
    if (!store->self.id)
        return error_set(error, ERROR_CONFLICT, "store \"%s\": not joined", store->db.name);
    if (!unit_begin(store, STORE_TURN, &own, error))
        return false;
    bool done = db_run(&store->db, error, "UPDATE executor SET state=?2 WHERE id=?1 AND state<>?2",
                       "in", store->self.id, (int)EXECUTOR_LIVE);
    if (done && db_changes(&store->db))
        store->meta.executors++;
    done = done &&
           db_run(&store->db, error,
                  "UPDATE executor SET lease=?2, seen=?3, lease_boot=?4 WHERE id=?1", "iiiT",
                  store->self.id, now + lease, now, lease_boot(store->self.steady, lease)) &&
           CRASH_POINT("lease_renewed") && occupancy_fold(store, now, error);
    if (!unit_end(store, own, done, error))
        return false;
    store->self.lease = lease;
    store->self.lease_until = now + lease;
    store->self.now = now;
    return true;
}

static bool leave_rows(struct store *store, struct error *error) {
    struct locks_free all = {.owner = store->self.id, .now = store->self.now};
    store->meta.executors++;
    store->ring.everybody = true;
    return locks_free(store, &all, error) && CRASH_POINT("leave_freed") &&
           stuck_gone(store, all.owner, all.now, error) &&
           store->engine->bequeath(store, all.owner, error) &&
           db_run(&store->db, error, "UPDATE executor SET state=?2 WHERE id=?1", "in",
                  store->self.id, (int)EXECUTOR_GONE);
}

bool store_leave(struct store *store, struct error *error) {
    int64_t id = store->self.id;
    if (!id)
        return true;
    if (!store->engine->part(store, error) ||
        !unit_end(store, true, leave_rows(store, error), error))
        return false;
    CRASH_POINT("left");
    store->self = (struct self){0};
    store->peers.version = 0;
    store->engine->quit(store, id);
    return true;
}
