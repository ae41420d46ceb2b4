/* releases.c - lanes that become free, or show what is next, and runs that end under a limit,
 * together (places.h). */
#include "store/rules/place/places.h"
#include "store/rules/place/spared.h"

/* The first job of each (stream, rank) stands in `ready` now. */
static bool read_shown(struct set *set, struct store *store, struct row *row, struct error *error) {
    enum answer step = NO;
    (void)set;
    while ((step = db_step(&store->db, row, error)) == YES) {
        const struct place_key key = {row_int(row, 0), row_int(row, 1), row_int(row, 2),
                                      row_int(row, 3), row_int(row, 4)};
        place_ready_later(store, &key);
    }
    return step == NO;
}

static bool release(struct store *store, struct releases *releases, struct error *error) {
    struct set set = {.kind = SET_RELEASE,
                      .columns = {releases->lanes, releases->tokens},
                      .count = releases->count,
                      .read = read_shown};
    releases->count = 0;
    return !set.count || store->engine->set(store, &set, error);
}

static bool expose(struct store *store, struct releases *releases, struct error *error) {
    struct set set = {.kind = SET_EXPOSE,
                      .columns = {releases->exposed},
                      .count = releases->exposed_count,
                      .read = read_shown};
    releases->exposed_count = 0;
    return !set.count || store->engine->set(store, &set, error);
}

bool places_uncounted(struct store *store, struct error *error) {
    struct releases *releases = store->releases;
    if (!releases || !releases->run_count)
        return true;
    struct set set = {.kind = SET_UNCOUNT,
                      .columns = {releases->definitions, releases->runs},
                      .count = releases->run_count};
    releases->run_count = 0;
    return store->engine->set(store, &set, error);
}

bool places_released(struct store *store, struct error *error) {
    struct releases *releases = store->releases;
    return !releases || (release(store, releases, error) && expose(store, releases, error) &&
                         places_uncounted(store, error));
}

bool place_release_later(struct store *store, int64_t lane, int64_t token, struct error *error) {
    struct releases *releases = store->releases;
    if (!releases)
        return place_release(store, lane, token, error);
    if (releases->count == RELEASES_KEPT && !places_released(store, error))
        return false;
    spared_look(store);
    releases->lanes[releases->count] = lane;
    releases->tokens[releases->count++] = token;
    return true;
}

/* Jobs of one lane often come one behind the other. */
bool place_expose(struct store *store, int64_t lane, struct error *error) {
    struct releases *releases = store->releases;
    if (!lane || !releases)
        return place_expose_now(store, lane, error);
    if (releases->exposed_count && releases->exposed[releases->exposed_count - 1] == lane)
        return true;
    if (releases->exposed_count == RELEASES_KEPT && !places_released(store, error))
        return false;
    releases->exposed[releases->exposed_count++] = lane;
    return true;
}

bool place_uncount_later(struct store *store, int64_t definition, int64_t token,
                         struct error *error) {
    struct releases *releases = store->releases;
    if (releases->run_count == RELEASES_KEPT && !places_released(store, error))
        return false;
    releases->definitions[releases->run_count] = definition;
    releases->runs[releases->run_count++] = token;
    return true;
}

static void releases_forget(struct store *store) {
    if (store->releases)
        store->releases->count = store->releases->exposed_count = store->releases->run_count = 0;
}

const struct txn_hook releases_hook = {
    .flush = places_released, .drop = releases_forget, .parts = true};
