/* events.c - what has happened in the store since a place (rules §16).
 *
 * A place says all by itself: nothing is kept from one question to the next, and another process
 * may ask on. Ends of jobs and openings of incidents are numbered as they are written. All else
 * has an instant, and is written a while after it. So a place has a row before which everything was
 * told, and names what was told behind it. It cannot name many: further rows wait until their
 * instants are past. */
#include "base/json.h"
#include "store/rules/ask/events_place.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"
#include <stdlib.h>
#include <string.h>

enum {
    LATE_MS = 10000,     /* what has an instant is written this long after it, at most */
    ROWS_MOST = 500,     /* of a kind, at once */
    COLUMNS_MOST = 9,    /* of a row, behind its instant and its number */
    EXECUTORS_MOST = 256 /* that are looked at */
};

/* Rows that have been read and not told before, in their order. */
struct fresh {
    struct events_row *rows; /* ROWS_MOST */
    json_t *told;            /* what they tell, an array */
    size_t next;
};

/* A question under way. */
struct events_look {
    struct store *store;
    time_ms now, past; /* nothing is written any more that happened before `past` */
    bool wanted[EVENTS];
    struct events_place place;
    struct fresh fresh[EVENTS];
    bool more; /* rows are left that can be told at once */
};

#define OF_HANDLER(row)                                                                            \
    " LEFT JOIN stream s ON s.id=" row ".stream LEFT JOIN definition d ON d.id=s.definition"
#define OF_INCIDENT                                                                                \
    "i.id, i.type, i.job, d.name, i.activity, i.tenant, i.instance, i.schedule, i.message"
#define INCIDENT_NAMES                                                                             \
    "incident", "type", "job", "handler", "activity", "tenant", "instance", "schedule", "message"
#define FROM_INCIDENT " FROM incident i LEFT JOIN definition d ON d.id=i.definition"
/* Behind the row (?1, ?2, ?3). */
#define BEHIND(at, id, n)                                                                          \
    " WHERE " at ">=?1 AND (" at ">?1 OR " id ">?2 OR (" id "=?2 AND " n ">CAST(?3 AS BIGINT)))"   \
    " ORDER BY 1, 2, 3 LIMIT ?4"

/* Columns: the instant, the number and the attempt of the row, then those with names. */
static const struct {
    const char *name, *sql, *columns[COLUMNS_MOST + 1];
} events[EVENTS] = {
    [EVENT_JOB_FAILED] = {"job.failed",
                          "SELECT a.at, a.job, a.n, a.job, a.n, d.name, a.activity, a.tenant,"
                          " a.instance, a.retries, a.message FROM attempt a" OF_HANDLER("a")
                              BEHIND("a.at", "a.job", "a.n"),
                          {"job", "attempt", "handler", "activity", "tenant", "instance", "retries",
                           "message"}},
    [EVENT_INCIDENT_CLOSED] = {"incident.closed",
                               "SELECT i.ended, i.id, 0, " OF_INCIDENT FROM_INCIDENT BEHIND(
                                   "i.ended", "i.id", "0"),
                               {INCIDENT_NAMES}},
    [EVENT_BATCH_ENDED] = {"batch.ended",
                           "SELECT b.ended, b.id, 0, b.id, b.type, b.name, CASE b.state WHEN 5 THEN"
                           " 'deleted' ELSE 'completed' END, b.total, b.failed FROM batch b" BEHIND(
                               "b.ended", "b.id", "0"),
                           {"batch", "type", "name", "state", "total", "failed"}},
    [EVENT_INSTANCE_ENDED] =
        {"instance.ended",
         "SELECT p.ended, p.id, 0, p.id, v.key, p.key, p.tenant, p.how FROM past p"
         " LEFT JOIN process_version v ON v.id=p.version" BEHIND("p.ended", "p.id", "0"),
         {"instance", "process", "key", "tenant", "how"}},
    [EVENT_JOB_ENDED] =
        {"job.ended",
         "SELECT e.at, e.seq, 0, e.job, e.attempt, d.name, e.activity, e.tenant,"
         " e.instance, CASE e.outcome WHEN 1 THEN 'successful' WHEN 2 THEN 'deleted'"
         " WHEN 4 THEN 'skipped' ELSE 'cancelled' END FROM ended e" OF_HANDLER(
             "e") " WHERE e.seq>?1 ORDER BY e.seq LIMIT ?2",
         {"job", "attempt", "handler", "activity", "tenant", "instance", "outcome"}},
    [EVENT_INCIDENT_OPENED] = {"incident.opened",
                               "SELECT i.created, i.id, 0, " OF_INCIDENT FROM_INCIDENT
                               " WHERE i.id>?1 ORDER BY i.id LIMIT ?2",
                               {INCIDENT_NAMES}},
    [EVENT_EXECUTOR_JOINED] = {"executor.joined", NULL, {NULL}},
    [EVENT_EXECUTOR_LEFT] = {"executor.left", NULL, {NULL}},
};

