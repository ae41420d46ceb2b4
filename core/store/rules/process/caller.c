#include "store/rules/process/caller.h"
#include "base/text.h"
#include "job/suspension.h"
#include "store/rules/job/job_commands.h"
#include "store/rules/process/suspend.h"
#include <stdlib.h>
#include <string.h>

enum { CALLERS_MAX = 10000 }; /* more in each other are a circle: rows that were changed by hand */

/* ---- refusing ---- */

static bool goes_on(const struct unit_instance *one) {
    return one->rev && (!one->ended || strcmp(one->ended, "completed") == 0);
}

/* Something in the unit was called by the instance. */
static bool has_called(const struct unit *unit, int64_t id) {
    for (size_t i = 0; i < unit->instance_count; i++)
        if (unit->instances[i].parent == id)
            return true;
    return false;
}

int64_t caller_held(struct store *store, const struct unit *unit, bool alike, struct error *error) {
    const char *how = unit->instance_count ? unit->instances[0].ended : NULL;
    if (how && strcmp(how, "cancelled") == 0)
        return 0;
    for (size_t i = 0; i < unit->turn_count; i++) {
        int64_t caller = unit->instance_count ? unit->turns[i].instance : 0;
        enum answer held = caller && caller != unit->instances[0].id && unit->turns[i].rev
                               ? instance_held(store, caller, error)
                               : NO;
        if (held != NO)
            return held == YES ? caller : -1;
    }
    for (size_t i = 1; i < unit->instance_count; i++) {
        const struct unit_instance *one = &unit->instances[i];
        bool calls = goes_on(one) && (!alike || has_called(unit, one->id));
        enum answer held = calls ? instance_held(store, one->id, error) : NO;
        if (held != NO)
            return held == YES ? one->id : -1;
    }
    return 0;
}

#define REFUSED "instance %lld, which has called, is suspended"

bool caller_refuse(int64_t id, struct error *error) {
    return error_set(error, ERROR_CONFLICT, REFUSED, (long long)id);
}

bool caller_hold(struct outcome *outcome, int64_t id) {
    struct text text = {0};
    text_add(&text, REFUSED, (long long)id);
    outcome_forget(outcome);
    free(outcome->message);
    outcome->message = text.data;
    outcome->kind = OUTCOME_CONFLICT;
    outcome->held = true;
    return text.data != NULL;
}

/* ---- waiting ---- */

/* The instance that called this one; 0: none, -1: error. */
static int64_t caller_of(struct store *store, int64_t instance, struct error *error) {
    int64_t parent = 0;
    return db_value(&store->db, error, &parent,
                    "SELECT coalesce(parent, 0) FROM instance WHERE id=?1", "i", instance) == FAILED
               ? -1
               : parent;
}

enum answer caller_waited_for(struct store *store, int64_t instance, struct error *error) {
    int64_t id = instance ? caller_of(store, instance, error) : 0;
    enum answer held = NO;
    for (int i = 0; id > 0 && held == NO && i < CALLERS_MAX; i++) {
        held = instance_held(store, id, error);
        id = held == NO ? caller_of(store, id, error) : id;
    }
    return id < 0 ? FAILED : held;
}

/* ---- releasing ---- */

#define WAITING                                                                                    \
    " UNION SELECT i.id FROM instance i JOIN tree t ON i.parent=t.id) SELECT id FROM live"         \
    " WHERE suspended&64<>0 AND instance_id IN (SELECT id FROM tree) ORDER BY id LIMIT ?2"

static struct row *waiting_of(struct store *store, int64_t instance, const char *key,
                              struct error *error) {
    if (key)
        return db_query(&store->db, error,
                        "WITH RECURSIVE tree(id) AS (SELECT i.id FROM instance i JOIN"
                        " process_version v ON v.id=i.version WHERE v.key=?1" WAITING,
                        "tn", key, COMMAND_IDS);
    return db_query(&store->db, error,
                    "WITH RECURSIVE tree(id) AS (SELECT id FROM instance WHERE id=?1" WAITING, "in",
                    instance, COMMAND_IDS);
}

/* Those that are released are no longer among the waiting ones. */
static bool release(struct store *store, int64_t instance, const char *key, time_ms now,
                    struct error *error) {
    int64_t list[COMMAND_IDS];
    struct ids ids = {list, COMMAND_IDS};
    while (ids.count == COMMAND_IDS) {
        struct row *rows = waiting_of(store, instance, key, error);
        enum answer step = NO;
        ids.count = 0;
        while ((step = db_step(&store->db, rows, error)) == YES)
            list[ids.count++] = row_int(rows, 0);
        if (step == FAILED ||
            (ids.count && !commands_set_suspended(store, ids, SUSPENDED_CALLER, false, now, error)))
            return false;
    }
    return true;
}

bool caller_release(struct store *store, int64_t instance, time_ms now, struct error *error) {
    return !instance || release(store, instance, NULL, now, error);
}

bool caller_release_process(struct store *store, const char *key, time_ms now,
                            struct error *error) {
    return release(store, 0, key, now, error);
}
