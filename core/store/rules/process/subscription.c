#include "store/rules/process/subscription.h"
#include "base/json.h"
#include "store/rules/ground/query.h"

bool subscription_write(struct store *store, const struct unit_subscription *one, time_ms now,
                        struct error *error) {
    return unit_row(store, error, ROWS_SUBSCRIPTION,
                    "INSERT INTO subscription(" SUBSCRIPTION_COLUMNS
                    ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING",
                    "iitttiti", one->instance, one->token, one->kind, one->name,
                    one->key ? one->key : "", one->version, one->activity, now);
}

bool subscriptions_remove(struct store *store, int64_t instance, int64_t token,
                          struct error *error) {
    if (token)
        return unit_row(store, error, ROWS_SUBSCRIPTION_ENDS,
                        "DELETE FROM subscription WHERE instance=?1 AND token=?2", "ii", instance,
                        token);
    return unit_row(store, error, ROWS_SUBSCRIPTIONS_END,
                    "DELETE FROM subscription WHERE instance=?1", "i", instance);
}

/* ---- receivers ---- */

static json_t *receiver_read(struct row *row) {
    return json_pack("{sI sI sI ss ss ss? ss}", "instance", (json_int_t)row_int(row, 0), "token",
                     (json_int_t)row_int(row, 1), "version", (json_int_t)row_int(row, 2),
                     "activity", row_text(row, 3), "key", row_text(row, 4), "business_key",
                     row_text(row, 5), "process", row_text(row, 6));
}

/* `starts`: the start events. A receiver without a key takes messages of any key. */
static json_t *receivers(struct store *store, const struct message_to *to, bool starts,
                         struct error *error) {
    json_t *list = json_array();
    struct row *rows = db_query(
        &store->db, error,
        starts ? "SELECT s.instance, s.token, s.version, s.activity, s.key, NULL, v.key"
                 " FROM subscription s JOIN process_version v ON v.id=s.version WHERE "
                 "s.kind='message' AND s.name=?1 AND s.key IN ('', ?2)"
                 " AND s.instance=0 AND ?3=0 LIMIT 100"
               : "SELECT s.instance, s.token, s.version, s.activity, s.key, i.key, v.key" RECEIVING(
                     "JOIN process_version v ON v.id=s.version") " LIMIT 100",
        starts ? "tti" : "ttiit", to->name, to->key ? to->key : "", to->instance, to->token,
        to->business_key);
    enum answer step = NO;
    while ((step = db_step(&store->db, rows, error)) == YES)
        json_array_append_new(list, receiver_read(rows));
    return json_kept(list, step == NO);
}

json_t *subscription_receivers(struct store *store, const struct message_to *to,
                               struct error *error) {
    if (to->starts)
        return receivers(store, to, true, error);
    json_t *found = receivers(store, to, false, error);
    if (!found || json_array_size(found))
        return found;
    json_decref(found);
    return receivers(store, to, true, error);
}