/* ---- rows ---- */

/* What has nothing there is left out. */
static json_t *event_read(struct row *row, enum event event) {
    json_t *told = json_object();
    bool done = told && json_put_text(told, "event", events[event].name) &&
                query_put_time(told, "at", row, 0);
    for (int i = 0; done && events[event].columns[i]; i++)
        done = row_null(row, 3 + i) ||
               json_put(told, events[event].columns[i], query_column(row, 3 + i));
    return json_kept(told, done);
}

static bool fresh_add(struct events_look *look, enum event event, const struct events_row *row,
                      json_t *told) {
    struct fresh *fresh = &look->fresh[event];
    size_t at = json_array_size(fresh->told);
    fresh->rows[at] = *row;
    return json_array_append_new(fresh->told, told) == 0;
}

static bool is_past(const struct events_look *look, const struct events_row *row) {
    return row->at < look->past;
}

/* A place with all of the past told, and what is named behind it. */
static void reach_now(struct events_look *look, enum event event) {
    struct events_reach *reach = &look->place.late[event];
    const struct events_row past = {.at = look->past};
    if (events_row_compare(&reach->row, &past) < 0)
        events_reach_move(reach, &past);
}

/* How many that are not past may be told beside those that the place names. */
static size_t room_of(const struct events_look *look, enum event event) {
    const struct events_reach *reach = &look->place.late[event];
    size_t room = TOLD_MOST;
    for (size_t i = 0; i < reach->count; i++)
        room -= !is_past(look, &reach->told[i]);
    return room;
}

static struct row *rows_of(struct events_look *look, enum event event, struct error *error) {
    struct db *db = &look->store->db;
    const struct events_row *row = event < LATES ? &look->place.late[event].row : NULL;
    if (row)
        return db_query(db, error, events[event].sql, "iiin", row->at, row->id, row->n,
                        (int)ROWS_MOST);
    return db_query(db, error, events[event].sql, "in",
                    event == EVENT_JOB_ENDED ? look->place.ended : look->place.opened,
                    (int)ROWS_MOST);
}

/* False: the row, and those behind it, have to wait. */
static bool may_tell(const struct events_look *look, enum event event, const struct events_row *row,
                     size_t *room) {
    if (event >= LATES || is_past(look, row))
        return true;
    if (*room == 0)
        return false;
    (*room)--;
    return true;
}

static bool read_rows(struct events_look *look, enum event event, struct error *error) {
    const bool late = event < LATES;
    size_t count = 0, room = late ? room_of(look, event) : 0;
    bool full = false, done = true;
    struct row *row = rows_of(look, event, error);
    enum answer step = NO;
    while (done && (step = db_step(&look->store->db, row, error)) == YES) {
        const struct events_row one = {row_int(row, 0), row_int(row, 1), row_int(row, 2)};
        count++;
        if (full || (late && events_reach_told(&look->place.late[event], &one)))
            continue;
        full = !may_tell(look, event, &one, &room);
        json_t *told = full ? NULL : event_read(row, event);
        done = full || (told && fresh_add(look, event, &one, told)) ||
               db_no_memory(&look->store->db, error);
    }
    if (!done)
        row_done(row);
    look->more = look->more || (count == ROWS_MOST && !full);
    return done && step == NO;
}

/* ---- executors ---- */

static bool has(const json_t *list, int64_t id) {
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one)
        if (json_integer_value(one) == id)
            return true;
    return false;
}

