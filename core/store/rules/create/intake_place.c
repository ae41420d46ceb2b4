/* intake_place.c - the rows of a released intake get their places (rules §1): those that are due
 * become ready, many at a time. */
#include "base/crash_point.h"
#include "job/hook.h"
#include "store/rules/create/intake.h"
#include "store/rules/place/fair_share.h"
#include "store/rules/place/places.h"
#include "store/rules/record/incident.h"
#include "store/rules/record/tell.h"

/* So many keep the lock as long as four thousand jobs that are created. */
enum { PLACE_ROWS = 10000, SINGLE_ROWS = 1000 };

/* Each row needs a look of its own: tenants take turns, something is suspended, or hooks are told.
 */
static bool one_by_one(const struct store *store) {
    const struct catalog *catalog = &store->catalog;
    bool single =
        store->meta.fair != FAIR_OFF || catalog->instances || (catalog->hooks & HOOK_CREATED);
    for (size_t i = 0; !single && i < catalog->definition_count; i++)
        single = catalog->definitions[i].suspended;
    return single;
}

/* What suspends it now: its definition, its instance. */
static bool find_suspended(struct store *store, struct job_row *row, struct error *error) {
    int64_t one = 0;
    const struct catalog_stream *stream = catalog_stream(&store->catalog, row->stream);
    row->suspended = stream && stream->definition->suspended ? SUSPENDED_DEFINITION : 0;
    enum answer found = store->catalog.instances
                            ? db_value(&store->db, error, &one,
                                       "SELECT 1 FROM job j JOIN suspended_instance s"
                                       " ON s.instance=j.instance WHERE j.id=?1",
                                       "i", row->id)
                            : NO;
    if (found == YES)
        row->suspended |= SUSPENDED_INSTANCE;
    return found != FAILED;
}

static bool place_one(struct store *store, int64_t id, time_ms now, struct error *error) {
    struct job_row row;
    if (row_load_placeless(store, id, &row, error) != YES || !find_suspended(store, &row, error))
        return false;
    if (!fair_share_place(store, NULL, &row, now, error))
        return false;
    return row_write(store, &row, false, error) && incident_place(store, &row, now, error) &&
           tell_placed(store, &row, now, error);
}

/* Those above `from`, up to `to`; it reaches not further than SINGLE_ROWS of them. */
static bool place_each(struct store *store, int64_t from, int64_t to, time_ms now,
                       struct error *error) {
    int64_t ids[SINGLE_ROWS];
    size_t count = 0;
    struct row *rows =
        db_query(&store->db, error, "SELECT id FROM job WHERE id>?1 AND id<=?2 LIMIT ?3", "iin",
                 from, to, (int)SINGLE_ROWS);
    enum answer step = NO;
    while ((step = db_step(&store->db, rows, error)) == YES)
        ids[count++] = row_int(rows, 0);
    bool done = step == NO && row_want(store, (struct ids){ids, count}, true, error);
    for (size_t i = 0; done && i < count; i++)
        done = place_one(store, ids[i], now, error);
    row_want_end(store);
    return done;
}

bool intake_place(struct store *store, const struct intake *intake, bool *more, time_ms now,
                  struct error *error) {
    int64_t to = 0;
    bool single = one_by_one(store);
    return intake_reach(store, intake, single ? SINGLE_ROWS : PLACE_ROWS, &to, more, error) &&
           (single ? place_each(store, intake->reached, to, now, error)
                   : place_released(store, intake->reached, to, intake->bare, now, error)) &&
           CRASH_POINT("intake_placed") && intake_advance(store, intake, to, *more, error);
}
