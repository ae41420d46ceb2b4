#include "store/rules/work/lane_set.h"
#include <stdlib.h>

/* ---- the list ---- */

static int compare(const void *left, const void *right) {
    const struct known_lane *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

/* NULL: not known. */
static struct known_lane *find(const struct lane_set *set, int64_t lane) {
    const struct known_lane key = {.id = lane};
    return set->count ? bsearch(&key, set->lanes, set->count, sizeof key, compare) : NULL;
}

static bool grow(int64_t **list, size_t room) {
    int64_t *grown = realloc(*list, room * sizeof *grown);
    *list = grown ? grown : *list;
    return grown != NULL;
}

static bool make_room(struct lane_set *set, size_t room) {
    struct known_lane *lanes = realloc(set->lanes, room * sizeof *lanes);
    set->lanes = lanes ? lanes : set->lanes;
    set->room = lanes ? room : set->room;
    return lanes && grow(&set->held, room) && grow(&set->tokens, room) && grow(&set->owners, room);
}

/* ---- asking ---- */

/* Behind those that are known, in no order yet. */
static void add(struct lane_set *set, size_t known, const struct head *head) {
    struct lane_set before = *set;
    before.count = known;
    if (head->lane && !find(&before, head->lane))
        set->lanes[set->count++] = (struct known_lane){.id = head->lane};
}

static size_t heads_of(const struct merge *merge) {
    size_t count = merge->count;
    for (size_t i = 0; i < merge->count; i++)
        count += (size_t)merge->cursors[i].count;
    return count;
}

static void add_all(struct lane_set *set, const struct merge *merge) {
    const size_t known = set->count;
    for (size_t i = 0; i < merge->count; i++) {
        const struct cursor *cursor = &merge->cursors[i];
        add(set, known, &cursor->head);
        for (int at = cursor->at; at < cursor->count; at++)
            add(set, known, &cursor->read[at].head);
    }
}

/* Each lane once. Of two that are equal neither has been asked for. */
static void sort(struct lane_set *set) {
    size_t count = 0;
    qsort(set->lanes, set->count, sizeof *set->lanes, compare);
    for (size_t i = 0; i < set->count; i++)
        if (count == 0 || set->lanes[i].id != set->lanes[count - 1].id)
            set->lanes[count++] = set->lanes[i];
    set->count = count;
}

/* A question, and whose answers they are. */
struct asked {
    struct set set; /* first */
    struct lane_set *lanes;
};

static bool read_states(struct set *of, struct store *store, struct row *row, struct error *error) {
    struct lane_set *set = ((struct asked *)of)->lanes;
    enum answer step = NO;
    while ((step = db_step(&store->db, row, error)) == YES) {
        struct known_lane *lane = find(set, row_int(row, 0));
        *(row_int(row, 1) ? &lane->has_parked : &lane->runs) = true;
    }
    return step == NO;
}

static bool ask(struct lane_set *set, struct store *store, struct error *error) {
    int64_t *ids = malloc((set->count + 1) * sizeof *ids);
    struct asked asked = {{.kind = SET_LANES, .columns = {ids}, .read = read_states}, set};
    if (!ids)
        return db_no_memory(&store->db, error);
    for (size_t i = 0; i < set->count; i++) {
        if (!set->lanes[i].asked)
            ids[asked.set.count++] = set->lanes[i].id;
        set->lanes[i].asked = true;
    }
    bool done = !asked.set.count || store->engine->set(store, &asked.set, error);
    free(ids);
    return done;
}

bool lane_set_read(struct lane_set *set, struct store *store, const struct merge *merge,
                   struct error *error) {
    if (!store->engine->sets)
        return true;
    if (!make_room(set, set->count + heads_of(merge) + 1))
        return db_no_memory(&store->db, error);
    add_all(set, merge);
    sort(set);
    return ask(set, store, error);
}

enum answer lane_set_knows(struct lane_set *set, struct store *store, const struct merge *merge,
                           struct error *error) {
    const struct cursor *cursor = merge_best(merge);
    if (!cursor->head.spot || !cursor->job)
        return NO;
    if (!find(set, cursor->head.lane) && !lane_set_read(set, store, merge, error))
        return FAILED;
    return YES;
}

bool lane_set_has_parked(const struct lane_set *set, int64_t lane) {
    const struct known_lane *known = find(set, lane);
    return !known || known->has_parked;
}

/* ---- writing ---- */

bool lane_set_hold(struct lane_set *set, const struct store *store, int64_t lane, int64_t token) {
    struct known_lane *known = find(set, lane);
    if (known->runs)
        return false;
    known->runs = true;
    set->held[set->held_count] = lane;
    set->tokens[set->held_count] = token;
    set->owners[set->held_count++] = store->self.id;
    return true;
}

bool lane_set_park(struct lane_set *set, struct store *store, const struct cursor *cursor,
                   struct error *error) {
    size_t room = set->spot_room ? set->spot_room * 2 : 64;
    if (set->parked_count == set->spot_room) {
        if (!grow(&set->spots, room))
            return db_no_memory(&store->db, error);
        set->spot_room = room;
    }
    find(set, cursor->head.lane)->has_parked = true;
    set->spots[set->parked_count++] = cursor->head.spot;
    return true;
}

bool lane_set_write(struct lane_set *set, struct store *store, struct error *error) {
    struct set held = {.kind = SET_HOLD,
                       .columns = {set->held, set->tokens, set->owners},
                       .count = set->held_count};
    struct set parked = {.kind = SET_PARK, .columns = {set->spots}, .count = set->parked_count};
    set->held_count = set->parked_count = 0;
    return (!held.count || store->engine->set(store, &held, error)) &&
           (!parked.count || store->engine->set(store, &parked, error));
}

void lane_set_clear(struct lane_set *set) {
    free(set->lanes);
    free(set->held);
    free(set->tokens);
    free(set->owners);
    free(set->spots);
    *set = (struct lane_set){0};
}