/* Those that live: [{ executor, name }]. */
static json_t *executors_live(struct events_look *look, struct error *error) {
    json_t *list = json_array();
    struct row *row = db_query(&look->store->db, error,
                               "SELECT id, name FROM executor WHERE state=1 AND kind<>2"
                               " ORDER BY id LIMIT ?1",
                               "n", (int)EXECUTORS_MOST);
    enum answer step = NO;
    bool done = list != NULL;
    while (done && (step = db_step(&look->store->db, row, error)) == YES)
        done = json_array_append_new(list,
                                     json_pack("{sI ss}", "executor", (json_int_t)row_int(row, 0),
                                               "name", row_text(row, 1))) == 0;
    return json_kept(list, done && step == NO);
}

static bool executor_tell(struct events_look *look, enum event event, json_t *told) {
    const struct events_row row = {.at = look->now, .id = json_int(told, "executor")};
    bool done =
        json_put_text(told, "event", events[event].name) && json_put_time(told, "at", look->now);
    return fresh_add(look, event, &row, json_kept(told, done));
}

static bool has_room(const struct events_look *look, enum event event) {
    return json_array_size(look->fresh[event].told) < ROWS_MOST;
}

/* A caller's place may name more than ever lived: those without room are told with the next look.
 */
static bool read_executors(struct events_look *look, struct error *error) {
    size_t i;
    const json_t *one;
    json_t *live = executors_live(look, error), *ids = json_array();
    bool done = live && ids;
    json_array_foreach(live, i, one) {
        done = done && json_array_append(ids, json_object_get(one, "executor")) == 0;
        if (done && !has(look->place.executors, json_int(one, "executor")))
            done = executor_tell(look, EVENT_EXECUTOR_JOINED, json_copy(json_unchanged(one)));
    }
    json_array_foreach(look->place.executors, i, one)
        if (done && !has(ids, json_integer_value(one)) && has_room(look, EVENT_EXECUTOR_LEFT))
            done = executor_tell(look, EVENT_EXECUTOR_LEFT, json_pack("{sO}", "executor", one));
    json_decref(live);
    json_decref(ids);
    return done || !live || db_no_memory(&look->store->db, error);
}

/* ---- telling ---- */

/* The place behind a row that is told. */
static bool step_on(struct events_look *look, enum event event, const struct events_row *row) {
    struct events_place *place = &look->place;
    size_t i;
    const json_t *one;
    switch (event) {
    case EVENT_JOB_ENDED:
        place->ended = row->id;
        return true;
    case EVENT_INCIDENT_OPENED:
        place->opened = row->id;
        return true;
    case EVENT_EXECUTOR_JOINED:
        return json_array_append_new(place->executors, json_integer(row->id)) == 0;
    case EVENT_EXECUTOR_LEFT:
        json_array_foreach(place->executors, i, one)
            if (json_integer_value(one) == row->id)
                return json_array_remove(place->executors, i) == 0;
        return true;
    case EVENT_JOB_FAILED:
    case EVENT_INCIDENT_CLOSED:
    case EVENT_BATCH_ENDED:
    case EVENT_INSTANCE_ENDED:
        if (is_past(look, row)) {
            events_reach_move(&place->late[event], row);
            return true;
        }
        reach_now(look, event); /* rows are in their order: all of the past is told */
        events_reach_tell(&place->late[event], row);
        return true;
    case EVENTS:
        break;
    }
    return true;
}

/* The kind whose next row is the oldest. EVENTS: all are told. */
static enum event oldest(const struct events_look *look) {
    enum event found = EVENTS;
    for (int i = 0; i < EVENTS; i++) {
        const struct fresh *one = &look->fresh[i], *best = &look->fresh[found % EVENTS];
        if (one->next < json_array_size(one->told) &&
            (found == EVENTS || one->rows[one->next].at < best->rows[best->next].at))
            found = (enum event)i;
    }
    return found;
}

/* Executors are looked at in any case: where they are not wanted the place alone goes on. */
static bool tell(struct events_look *look, json_t *items) {
    enum event event;
    while ((event = oldest(look)) != EVENTS) {
        struct fresh *fresh = &look->fresh[event];
        json_t *told = json_array_get(fresh->told, fresh->next);
        if (!step_on(look, event, &fresh->rows[fresh->next++]))
            return false;
        if (look->wanted[event] && (!json_put(told, "place", events_place_write(&look->place)) ||
                                    json_array_append(items, told) != 0))
            return false;
    }
    return true;
}

