/* lane_frames_contract.c - the newest frame of an instance is that of its lane, whichever job of
 * the lane runs next. */
#include "../../store/contract.h"
#include "run/pool/work_item.h"

enum { LANE_TOKEN = 70 };

static struct job *job(int64_t id, int64_t token, const char *frame, int64_t rev) {
    return job_copy(&(struct job){.id = id,
                                  .handler = "w",
                                  .instance_id = 5,
                                  .lane_id = 9,
                                  .token = token,
                                  .frame = frame,
                                  .frame_rev = rev});
}

/* The end of a run that leaves the instance at this frame; NULL: it has ended. */
static struct outcome *ran(int64_t token, const char *frame) {
    struct outcome *outcome = outcome_new(job(token, token, "old", 1), OUTCOME_SUCCESS);
    outcome->unit = unit_new();
    outcome->unit->instances = unit_room(outcome->unit, 1, sizeof *outcome->unit->instances);
    outcome->unit->instance_count = 1;
    outcome->unit->instances[0] = (struct unit_instance){.id = 5, .rev = 1, .frame = frame};
    outcome->lane_token = LANE_TOKEN;
    return outcome;
}

static bool stands(const struct job *job, const char *frame, int64_t rev) {
    bool same = frame ? job->frame && strcmp(job->frame, frame) == 0 : !job->frame;
    return same && job->frame_rev == rev;
}

/* Takes the next job of the item. True if it has this frame. */
static bool takes(struct work_item *item, const char *frame, int64_t rev) {
    struct job *next = work_item_take(item);
    bool right = next && stands(next, frame, rev);
    job_free(next);
    return right;
}

static void back_to_back(struct contract *c) {
    struct work_item *item = NULL;
    struct job *jobs = job(1, LANE_TOKEN, "as read", 1);
    jobs->next = job(2, 71, "as read", 1);
    jobs->next->next = job(3, 72, "as read", 1);
    EXPECT(work_items_build(jobs, &item) && item->count == 3);
    bool first = takes(item, "as read", 1);
    struct outcome *moved = ran(LANE_TOKEN, "moved"), *ended = ran(71, NULL);
    work_item_hand_on(item, moved);
    bool second = takes(item, "moved", LANE_TOKEN);
    work_item_hand_on(item, ended);
    bool third = takes(item, NULL, 71);
    outcome_free(moved);
    outcome_free(ended);
    work_item_free(item);
    EXPECT(first && second && third);
}

/* What a run before it has migrated is of another version. */
static void migrated(struct contract *c) {
    struct work_item *item = NULL;
    struct job *jobs = job(1, LANE_TOKEN, "as read", 1);
    jobs->next = job(2, 71, "as read", 1);
    EXPECT(work_items_build(jobs, &item) && item->count == 2);
    job_free(work_item_take(item));
    struct outcome *moved = ran(LANE_TOKEN, "moved");
    moved->unit->instances[0].version = 8;
    work_item_hand_on(item, moved);
    struct job *next = work_item_take(item);
    bool right = next && stands(next, "moved", LANE_TOKEN) && next->version == 8;
    job_free(next);
    outcome_free(moved);
    work_item_free(item);
    EXPECT(right);
}

/* Two runs of the lane create a job each: both begin where the later run has left the instance. */
static void created_by_several(struct contract *c) {
    struct follow_ups follows = {0};
    struct outcome *early = ran(LANE_TOKEN, "early"), *late = ran(71, "late");
    struct outcome *others = ran(72, "latest");
    early->follows = job(11, 81, NULL, 0);
    late->follows = job(12, 82, NULL, 0);
    EXPECT(follow_ups_add(&follows, early));
    follow_ups_move(&follows, early);
    EXPECT(follow_ups_add(&follows, late));
    follow_ups_move(&follows, late);
    follow_ups_move(&follows, others); /* it creates nothing */
    others->followed = 7;              /* in a row, with its own */
    struct work_item *item = follow_ups_end(&follows, others);
    EXPECT(item && item->count == 2 && item->followed == 7 + 2);
    bool first = takes(item, "latest", 72), second = takes(item, "latest", 72);
    outcome_free(early);
    outcome_free(late);
    outcome_free(others);
    work_item_free(item);
    EXPECT(first && second && !follows.list);
}

/* A run that was behind comes back with the frame of then; what is written behind it is newer. */
static void behind(struct contract *c) {
    struct follow_ups follows = {0};
    struct outcome *again = ran(LANE_TOKEN, "never written"), *later = ran(71, "later");
    again->settled = SETTLED_BEHIND;
    again->follows = job(1, LANE_TOKEN, "as stored", 33);
    EXPECT(follow_ups_add(&follows, again));
    follow_ups_move(&follows, later);
    struct work_item *item = follow_ups_end(&follows, later);
    bool right = item && takes(item, "later", 71);
    outcome_free(again);
    outcome_free(later);
    work_item_free(item);
    EXPECT(right);
}

static const struct check checks[] = {
    {"a job of an item begins where the one before it has left the instance", back_to_back},
    {"a job of an item is of the version to which its instance has migrated", migrated},
    {"jobs that several runs have created begin on the newest frame", created_by_several},
    {"a run that was behind begins again on the newest frame", behind},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
