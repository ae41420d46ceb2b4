/* taken_run.c - jobs that leave `ready` and `parked` together, as they stand one behind the other.
 *
 * What an acquisition takes is a run as long as no other job can stand between its first and its
 * last. Parked jobs of a lane are a run of their own, and jobs that are to be parked another. The
 * number of rows that have left proves that none has left besides. A job that is parked alone
 * leaves by its key. Where jobs without a date are read past, jobs are parked alone. */
#include "store/rules/place/parked_lanes.h"
#include "store/rules/record/bulk.h"
#include "store/rules/work/taking.h"

static struct place_key cursor_key(const struct cursor *cursor) {
    const struct head *head = &cursor->head;
    return (struct place_key){cursor->stream, head->rank, head->place, head->id, head->lane};
}

bool taking_remove(struct store *store, const struct cursor *cursor, struct error *error) {
    const struct place_key key = cursor_key(cursor);
    return cursor->lane ? place_take_parked(store, &key, error) : place_take(store, &key, error);
}

/* True if the job at the cursor stands behind the last one of the run, and none between them. */
static bool goes_on(const struct run *run, const struct store *store, const struct cursor *cursor) {
    return run->count && run->first.stream == cursor->stream &&
           run->first.rank == cursor->head.rank && cursor->placed == store->placed;
}

static void taken_add(struct run *run, const struct cursor *cursor) {
    run->last = cursor_key(cursor);
    if (!run->count++)
        run->first = run->last;
}

static bool taken_refuse(struct store *store, const char *where, int64_t gone, int count,
                         struct error *error) {
    return gone == count ||
           error_set(error, ERROR_DAMAGED, "store \"%s\": damaged: %lld jobs %s where %d were met",
                     store->db.name, (long long)gone, where, count);
}

/* ---- out of `ready` ---- */

static bool ready_out(struct taking *taking, struct store *store, struct error *error) {
    struct run run = taking->run;
    int64_t gone = 0;
    taking->run.count = 0;
    if (!run.count)
        return true;
    return place_take_run(store, &run.first, &run.last, &gone, error) &&
           taken_refuse(store, "ready", gone, run.count, error);
}

/* One of them may be gone: another run of its schedule has replaced it since it was read. */
static bool parking_out(struct taking *taking, struct store *store, struct error *error) {
    struct run run = taking->parking;
    int64_t gone = 0;
    taking->parking.count = 0;
    if (!run.count)
        return true;
    return place_park_run(store, &run.first, &run.last, &gone, error) &&
           (gone < run.count || taken_refuse(store, "ready", gone, run.count, error));
}

/* ---- out of `parked` ---- */

static bool parked_out(struct taking *taking, struct store *store, struct run *run,
                       struct error *error) {
    int64_t gone = 0;
    int count = run->count;
    run->count = 0;
    taking->parked_runs--;
    return place_take_parked_run(store, &run->first, &run->last, &gone, error) &&
           taken_refuse(store, "parked", gone, count, error);
}

static bool parked_leaves(struct taking *taking, struct store *store, const struct cursor *cursor,
                          struct error *error) {
    struct run *run = &taking_lane(taking, cursor->lane)->parked;
    bool next = run->first.stream == cursor->stream && run->first.rank == cursor->head.rank;
    if (run->count && !next && !parked_out(taking, store, run, error))
        return false;
    taking->parked_runs += !run->count;
    taken_add(run, cursor);
    return true;
}

bool taking_parked_out(struct taking *taking, struct store *store, int64_t lane,
                       struct error *error) {
    struct run *run = &taking_lane(taking, lane)->parked;
    return !run->count || parked_out(taking, store, run, error);
}

static bool all_parked_out(struct taking *taking, struct store *store, struct error *error) {
    for (size_t i = 0; taking->parked_runs && i < taking->lane_count; i++)
        if (taking->lanes[i].parked.count &&
            !parked_out(taking, store, &taking->lanes[i].parked, error))
            return false;
    return true;
}

/* ---- all of them ---- */

bool taking_leaves(struct taking *taking, struct store *store, const struct cursor *cursor,
                   struct error *error) {
    taking->parks = false;
    if (store->engine->sets) /* they leave with their locks */
        return true;
    if (cursor->lane)
        return parked_leaves(taking, store, cursor, error);
    if (!parking_out(taking, store, error) ||
        (!goes_on(&taking->run, store, cursor) && !ready_out(taking, store, error)))
        return false;
    taken_add(&taking->run, cursor);
    return true;
}

bool taking_park(struct taking *taking, struct store *store, const struct cursor *cursor,
                 struct error *error) {
    const struct place_key key = cursor_key(cursor);
    bool alone = !taking->parks;
    taking->parks = cursor->placed == store->placed && !cursor->dated;
    taking->parked++;
    if (alone || !taking->parks)
        return parking_out(taking, store, error) && place_park(store, &key, error);
    if (!goes_on(&taking->parking, store, cursor) && !parking_out(taking, store, error))
        return false;
    parked_lanes_add(store, key.lane);
    taken_add(&taking->parking, cursor);
    return true;
}

bool taking_flush(struct taking *taking, struct store *store, struct error *error) {
    taking->parks = false;
    if (!parking_out(taking, store, error) || !ready_out(taking, store, error) ||
        !all_parked_out(taking, store, error))
        return false;
    return bulk_lock(store, error) && lane_set_write(&taking->known, store, error);
}