/* ---- the question ---- */

static bool number_now(struct events_look *look, int64_t *number, const char *sql, bool begins,
                       struct error *error) {
    int64_t newest = 0;
    if (db_value(&look->store->db, error, &newest, sql, "") == FAILED)
        return false;
    if (begins || newest < *number)
        *number = newest;
    return true;
}

/* Kinds that nobody wants go on from now. Numbers of rows that have gone may come again. */
static bool begin_kinds(struct events_look *look, bool begins, struct error *error) {
    for (int i = 0; i < LATES; i++) {
        struct events_reach *reach = &look->place.late[i];
        if (begins || !look->wanted[i] || reach->row.at > look->now)
            *reach =
                (struct events_reach){.row = {.at = begins ? look->now : look->past + LATE_MS}};
    }
    return number_now(look, &look->place.ended, "SELECT coalesce(max(seq), 0) FROM ended",
                      begins || !look->wanted[EVENT_JOB_ENDED], error) &&
           number_now(look, &look->place.opened, "SELECT coalesce(max(id), 0) FROM incident",
                      begins || !look->wanted[EVENT_INCIDENT_OPENED], error);
}

static bool read_all(struct events_look *look, bool begins, struct error *error) {
    if (!begin_kinds(look, begins, error) || !read_executors(look, error))
        return false;
    for (int i = 0; i < EVENT_EXECUTOR_JOINED && !begins; i++)
        if (look->wanted[i] && !read_rows(look, (enum event)i, error))
            return false;
    return true;
}

static json_t *answer(struct events_look *look, bool begins, struct error *error) {
    bool own = false, done = false;
    json_t *items = json_array();
    if (items && look_begin(look->store, &own, error)) {
        done = read_all(look, begins, error);
        look_end(look->store, own);
    }
    if (done && !tell(look, items))
        done = db_no_memory(&look->store->db, error);
    for (int i = 0; i < LATES && !look->more; i++)
        reach_now(look, (enum event)i);
    if (!done)
        return json_kept(items, false);
    if (begins)
        json_array_clear(items);
    return json_pack("{so so sb}", "items", items, "next", events_place_write(&look->place), "more",
                     (int)look->more);
}

static bool wanted_read(struct events_look *look, const json_t *kinds, struct error *error) {
    const char *names[EVENTS + 1] = {NULL};
    size_t at;
    const json_t *kind;
    for (int i = 0; i < EVENTS; i++) {
        names[i] = events[i].name;
        look->wanted[i] = !kinds;
    }
    json_array_foreach(kinds, at, kind) {
        int i = 0;
        while (i < EVENTS && strcmp(names[i], json_string_value(kind)) != 0)
            i++;
        if (i == EVENTS)
            return error_unknown(error, ERROR_INVALID, "kinds", json_string_value(kind), names,
                                 "expected");
        look->wanted[i] = true;
    }
    return true;
}

static bool fill(struct events_look *look, const char *after, struct error *error) {
    for (int i = 0; i < EVENTS; i++) {
        look->fresh[i].told = json_array();
        look->fresh[i].rows = calloc(ROWS_MOST, sizeof *look->fresh[i].rows);
        if (!look->fresh[i].told || !look->fresh[i].rows)
            return db_no_memory(&look->store->db, error);
    }
    if (after)
        return events_place_read(&look->place, after, error);
    look->place.executors = json_array();
    return look->place.executors || db_no_memory(&look->store->db, error);
}

json_t *ask_events(struct store *store, const struct question *question, struct error *error) {
    const time_ms past = question->now - LATE_MS;
    /* whole seconds: readers that have been told the same have the same place */
    struct events_look look = {.store = store, .now = question->now, .past = past - past % 1000};
    const char *after = json_text(question->object, "after");
    json_t *found = NULL;
    if (wanted_read(&look, json_object_get(question->object, "kinds"), error) &&
        fill(&look, after, error))
        found = answer(&look, !after, error);
    for (int i = 0; i < EVENTS; i++) {
        json_decref(look.fresh[i].told);
        free(look.fresh[i].rows);
    }
    events_place_clear(&look.place);
    return found;
}
