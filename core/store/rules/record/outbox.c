#include "store/rules/record/outbox.h"
#include "base/json.h"
#include "store/rules/record/tell.h"

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

/* All that are there between the first and the last, in the order of the list. */
static bool find_there(struct store *store, const json_t *rows, bool *there, struct error *error) {
    const size_t count = json_array_size(rows);
    size_t at = 0;
    struct row *found =
        db_query(&store->db, error,
                 "SELECT id FROM outbox WHERE place>=?1 AND place<=?2 AND incident IS NULL"
                 " ORDER BY place, id",
                 "ii", json_int(json_array_get(rows, 0), "place"),
                 json_int(json_array_get(rows, count - 1), "place"));
    enum answer step = FAILED;
    while (found && (step = db_step(&store->db, found, error)) == YES) {
        size_t next = at;
        while (next < count && json_int(json_array_get(rows, next), "id") != row_int(found, 0))
            next++;
        if (next == count) /* it was committed since the list was read */
            continue;
        there[next] = true;
        at = next + 1;
    }
    return step == NO;
}

bool store_outbox_take(struct store *store, const json_t *rows, bool *there, struct error *error) {
    bool done = find_there(store, rows, there, error);
    for (size_t i = 0; done && i < json_array_size(rows); i++)
        done = !there[i] || db_run(&store->db, error, "DELETE FROM outbox WHERE id=?1", "i",
                                   json_int(json_array_get(rows, i), "id"));
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
