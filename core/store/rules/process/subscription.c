#include "store/rules/process/subscription.h"
#include "base/json.h"
#include "store/rules/ground/engine.h"
#include "store/rules/ground/query.h"
#include "store/rules/process/signal_ahead.h"
#include <stdlib.h>
#include <string.h>

bool subscription_write(struct store *store, const struct unit_subscription *one, time_ms now,
                        struct error *error) {
    if (strcmp(one->kind, "signal") == 0)
        signals_ahead_forget(store, one->name);
    return unit_row(store, error, ROWS_SUBSCRIPTION,
                    "INSERT INTO subscription(" SUBSCRIPTION_COLUMNS
                    ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING",
                    "iitttitiT", one->instance, one->token, one->kind, one->name,
                    one->key ? one->key : "", one->version, one->activity, now, one->priority);
}

bool subscriptions_remove(struct store *store, int64_t instance, int64_t token,
                          struct error *error) {
    signals_ahead_left(store, instance);
    if (token)
        return unit_row(store, error, ROWS_SUBSCRIPTION_ENDS,
                        "DELETE FROM subscription WHERE instance=?1 AND token=?2", "ii", instance,
                        token);
    return unit_row(store, error, ROWS_SUBSCRIPTIONS_END,
                    "DELETE FROM subscription WHERE instance=?1 AND token>=0", "i", instance);
}

bool subscriptions_remove_range(struct store *store, int64_t instance, struct token_range tokens,
                                struct error *error) {
    signals_ahead_left(store, instance);
    return db_run(&store->db, error,
                  "DELETE FROM subscription WHERE instance=?1 AND token BETWEEN ?2 AND ?3", "iii",
                  instance, tokens.first, tokens.last);
}

bool subscriptions_move(struct store *store, const struct unit_move *move, struct error *error) {
    signals_ahead_left(store, move->instance);
    return db_run(&store->db, error,
                  "UPDATE subscription SET token=?3, version=?4, activity=?5 WHERE instance=?1 AND"
                  " token=?2",
                  "iiiit", move->instance, move->token, move->to, move->version, move->activity);
}

/* ---- receivers ---- */

struct message_to message_to_read(const json_t *question) {
    return (struct message_to){.name = json_text(question, "name"),
                               .key = json_text(question, "key"),
                               .instance = json_int(question, "instance"),
                               .token = json_int(question, "token"),
                               .business_key = json_text(question, "business_key"),
                               .starts = json_is_true(json_object_get(question, "starts"))};
}

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
        starts ? "SELECT s.instance, s.token, s.version, s.activity, s.key, NULL, v.key" STARTING
                 " JOIN process_version v ON v.id=s.version LIMIT 100"
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

json_t *subscription_conditions(struct store *store, const char *process, struct error *error) {
    json_t *list = json_array();
    struct row *rows = db_query(
        &store->db, error,
        "SELECT s.instance, s.token, s.version, s.activity, s.key, CAST(NULL AS TEXT), v.key"
        " FROM subscription s JOIN process_version v ON v.id=s.version"
        " JOIN process p ON p.key=v.key WHERE s.kind='condition' AND s.instance=0"
        " AND v.suspended+p.suspended=0 AND (v.key=?1 OR CAST(?1 AS TEXT) IS NULL)"
        " ORDER BY s.token, s.name",
        "t", process);
    enum answer step = NO;
    while ((step = db_step(&store->db, rows, error)) == YES)
        json_array_append_new(list, receiver_read(rows));
    return json_kept(list, step == NO);
}

/* ---- of many messages ---- */

static void message_cells(union unit_cell *cells, const struct message_to *to, size_t at) {
    cells[0].number = (int64_t)at;
    cells[1].text = to->name;
    cells[2].text = to->key ? to->key : "";
    cells[3].number = to->instance;
    cells[4].number = to->token;
    cells[5].text = to->business_key;
}

/* Adds those of the messages that have none so far. */
static bool add_receivers(struct store *store, enum asked_rows kind, const struct message_to *to,
                          json_t *lists, struct error *error) {
    struct kept_rows rows = {.letters = "ittiit"};
    enum answer step = NO;
    rows.cells = calloc(6 * json_array_size(lists) + 1, sizeof *rows.cells);
    if (!rows.cells)
        return db_no_memory(&store->db, error);
    for (size_t i = 0; i < json_array_size(lists); i++)
        if (!json_array_size(json_array_get(lists, i)) && (kind == ASKED_STARTING || !to[i].starts))
            message_cells(rows.cells + 6 * rows.count++, &to[i], i);
    struct row *row = rows.count ? store->engine->asked_rows(store, kind, &rows, error) : NULL;
    while (rows.count && (step = db_step(&store->db, row, error)) == YES)
        json_array_append_new(json_array_get(lists, (size_t)row_int(row, 7)), receiver_read(row));
    free(rows.cells);
    return step == NO;
}

json_t *subscription_receivers_many(struct store *store, const struct message_to *to, size_t count,
                                    struct error *error) {
    json_t *lists = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(lists, json_array());
    return json_kept(lists, add_receivers(store, ASKED_WAITING, to, lists, error) &&
                                add_receivers(store, ASKED_STARTING, to, lists, error));
}
