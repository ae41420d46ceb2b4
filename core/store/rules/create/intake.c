#include "store/rules/create/intake.h"
#include "base/crash_point.h"
#include "store/rules/ground/engine.h"
#include "store/rules/place/backlog.h"
#include "store/rules/place/places.h"

enum { REMOVE_ROWS = 1000 };

/* ---- filling ---- */

static bool begin_row(struct store *store, struct store_intake *intake, int64_t count, time_ms now,
                      struct error *error) {
    intake->next = store->meta.next_id;
    intake->last = intake->next + count - 1;
    store->meta.next_id += count;
    return db_value(&store->db, error, &intake->id,
                    "INSERT INTO intake(reached, last, who, created) VALUES(?1, ?2, ?3, ?4)"
                    " RETURNING id",
                    "iiti", intake->next - 1, intake->last, store->rules->who, now) == YES &&
           store->engine->sign_take(store, SIGN_INTAKE(intake->id), error) &&
           CRASH_POINT("intake_begun");
}

bool store_intake_begin(struct store *store, struct store_intake *intake, int64_t count,
                        time_ms now, struct error *error) {
    bool own = false;
    *intake = (struct store_intake){.bare = true};
    if (!unit_begin(store, STORE_TURN, &own, error))
        return false;
    if (unit_end(store, own, begin_row(store, intake, count, now, error), error))
        return true;
    store_intake_leave(store, intake);
    return false;
}

static bool intake_add(struct store *store, struct store_intake *intake, struct job_spec *specs,
                       time_ms now, struct error *error) {
    for (struct job_spec *spec = specs; spec; spec = spec->next)
        if (intake->next > intake->last)
            return error_set(error, ERROR_FAILED, "more jobs than were announced");
        else
            spec->job.id = intake->next++;
    store->intake = intake;
    bool done = store_create(store, specs, 0, now, error) && CRASH_POINT("intake_added");
    store->intake = NULL;
    for (struct job_spec *spec = specs; spec; spec = spec->next)
        intake->bare = intake->bare && place_plain(&spec->job) == PLACE_BARE;
    return done;
}

bool store_intake_add(struct store *store, struct store_intake *intake, struct job_spec *specs,
                      time_ms now, struct error *error) {
    bool own = false;
    int64_t next = intake->next;
    if (!unit_begin(store, STORE_TURN, &own, error))
        return false;
    if (unit_end(store, own, intake_add(store, intake, specs, now, error), error))
        return true;
    intake->next = next;
    return false;
}

void store_intake_leave(struct store *store, struct store_intake *intake) {
    store->engine->sign_drop(store, SIGN_INTAKE(intake->id));
    *intake = (struct store_intake){0};
}

/* ---- steps ---- */

bool intake_load(struct store *store, int64_t id, struct intake *intake, struct error *error) {
    *intake = (struct intake){.id = id};
    enum answer step = db_read(
        &store->db, error, "SELECT reached, last, removed, released FROM intake WHERE id=?1",
        "iiif<i", &intake->reached, &intake->last, &intake->removed, &intake->released, id);
    return step == YES ||
           (step == NO && error_set(error, ERROR_CONFLICT, "what was written so far is gone"));
}

bool intake_reach(struct store *store, const struct intake *intake, int rows, int64_t *to,
                  bool *more, struct error *error) {
    int64_t first = intake->last;
    enum answer found = db_value(&store->db, error, &first,
                                 "SELECT id FROM job WHERE id>?1 AND id<=?2 ORDER BY id LIMIT 1",
                                 "ii", intake->reached, intake->last);
    *more = intake->last - first >= rows;
    *to = *more ? first + rows - 1 : intake->last;
    return found != FAILED;
}

bool intake_advance(struct store *store, const struct intake *intake, int64_t to, bool more,
                    struct error *error) {
    return more ? db_run(&store->db, error, "UPDATE intake SET reached=?2, removed=?3 WHERE id=?1",
                         "iii", intake->id, to, intake->removed)
                : db_run(&store->db, error, "DELETE FROM intake WHERE id=?1", "i", intake->id);
}

/* They counted since they were written. */
static bool uncount(struct store *store, int64_t from, int64_t to, struct error *error) {
    if (!store->catalog.backlogs)
        return true;
    struct row *rows = db_query(&store->db, error,
                                "SELECT stream, coalesce(lane, 0), count(*) FROM job"
                                " WHERE id>?1 AND id<=?2 GROUP BY stream, lane",
                                "ii", from, to);
    enum answer step = NO;
    while ((step = db_step(&store->db, rows, error)) == YES)
        if (!backlog_move(store, row_int(rows, 0), row_int(rows, 1), -row_int32(rows, 2), error))
            return row_stop(rows);
    return step == NO;
}

static bool rows_remove(struct store *store, struct intake *intake, int64_t to,
                        struct error *error) {
    int64_t from = intake->reached;
    bool done =
        uncount(store, from, to, error) &&
        db_run(&store->db, error,
               "DELETE FROM unique_key WHERE job>?1 AND job<=?2 AND (definition, key) IN"
               " (SELECT s.definition, j.unique_key FROM job j JOIN stream s"
               " ON s.id=j.stream WHERE j.id>?1 AND j.id<=?2 AND j.unique_key IS NOT NULL)",
               "ii", from, to) &&
        db_run(&store->db, error, "DELETE FROM cycle WHERE job>?1 AND job<=?2", "ii", from, to) &&
        row_delete_range(store, from, to, error);
    intake->removed += done ? db_changes(&store->db) : 0;
    return done && CRASH_POINT("intake_removed");
}

bool intake_remove(struct store *store, struct intake *intake, bool *more, struct error *error) {
    int64_t to = 0;
    return intake_reach(store, intake, REMOVE_ROWS, &to, more, error) &&
           rows_remove(store, intake, to, error) && intake_advance(store, intake, to, *more, error);
}

static bool step(struct store *store, const struct store_intake *of, bool *more, time_ms now,
                 struct error *error) {
    struct intake intake;
    if (!intake_load(store, of->id, &intake, error))
        return false;
    intake.bare = of->bare;
    return intake.released ? intake_place(store, &intake, more, now, error)
                           : intake_remove(store, &intake, more, error);
}

bool store_intake_step(struct store *store, const struct store_intake *intake, bool *more,
                       time_ms now, struct error *error) {
    bool own = false;
    if (!unit_begin(store, STORE_TURN, &own, error))
        return false;
    return unit_end(store, own, step(store, intake, more, now, error), error);
}

bool store_intake_release(struct store *store, const struct store_intake *intake, bool *more,
                          time_ms now, struct error *error) {
    return db_run(&store->db, error, "UPDATE intake SET released=1 WHERE id=?1", "i", intake->id) &&
           CRASH_POINT("intake_released") && step(store, intake, more, now, error);
}
