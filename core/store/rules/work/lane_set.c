#include "store/rules/work/lane_set.h"
#include "store/rules/ground/row.h"
#include <stdlib.h>

/* ---- the list ---- */

static int compare(const void *left, const void *right) {
    const struct known_lane *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

struct known_lane *lane_set_find(const struct lane_set *set, int64_t lane) {
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
static void lanes_add(struct lane_set *set, size_t known, const struct head *head) {
    struct lane_set before = *set;
    before.count = known;
    if (head->lane && !lane_set_find(&before, head->lane))
        set->lanes[set->count++] = (struct known_lane){.id = head->lane,
                                                       .asked = head->seen != LANE_UNSEEN,
                                                       .runs = head->seen == LANE_RUNS,
                                                       .owner = head->owner,
                                                       .has_parked = head->seen == LANE_PARKS};
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
        lanes_add(set, known, &cursor->head);
        for (int at = cursor->at; at < cursor->count; at++)
            lanes_add(set, known, &cursor->read[at].head);
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
        struct known_lane *lane = lane_set_find(set, row_int(row, 0));
        if (row_null(row, 1)) {
            lane->has_parked = true;
            continue;
        }
        lane->runs = true;
        lane->owner = row_int(row, 1);
    }
    return step == NO;
}

static bool lanes_ask(struct lane_set *set, struct store *store, struct error *error) {
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

/* ---- what is parked ---- */

static int list_compare(const void *left, const void *right) {
    const struct parked_list *a = left, *b = right;
    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static struct parked_list *list_find(const struct parked_list *lists, size_t count, int64_t lane,
                                     int64_t stream, int64_t rank) {
    const struct parked_list key = {.lane = lane, .stream = stream, .rank = rank};
    return count ? bsearch(&key, lists, count, sizeof key, list_compare) : NULL;
}

/* Nothing is asked of a lane that runs, of one without parked jobs, and of one that is asked for.
 */
static void list_add(struct lane_set *set, size_t known, int64_t stream, const struct head *head) {
    const struct known_lane *lane = head->lane ? lane_set_find(set, head->lane) : NULL;
    if (!lane || lane->runs || lane->item || !lane->has_parked ||
        list_find(set->lists, known, head->lane, stream, head->rank))
        return;
    set->lists[set->list_count++] =
        (struct parked_list){.lane = head->lane, .stream = stream, .rank = head->rank};
}

/* Each once; of equal ones none has been asked for. The new ones are those without a quota. */
static size_t list_sort(struct lane_set *set) {
    size_t count = 0, fresh = 0;
    qsort(set->lists, set->list_count, sizeof *set->lists, list_compare);
    for (size_t i = 0; i < set->list_count; i++)
        if (count == 0 || list_compare(&set->lists[i], &set->lists[count - 1]) != 0) {
            fresh += !set->lists[i].quota;
            set->lists[count++] = set->lists[i];
        }
    set->list_count = count;
    return fresh;
}

static bool list_all(struct lane_set *set, struct store *store, const struct merge *merge,
                     struct error *error) {
    const size_t known = set->list_count, room = known + heads_of(merge) + 1;
    struct parked_list *lists = realloc(set->lists, room * sizeof *lists);
    if (!lists)
        return db_no_memory(&store->db, error);
    set->lists = lists;
    for (size_t i = 0; i < merge->count; i++) {
        const struct cursor *cursor = &merge->cursors[i];
        if (cursor->lane)
            continue;
        list_add(set, known, cursor->stream, &cursor->head);
        for (int at = cursor->at; at < cursor->count; at++)
            list_add(set, known, cursor->stream, &cursor->read[at].head);
    }
    return true;
}

static bool list_read(const struct lane_set *set, struct store *store, struct row *row,
                      struct error *error) {
    struct parked_list *list = list_find(set->lists, set->list_count, row_int(row, ROW_lane_id),
                                         row_int(row, ROW_stream), ~row_int(row, ROW_priority));
    if (row_null(row, ROW_id))
        return page_missing(store, row, error);
    if (!list || list->parked.count == list->quota)
        return true;
    if (!ahead_parked(store, row, &list->parked.rows[list->parked.count], error))
        return false;
    list->parked.count++;
    return true;
}

static bool read_parked(struct set *of, struct store *store, struct row *row, struct error *error) {
    enum answer step = NO;
    while ((step = db_step(&store->db, row, error)) == YES)
        if (!list_read(((struct asked *)of)->lanes, store, row, error))
            return row_stop(row);
    return step == NO;
}

/* One more than the item of a lane may take behind its first job, so that none is asked for behind
 * them, and no more than are wanted of all lanes. */
static int64_t list_quota(const struct merge *merge, size_t lists) {
    int64_t most = merge->order->lane_run, share = 2 * merge->wanted / (int64_t)lists + 2;
    return share < most ? share : most;
}

static bool list_open(struct parked_list *list, int64_t quota) {
    list->quota = quota;
    list->parked.asked = (int)quota;
    list->parked.rows = malloc((size_t)quota * sizeof *list->parked.rows);
    return list->parked.rows != NULL;
}

static bool list_ask(struct lane_set *set, struct store *store, size_t fresh, int64_t quota,
                     struct error *error) {
    int64_t *all = malloc(4 * fresh * sizeof *all);
    struct asked asked = {{.kind = SET_PARKED, .read = read_parked}, set};
    bool done = all != NULL;
    for (size_t at = 0; at < 4; at++)
        asked.set.columns[at] = all ? all + at * fresh : NULL;
    for (size_t i = 0; done && i < set->list_count; i++) {
        struct parked_list *list = &set->lists[i];
        if (list->quota)
            continue;
        const int64_t row[] = {list->lane, list->stream, list->rank, quota};
        for (size_t at = 0; at < 4; at++)
            all[at * fresh + asked.set.count] = row[at];
        asked.set.count++;
        done = list_open(list, quota);
    }
    done =
        (done || db_no_memory(&store->db, error)) && store->engine->set(store, &asked.set, error);
    free(all);
    return done;
}

/* A turn in which many lanes become free asks for their parked jobs once. */
static bool ask_parked(struct lane_set *set, struct store *store, const struct merge *merge,
                       struct error *error) {
    if (merge->order->lane_run < 2)
        return true;
    if (!list_all(set, store, merge, error))
        return false;
    size_t fresh = list_sort(set);
    return !fresh || list_ask(set, store, fresh, list_quota(merge, fresh), error);
}

struct parked *lane_set_parked(const struct lane_set *set, const struct cursor *cursor) {
    struct parked_list *list = list_find(set->lists, set->list_count, cursor->head.lane,
                                         cursor->stream, cursor->head.rank);
    return list && list->parked.asked ? &list->parked : NULL;
}

static void list_clear(struct parked_list *list) {
    for (int i = 0; i < list->parked.count; i++)
        job_free(list->parked.rows[i].job);
    free(list->parked.rows);
    list->parked = (struct parked){0};
}

void lane_set_forget(struct lane_set *set, int64_t lane) {
    for (size_t i = 0; i < set->list_count; i++)
        if (set->lists[i].lane == lane)
            list_clear(&set->lists[i]);
}

/* Asks for the lanes of all jobs that the merge has read ahead, unless they are known. */
static bool lanes_read(struct lane_set *set, struct store *store, const struct merge *merge,
                       struct error *error) {
    if (!make_room(set, set->count + heads_of(merge) + 1))
        return db_no_memory(&store->db, error);
    add_all(set, merge);
    sort(set);
    return lanes_ask(set, store, error) && ask_parked(set, store, merge, error);
}

enum answer lane_set_knows(struct lane_set *set, struct store *store, const struct merge *merge,
                           struct error *error) {
    const struct cursor *cursor = merge_best(merge);
    if (!cursor->head.spot || (!cursor->job && cursor->head.seen != LANE_RUNS))
        return NO;
    if (!lane_set_find(set, cursor->head.lane) && !lanes_read(set, store, merge, error))
        return FAILED;
    return cursor->job || lane_set_find(set, cursor->head.lane)->runs ? YES : NO;
}

bool lane_set_has_parked(const struct lane_set *set, int64_t lane) {
    const struct known_lane *known = lane_set_find(set, lane);
    return !known || known->has_parked;
}

/* ---- writing ---- */

bool lane_set_hold(struct lane_set *set, const struct store *store, int64_t lane, int64_t token) {
    struct known_lane *known = lane_set_find(set, lane);
    if (known->runs)
        return false;
    known->runs = true;
    known->owner = store->self.id;
    set->held[set->held_count] = lane;
    set->tokens[set->held_count] = token;
    set->owners[set->held_count++] = store->self.id;
    return true;
}

static bool spots_add(struct spots *spots, struct store *store, int64_t spot, struct error *error) {
    size_t room = spots->room ? spots->room * 2 : 64;
    if (spots->count == spots->room) {
        if (!grow(&spots->list, room))
            return db_no_memory(&store->db, error);
        spots->room = room;
    }
    spots->list[spots->count++] = spot;
    return true;
}

bool lane_set_park(struct lane_set *set, struct store *store, const struct cursor *cursor,
                   struct error *error) {
    lane_set_find(set, cursor->head.lane)->has_parked = true;
    if (cursor->head.lane & JOB_LANE_OF_INSTANCE || cursor->head.lane < 0)
        store->lanes_unheld = false;
    return spots_add(&set->park, store, cursor->head.spot, error);
}

bool lane_set_unpark(struct lane_set *set, struct store *store, const struct cursor *cursor,
                     struct error *error) {
    return spots_add(&set->unpark, store, cursor->head.spot, error);
}

bool lane_set_write(struct lane_set *set, struct store *store, struct error *error) {
    struct set held = {.kind = SET_HOLD,
                       .columns = {set->held, set->tokens, set->owners},
                       .count = set->held_count};
    struct set parked = {.kind = SET_PARK, .columns = {set->park.list}, .count = set->park.count};
    struct set taken = {
        .kind = SET_UNPARK, .columns = {set->unpark.list}, .count = set->unpark.count};
    set->held_count = set->park.count = set->unpark.count = 0;
    return (!held.count || store->engine->set(store, &held, error)) &&
           (!parked.count || store->engine->set(store, &parked, error)) &&
           (!taken.count || store->engine->set(store, &taken, error));
}

void lane_set_clear(struct lane_set *set) {
    free(set->lanes);
    free(set->held);
    free(set->tokens);
    free(set->owners);
    for (size_t i = 0; i < set->list_count; i++)
        list_clear(&set->lists[i]);
    free(set->lists);
    free(set->park.list);
    free(set->unpark.list);
    *set = (struct lane_set){0};
}
