/* definitions.c - what an operator does to a definition, and to its jobs with it (rules §7, §10,
 * §11, §12). A definition is its name in the store: what is set here survives new deployments. */
#include "store/sqlite/operation.h"
#include "store/sqlite/verbs.h"
#include <stdio.h>

/* The definition before the verb. */
struct subject {
    int64_t id, priority;
    bool overridden, suspended;
};

static bool subject_find(struct store *store, const char *name, struct subject *subject,
                         struct error *error) {
    const struct catalog_definition *found = catalog_definition(&store->catalog, name);
    if (!found)
        return error_set(error, ERROR_NOT_FOUND, "unknown definition \"%s\"", name);
    *subject = (struct subject){.id = found->id,
                                .priority = found->override_priority,
                                .overridden = found->overridden,
                                .suspended = found->suspended};
    return true;
}

static bool subject_change(struct store *store, const struct order *order,
                           const struct subject *subject, struct error *error) {
    switch (order->verb) {
    case ORDER_OVERRIDE_PRIORITY:
        return db_run(&store->db, error, "UPDATE definition SET override_priority=?2 WHERE id=?1",
                      "ii", subject->id, order->priority) &&
               catalog_changed(store, error);
    case ORDER_CLEAR_OVERRIDE:
        return db_run(&store->db, error, "UPDATE definition SET override_priority=NULL WHERE id=?1",
                      "i", subject->id) &&
               catalog_changed(store, error);
    case ORDER_SUSPEND_DEFINITION:
    case ORDER_ACTIVATE_DEFINITION:
        return db_run(&store->db, error, "UPDATE definition SET suspended=?2 WHERE id=?1", "in",
                      subject->id, (int)(order->verb == ORDER_SUSPEND_DEFINITION)) &&
               catalog_changed(store, error);
    default:
        return true;
    }
}

/* ---- its jobs ---- */

#define MEMBERS(what)                                                                              \
    "SELECT " what " FROM live WHERE stream IN (SELECT id FROM stream WHERE definition=?1)"
#define STEP " AND id>?3 AND id<=?4 ORDER BY id LIMIT ?5"
#define IDS_OR_COUNT(where) (counts ? MEMBERS("count(*)") where : MEMBERS("id") where STEP)

static const char *members_sql(const struct order *order, bool counts) {
    switch (order->verb) {
    case ORDER_OVERRIDE_PRIORITY:
        return order->cascade ? IDS_OR_COUNT(" AND priority<>?2") : NULL;
    case ORDER_SUSPEND_DEFINITION:
        return order->include_jobs ? IDS_OR_COUNT(" AND suspended&2=0 AND ?2=0") : NULL;
    case ORDER_ACTIVATE_DEFINITION:
        return order->include_jobs ? IDS_OR_COUNT(" AND suspended<>0 AND suspended&2<>0 AND ?2=0")
                                   : NULL;
    case ORDER_SET_DEFINITION_RETRIES:
        return IDS_OR_COUNT(" AND retries=0 AND ?2=0"); /* dead ones only */
    default:
        return NULL;
    }
}

/* Those that are not yet as they shall be; none if the verb leaves the jobs alone. */
static bool members_read(struct store *store, struct step *step, struct order *order,
                         int64_t definition, struct error *error) {
    const char *sql = members_sql(order, false);
    step->ids = (struct ids){step->list, 0};
    return !sql || step_read(store, step, order,
                             db_query(&store->db, error, sql, "iiiin", definition, order->priority,
                                      order->after, step_end(step, order), VERB_IDS + 1),
                             error);
}

static bool members_change(struct store *store, const struct order *order, struct ids ids,
                           time_ms now, struct error *error) {
    switch (order->verb) {
    case ORDER_OVERRIDE_PRIORITY:
        return verbs_set_priority(store, ids, order->priority, now, error);
    case ORDER_SET_DEFINITION_RETRIES:
        return verbs_set_retries(store, ids, order, now, error);
    default:
        return verbs_set_suspended(store, ids, SUSPENDED_DEFINITION,
                                   order->verb == ORDER_SUSPEND_DEFINITION, now, error);
    }
}

/* ---- its entry in the log ---- */

static void show_old(const struct order *order, const struct subject *subject, char *text,
                     size_t size) {
    bool priority = order->verb == ORDER_OVERRIDE_PRIORITY || order->verb == ORDER_CLEAR_OVERRIDE;
    if (priority && subject->overridden)
        snprintf(text, size, "%lld", (long long)subject->priority);
    else if (order->verb == ORDER_SET_DEFINITION_RETRIES)
        snprintf(text, size, "0");
    else if (!priority)
        snprintf(text, size, "%s", subject->suspended ? "suspended" : "active");
}

static void show_new(const struct order *order, char *text, size_t size) {
    switch (order->verb) {
    case ORDER_OVERRIDE_PRIORITY:
        snprintf(text, size, "%lld", (long long)order->priority);
        break;
    case ORDER_SET_DEFINITION_RETRIES:
        snprintf(text, size, "%d", (int)order->retries);
        break;
    case ORDER_CLEAR_OVERRIDE:
        break;
    default:
        snprintf(text, size, "%s",
                 order->verb == ORDER_SUSPEND_DEFINITION ? "suspended" : "active");
    }
}

static bool subject_log(struct store *store, const struct order *order,
                        const struct subject *subject, struct ids ids, time_ms now,
                        struct error *error) {
    char entity[JOB_NAME_MAX + 32], before[32] = "", after[32] = "";
    snprintf(entity, sizeof entity, "definition \"%s\"", order->definition);
    show_old(order, subject, before, sizeof before);
    show_new(order, after, sizeof after);
    /* What goes on only counts: its old value is the first transaction's. */
    return operation_write_ids(store, order->name, entity, ids, *before ? before : NULL,
                               *after ? after : NULL, now, error);
}

bool definition_operate(struct store *store, struct order *order, struct step *step, time_ms now,
                        struct error *error) {
    struct subject subject = {0};
    return subject_find(store, order->definition, &subject, error) &&
           (order->goes_on || subject_change(store, order, &subject, error)) &&
           members_read(store, step, order, subject.id, error) &&
           members_change(store, order, step->ids, now, error) &&
           subject_log(store, order, &subject, step->ids, now, error);
}

bool definition_preview(struct store *store, const struct order *order, int64_t *count,
                        struct error *error) {
    struct subject subject = {0};
    const char *sql = members_sql(order, true);
    *count = 0;
    return subject_find(store, order->definition, &subject, error) &&
           (!sql ||
            db_value(&store->db, error, count, sql, "ii", subject.id, order->priority) >= 0);
}

int store_overridden(struct store *store, const char *handler, struct error *error) {
    int64_t one = 0;
    return db_value(&store->db, error, &one,
                    "SELECT 1 FROM definition WHERE name=?1 AND override_priority NOT NULL", "t",
                    handler);
}
