/* taken_lane.c - the lanes of an acquisition: their items, and what is known of them (rules §4). */
#include "store/rules/place/parked_lanes.h"
#include "store/rules/work/taking.h"
#include <stdlib.h>

enum { WEIGHED = 8 }; /* jobs that tell how large the next ones are */

bool taking_room(struct taking *taking, int jobs) {
    size_t count = jobs > 0 ? (size_t)jobs : 1, places = 4;
    while (places < 2 * count)
        places *= 2;
    taking->lanes = malloc(count * sizeof *taking->lanes);
    taking->lane_places = calloc(places, sizeof *taking->lane_places);
    taking->lane_mask = places - 1;
    return taking->lanes && taking->lane_places;
}

/* Where the item of the lane is noted, or would be. */
static uint32_t *place_of(const struct taking *taking, int64_t lane) {
    size_t at = (size_t)((uint64_t)lane * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    for (;; at++) {
        uint32_t *place = &taking->lane_places[at & taking->lane_mask];
        if (!*place || taking->lanes[*place - 1].lane == lane)
            return place;
    }
}

struct taken_lane *taking_lane(const struct taking *taking, int64_t lane) {
    uint32_t place = lane ? *place_of(taking, lane) : 0;
    return place ? &taking->lanes[place - 1] : NULL;
}

struct taken_lane *taking_item(struct taking *taking, struct job *job) {
    struct known_lane *known = lane_set_find(&taking->known, job->lane_id);
    uint32_t *place = place_of(taking, job->lane_id);
    taking->lanes[taking->lane_count++] =
        (struct taken_lane){.lane = job->lane_id, .last = job, .count = 1};
    *place = (uint32_t)taking->lane_count;
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

enum answer taking_follows(const struct taking *taking, struct store *store,
                           const struct cursor *taken, struct error *error) {
    int64_t lane = taken->head.lane;
    if (!lane)
        return NO;
    return lane_set_has_parked(&taking->known, lane) ? parked_lanes_may(store, lane, error) : NO;
}

bool taking_release(struct taking *taking, struct store *store, int64_t lane, struct error *error) {
    lane_set_forget(&taking->known, lane);
    return place_unhold(store, lane, store->meta.next_token, error);
}

/* What a job of it has, with its frame; 0: not known yet. */
static int64_t weight_of(const struct taking *taking, int least) {
    const int64_t bytes = acquire_bytes(taking->acquire) - taking->bytes;
    return taking->count >= least ? bytes / taking->count + 1 : 0;
}

int taking_wanted(const struct taking *taking, struct store *store) {
    const int64_t weight = weight_of(taking, WEIGHED);
    store->weight = weight ? weight : store->weight;
    return merge_wanted(store, taking->acquire->want - taking->count, taking->bytes);
}

void taking_learn(const struct taking *taking, struct store *store) {
    store->laned = taking->met ? 2 * taking->laned >= taking->met : store->laned;
    store->weight = taking->count ? weight_of(taking, 1) : store->weight;
    store->lanes_run = taking->ready ? 4 * taking->parked >= 3 * taking->ready : store->lanes_run;
}
