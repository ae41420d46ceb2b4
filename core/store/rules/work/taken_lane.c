/* taken_lane.c - the lanes of an acquisition: their items, and what is known of them (rules §4). */
#include "store/rules/work/taking.h"

struct taken_lane *taking_lane(const struct taking *taking, int64_t lane) {
    const struct known_lane *known = lane ? lane_set_find(&taking->known, lane) : NULL;
    if (known && known->item)
        return &taking->lanes[known->item - 1];
    for (size_t i = taking->loose ? taking->lane_count : 0; lane && i-- > 0;)
        if (taking->lanes[i].lane == lane)
            return &taking->lanes[i];
    return NULL;
}

struct taken_lane *taking_item(struct taking *taking, struct job *job) {
    struct known_lane *known = lane_set_find(&taking->known, job->lane_id);
    taking->lanes[taking->lane_count++] = (struct taken_lane){job->lane_id, job, 1, 0};
    taking->loose += !known;
    if (known)
        known->item = taking->lane_count;
    return &taking->lanes[taking->lane_count - 1];
}

bool taking_full(const struct taking *taking, const struct taken_lane *lane) {
    const struct horizon *horizon = &taking->acquire->horizon;
    return lane->count >= taking->acquire->lane_run || lane->last->suspect ||
           (horizon->run && lane->time >= horizon->span);
}

enum answer taking_knows(struct taking *taking, struct store *store, const struct cursor *cursor,
                         const struct taken_lane *lane, struct error *error) {
    const struct job *job = cursor->job;
    bool runs = cursor->head.seen == LANE_RUNS && !lane;
    if (!cursor->head.lane || cursor->paced || cursor->limited)
        return NO;
    if (!runs && (!job || job->due > taking->now || job->crashes || job->suspect))
        return NO;
    return lane_set_knows(&taking->known, store, &taking->merge, error);
}

bool taking_follows(const struct taking *taking, const struct store *store,
                    const struct cursor *taken) {
    int64_t lane = taken->head.lane;
    return lane && (!store->engine->sets || lane_set_has_parked(&taking->known, lane));
}

bool taking_release(struct taking *taking, struct store *store, int64_t lane, struct error *error) {
    lane_set_forget(&taking->known, lane);
    return place_unhold(store, lane, store->meta.next_token, error);
}

void taking_learn(const struct taking *taking, struct store *store) {
    store->laned = taking->met ? 2 * taking->laned >= taking->met : store->laned;
}
