#include "store/rules/record/outbox.h"
#include "base/json.h"
#include "store/rules/ground/engine.h"
#include "store/rules/record/tell.h"
#include <stdlib.h>

enum { READ_BYTES = 4 * 1024 * 1024 }; /* of a page; a row that is larger comes alone */

bool store_outbox_waits(const struct store *store) {
    return store->outbox;
}

/* ---- reading ---- */

/* The sums are those of the rows before. */
static const char page[] =
    "SELECT id, place, at, handler, payload, options FROM (SELECT id, place, at, handler, payload,"
    " options, sum(coalesce(length(payload), 0)) OVER (ORDER BY place, id ROWS BETWEEN UNBOUNDED"
    " PRECEDING AND 1 PRECEDING) AS before FROM (SELECT * FROM outbox WHERE incident IS NULL"
    " AND place IS NOT NULL ORDER BY place, id LIMIT ?1) AS f) AS p"
    " WHERE coalesce(before, 0)<?2 ORDER BY place, id";

static json_t *outbox_row(struct row *row) {
    json_t *object = json_object();
    bool made = object && json_put(object, "id", json_integer(row_int(row, 0))) &&
                json_put(object, "place", json_integer(row_int(row, 1))) &&
                json_put(object, "at", json_integer(row_int(row, 2))) &&
                json_put_text(object, "handler", row_text(row, 3)) &&
                json_put_text(object, "payload", row_text(row, 4)) &&
                json_put_text(object, "options", row_text(row, 5));
    return json_kept(object, made);
}

json_t *store_outbox(struct store *store, int most, struct error *error) {
    json_t *list = json_array();
    struct row *rows =
        list ? db_query(&store->db, error, page, "ni", most, (int64_t)READ_BYTES) : NULL;
    enum answer step = FAILED;
    bool made = true;
    while (rows && (step = db_step(&store->db, rows, error)) == YES)
        made = json_array_append_new(list, outbox_row(rows)) == 0 && made;
    if (step == NO && !made)
        db_no_memory(&store->db, error);
    return json_kept(list, step == NO && made);
}

/* ---- taking ---- */

/* Rows that are to be taken, and which of them were there. */
struct taking {
    struct set set; /* first */
    const int64_t *ids;
    bool *there;
    size_t at;
};

/* They come in the order of the list. */
static bool taken_read(struct set *set, struct store *store, struct row *row, struct error *error) {
    struct taking *taking = (struct taking *)set;
    enum answer step = NO;
    while ((step = db_step(&store->db, row, error)) == YES) {
        while (taking->at < set->count && taking->ids[taking->at] != row_int(row, 0))
            taking->at++;
        if (taking->at < set->count)
            taking->there[taking->at++] = true;
    }
    return step == NO;
}

bool store_outbox_take(struct store *store, const json_t *rows, bool *there, struct error *error) {
    const size_t count = json_array_size(rows);
    int64_t *ids = malloc((count + 1) * sizeof *ids);
    struct taking taking = {
        .set = {.kind = SET_OUTBOX, .columns = {ids}, .count = count, .read = taken_read},
        .ids = ids,
        .there = there};
    for (size_t i = 0; ids && i < count; i++)
        ids[i] = json_int(json_array_get(rows, i), "id");
    bool done =
        ids ? store->engine->set(store, &taking.set, error) : db_no_memory(&store->db, error);
    free(ids);
    return done;
}

/* ---- refusing ---- */

/* *incident 0: there are none. */
static bool incident_insert(struct store *store, const char *message, time_ms now,
                            int64_t *incident, struct error *error) {
    if (!store->rules->incidents)
        return true;
    store->incidents = 1;
    return db_value(&store->db, error, incident,
                    "INSERT INTO incident(type, message, created) VALUES(?1, ?2, ?3) RETURNING id",
                    "tti", INCIDENT_REFUSED_ROW, message, now) == YES &&
           tell_incident(store, *incident, now, error);
}

static bool keep_row(struct store *store, const json_t *row, const char *why, time_ms now,
                     struct error *error) {
    int64_t id = json_int(row, "id"), incident = 0;
    struct error message = {0}; /* it has room for a name and a reason, and cuts between letters */
    enum answer there = db_value(&store->db, error, &id,
                                 "SELECT id FROM outbox WHERE id=?1 AND incident IS NULL", "i", id);
    if (there != YES)
        return there == NO;
    error_set(&message, ERROR_INVALID, "row %lld of the outbox, handler \"%.255s\": %s",
              (long long)id, json_text(row, "handler"), why);
    return incident_insert(store, message.text, now, &incident, error) &&
           db_run(&store->db, error, "UPDATE outbox SET incident=?2 WHERE id=?1", "ii", id,
                  incident);
}

bool store_outbox_refuse(struct store *store, const json_t *row, const char *why, time_ms now,
                         struct error *error) {
    bool own = false;
    return unit_begin(store, STORE_TURN, &own, error) &&
           unit_end(store, own, keep_row(store, row, why, now, error), error);
}

bool outbox_try_again(struct store *store, int64_t incident, struct error *error) {
    store->ring.everybody = true;
    return db_run(&store->db, error, "UPDATE outbox SET incident=NULL WHERE incident=?1", "i",
                  incident);
}
