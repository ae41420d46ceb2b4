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

/* Reads what was told later. */
static bool releases_read(struct store *store, struct error *error) {
    struct releases *releases = store->releases;
    struct row *freed = releases->freed, *shown = releases->shown;
    releases->freed = releases->shown = NULL;
    return (!freed || read_shown(NULL, store, freed, error)) &&
           (!shown || read_shown(NULL, store, shown, error));
}

/* `later` NULL: what is shown is read at once. */
static bool show(struct store *store, struct set *set, struct row **later, struct error *error) {
    set->later = later;
    set->read = later ? NULL : read_shown;
    return !set->count || store->engine->set(store, set, error);
}

static bool releases_write(struct store *store, bool later, struct error *error) {
    struct releases *releases = store->releases;
    struct set freed = {.kind = SET_RELEASE,
                        .columns = {releases->lanes, releases->tokens},
                        .count = releases->count};
    struct set shown = {
        .kind = SET_EXPOSE, .columns = {releases->exposed}, .count = releases->exposed_count};
    releases->count = releases->exposed_count = 0;
    if (!releases_read(store, error))
        return false;
    return show(store, &freed, later ? &releases->freed : NULL, error) &&
           show(store, &shown, later ? &releases->shown : NULL, error) &&
           places_uncounted(store, error);
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
    return !store->releases || releases_write(store, false, error);
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

/* What is shown is told once the commit is there: only the hooks behind this one ask for it. */
static bool releases_flush(struct store *store, struct error *error) {
    return !store->releases || releases_write(store, true, error);
}

static void releases_committed(struct store *store) {
    if (store->releases)
        releases_read(store, NULL);
}

/* What has been written before a part of a transaction is still to be told. */
static void releases_forget(struct store *store) {
    struct releases *releases = store->releases;
    if (releases && store->writing)
        releases->count = releases->exposed_count = releases->run_count = 0;
    else if (releases)
        *releases = (struct releases){0};
}

const struct txn_hook releases_hook = {.flush = releases_flush,
                                       .committed = releases_committed,
                                       .drop = releases_forget,
                                       .parts = true};
