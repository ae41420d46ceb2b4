/* suspects_contract.c - jobs whose executor has vanished with its machine: which of them killed it
 * is found out without counting the others. */
#include "contract.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/job/locks.h"

enum { IDLE = 4, LATER = 10000 };

/* Two executors besides "node", which vanishes. */
struct scene {
    struct store_executor self;
    struct store *store; /* "beside": sees what vanishes, and takes its jobs */
    struct job *list[100];
    int count;
};

static struct acquire idle(int workers) {
    struct acquire acquire = everything;
    acquire.idle = workers;
    return acquire;
}

/* Jobs that the store has taken, each by itself. */
static int take(struct contract *c, struct scene *scene, struct store *store, int workers,
                time_ms now) {
    const struct acquire acquire = idle(workers);
    struct job *jobs = NULL;
    bool more = false;
    scene->count = 0;
    if (!store_acquire(store, &acquire, now, &jobs, &scene->count, &more, &c->error))
        return -1;
    for (int i = 0; jobs && i < 100; i++) {
        scene->list[i] = jobs;
        jobs = jobs->next;
        scene->list[i]->next = NULL;
    }
    return scene->count;
}

static bool drop(struct scene *scene) {
    for (int i = 0; i < scene->count; i++)
        job_free(scene->list[i]);
    scene->count = 0;
    return true;
}

/* What a living executor does with the locks of `owner`, whose machine is out of reach. */
static bool vanish(struct contract *c, struct store *seer, int64_t owner, bool counted,
                   struct store_reaped *reaped) {
    *reaped = (struct store_reaped){0};
    const struct locks_free all = {
        .owner = owner, .vanished = true, .counted = counted, .now = NOW, .reaped = reaped};
    if (!store_begin(seer, STORE_COMMAND, &c->error))
        return false;
    bool done = locks_free(seer, &all, &c->error);
    seer->meta.executors++;
    return unit_end(seer, true, done, &c->error);
}

static int64_t marks(struct contract *c) {
    return contract_number(c, "SELECT count(*) FROM suspect");
}

static int64_t crashes(struct contract *c) {
    return contract_number(c, "SELECT coalesce(sum(crashes), 0) FROM job");
}

/* "node" has taken so many jobs and vanishes; "beside" is there. */
static bool begin(struct contract *c, struct scene *scene, int jobs, const char *lane) {
    struct store_reaped reaped;
    *scene = (struct scene){0};
    if (!(scene->store = contract_join(c, "beside", NOW, &scene->self)))
        return false;
    for (int i = 0; i < jobs; i++)
        if (!create(c, c->store, (struct job){.retries = 3, .lane = lane}, NOW))
            return false;
    return take(c, scene, c->store, IDLE, NOW) == jobs && drop(scene) &&
           vanish(c, scene->store, c->self.id, true, &reaped) && reaped.freed == jobs;
}

#define SCENE(jobs, lane)                                                                          \
    struct scene scene;                                                                            \
    bool begun = begin(c, &scene, jobs, lane), fine = false
#define SCENE_END()                                                                                \
    drop(&scene);                                                                                  \
    store_close(scene.store);                                                                      \
    EXPECT(begun);                                                                                 \
    EXPECT(fine)

/* Many locks may stand in one row. */
static void many(struct contract *c) {
    struct store_reaped reaped = {0};
    SCENE(100, NULL);
    fine = marks(c) == 100 && take(c, &scene, scene.store, IDLE, NOW) == 1 && drop(&scene) &&
           vanish(c, c->store, scene.self.id, true, &reaped) && reaped.freed == 1 &&
           reaped.crashed == 1 && crashes(c) == 1 && marks(c) == 100;
    SCENE_END();
}

static void nothing_counts(struct contract *c) {
    SCENE(3, NULL);
    fine = marks(c) == 3 && crashes(c) == 0;
    SCENE_END();
}

static bool succeed(struct contract *c, struct scene *scene, time_ms now) {
    scene->count--;
    return settle(c, scene->store, scene->list[0], (struct outcome){0}, now) == SETTLED;
}

static void one_after_the_other(struct contract *c) {
    SCENE(3, NULL);
    fine = true;
    for (int left = 3; fine && left > 0; left--)
        fine = take(c, &scene, scene.store, IDLE, NOW) == 1 && scene.list[0]->suspect &&
               contract_number(c, "SELECT count(*) FROM suspect WHERE token IS NOT NULL") == 1 &&
               succeed(c, &scene, NOW) && marks(c) == left - 1;
    fine = fine && take(c, &scene, scene.store, IDLE, NOW) == 0;
    SCENE_END();
}

static void beside_others(struct contract *c) {
    SCENE(3, NULL);
    for (int i = 0; begun && i < 5; i++)
        begun = create(c, c->store, (struct job){.retries = 3}, NOW + 1);
    fine = take(c, &scene, scene.store, IDLE, NOW + 1) == 6 && scene.list[0]->suspect &&
           !scene.list[1]->suspect;
    SCENE_END();
}

static void at_once(struct contract *c) {
    SCENE(2, NULL);
    fine = take(c, &scene, scene.store, 0, NOW) == 0 && store_acquire_stats(scene.store).starved &&
           take(c, &scene, scene.store, 1, NOW) == 1;
    SCENE_END();
}

/* A suspect that runs for long does not hold the others up for as long. */
static void in_time(struct contract *c) {
    time_ms next = 0;
    SCENE(2, NULL);
    fine = take(c, &scene, scene.store, IDLE, NOW) == 1 && drop(&scene) &&
           take(c, &scene, scene.store, IDLE, NOW + LATER - 1) == 0 &&
           store_next(scene.store, NOW, &next, &c->error) && next == NOW + LATER &&
           take(c, &scene, scene.store, IDLE, NOW + LATER) == 1;
    SCENE_END();
}

static void begun_counts(struct contract *c) {
    struct store_reaped reaped = {0};
    SCENE(3, NULL);
    begun = begun && create(c, c->store, (struct job){.retries = 3}, NOW + 1);
    fine = take(c, &scene, scene.store, IDLE, NOW + 1) == 2 && drop(&scene) &&
           vanish(c, c->store, scene.self.id, true, &reaped) && reaped.freed == 2 &&
           reaped.crashed == 1 && crashes(c) == 1 && marks(c) == 4;
    /* It was freed already: what its slots say later counts nothing. */
    fine = fine && vanish(c, c->store, scene.self.id, true, &reaped) && reaped.freed == 0 &&
           crashes(c) == 1;
    SCENE_END();
}

/* After the store itself was away nobody knows whether the executor would have come back. */
static void not_counted(struct contract *c) {
    struct store_reaped reaped = {0};
    SCENE(2, NULL);
    fine = take(c, &scene, scene.store, IDLE, NOW) == 1 && drop(&scene) &&
           vanish(c, c->store, scene.self.id, false, &reaped) && reaped.freed == 1 &&
           crashes(c) == 0 && marks(c) == 2 &&
           contract_number(c, "SELECT count(*) FROM suspect WHERE token IS NOT NULL") == 0;
    SCENE_END();
}

static void dies(struct contract *c) {
    struct store_reaped reaped = {0};
    SCENE(1, NULL);
    struct store *taker = scene.store, *seer = c->store;
    fine = true;
    for (int i = 0; fine && i < 3; i++) {
        struct store *other = taker;
        fine = take(c, &scene, taker, IDLE, NOW) == 1 && drop(&scene) &&
               vanish(c, seer, taker->self.id, true, &reaped) && reaped.crashed == 1;
        taker = seer;
        seer = other;
        if (i < 2)
            job_free_list(reaped.worker_died);
    }
    fine = fine && reaped.worker_died && reaped.worker_died->crashes == 3 &&
           matches(c, "{\"no_retries_left\":true}") == 1 &&
           contract_number(c, "SELECT count(*) FROM incident WHERE type='workerDied'") == 1;
    job_free_list(reaped.worker_died);
    SCENE_END();
}

static void ends(struct contract *c) {
    struct store_reaped reaped = {0};
    SCENE(1, NULL);
    fine = take(c, &scene, scene.store, IDLE, NOW) == 1;
    scene.count = 0;
    fine = fine &&
           settle(c, scene.store, scene.list[0],
                  (struct outcome){.kind = OUTCOME_FAILURE, .decided = true, .retries = 2},
                  NOW) == SETTLED &&
           marks(c) == 0 && take(c, &scene, scene.store, 0, NOW) == 1 && drop(&scene) &&
           vanish(c, c->store, scene.self.id, true, &reaped) && crashes(c) == 0 && marks(c) == 1;
    SCENE_END();
}

static void given_back(struct contract *c) {
    struct store_reaped reaped = {0};
    SCENE(1, NULL);
    fine = take(c, &scene, scene.store, IDLE, NOW) == 1;
    scene.count = 0;
    fine = fine &&
           settle(c, scene.store, scene.list[0], (struct outcome){.kind = OUTCOME_RETURNED}, NOW) ==
               SETTLED &&
           marks(c) == 1 && vanish(c, c->store, scene.self.id, true, &reaped) && crashes(c) == 0 &&
           take(c, &scene, scene.store, IDLE, NOW) == 1;
    SCENE_END();
}

static void refused(struct contract *c) {
    struct store_executor self;
    struct store_reaped reaped = {0};
    struct store *seer = contract_join(c, "seer", NOW, &self);
    EXPECT(seer);
    struct job *job =
        create(c, c->store, (struct job){.retries = 3}, NOW) ? acquire_one(c, c->store, NOW) : NULL;
    bool fine = job && vanish(c, seer, c->self.id, true, &reaped) &&
                settle(c, c->store, job, (struct outcome){0}, NOW) == SETTLED_STALE &&
                marks(c) == 1;
    store_close(seer);
    EXPECT(fine);
}

/* A suspect is alone in its item, and holds its lane up. */
static void lanes(struct contract *c) {
    int64_t before = 0;
    SCENE(3, "a lane");
    begun = begun && create(c, c->store, (struct job){.retries = 3, .lane = "a lane"}, NOW + 1);
    fine = true;
    for (int i = 0; fine && i < 3; i++) {
        fine = take(c, &scene, scene.store, 0, NOW + 1) == 0 &&
               take(c, &scene, scene.store, IDLE, NOW + 1) == 1 && scene.list[0]->suspect &&
               scene.list[0]->id > before;
        before = fine ? scene.list[0]->id : 0;
        fine = fine && succeed(c, &scene, NOW + 1);
    }
    fine = fine && take(c, &scene, scene.store, 0, NOW + 1) == 1 && scene.list[0]->id > before;
    SCENE_END();
}

static void of_two_executors(struct contract *c) {
    SCENE(3, NULL);
    fine = take(c, &scene, scene.store, IDLE, NOW) == 1 && drop(&scene) &&
           take(c, &scene, c->store, IDLE, NOW) == 1;
    SCENE_END();
}

static void rolled_back(struct contract *c) {
    SCENE(1, NULL);
    fine = take(c, &scene, scene.store, IDLE, NOW) == 1;
    struct job *job = fine ? job_copy(scene.list[0]) : NULL;
    fine = fine && store_begin(scene.store, STORE_TURN, &c->error) && succeed(c, &scene, NOW) &&
           marks(c) == 1;
    store_rollback(scene.store);
    fine =
        fine &&
        settle(c, scene.store, job, (struct outcome){.kind = OUTCOME_RETURNED}, NOW) == SETTLED &&
        take(c, &scene, scene.store, IDLE, NOW) == 1 && scene.list[0]->suspect;
    SCENE_END();
}

static void by_hand(struct contract *c) {
    struct store_reaped reaped = {0};
    struct job *job = NULL;
    SCENE(1, NULL);
    int64_t id = contract_number(c, "SELECT id FROM job");
    fine = store_take(scene.store, id, false, NOW, &job, &c->error) && job->suspect &&
           vanish(c, c->store, scene.self.id, true, &reaped) && crashes(c) == 1;
    job_free(job);
    SCENE_END();
}

/* What `job show` and `job why` say of the last of three. */
static bool says(struct contract *c, const char *words) {
    const int64_t id = contract_number(c, "SELECT max(id) FROM job");
    json_t *job = store_job(c->store, id, NOW, &c->error);
    json_t *why = store_why(c->store, id, NOW, &c->error);
    const char *text = json_string_value(json_object_get(why, "text"));
    bool fine = text && strstr(text, words) && json_is_true(json_object_get(why, "suspect")) &&
                json_is_true(json_object_get(job, "suspect"));
    if (!fine)
        printf("%s\n", text ? text : c->error.text);
    json_decref(job);
    json_decref(why);
    return fine;
}

static void told(struct contract *c) {
    SCENE(3, NULL);
    fine = matches(c, "{\"suspect\":true}") == 3 &&
           says(c, "job 3 is ready, and 2 jobs stand before it for node/1; it is a suspect, as a"
                   " machine vanished while it was locked there") &&
           take(c, &scene, c->store, IDLE, NOW) == 1 && drop(&scene) &&
           says(c, "job 3 is ready, and 1 job stands before it for node/1, which") &&
           take(c, &scene, scene.store, IDLE, NOW) == 1 &&
           says(c, "job 3 waits for the end of job 1, until 2026-01-01T00:00:10.000Z at the"
                   " latest: an executor begins one suspect at a time; it is a suspect") &&
           succeed(c, &scene, NOW) && matches(c, "{\"suspect\":true}") == 2;
    SCENE_END();
}

static const struct check checks[] = {
    {"an executor that vanishes makes suspects of its jobs, and none is counted", nothing_counts},
    {"of a hundred jobs one is counted", many},
    {"suspects run one after the other, each with its start written", one_after_the_other},
    {"other jobs run beside a suspect", beside_others},
    {"a suspect is taken when a worker is idle for it", at_once},
    {"a suspect that runs for long holds no other one up", in_time},
    {"a suspect that had begun is counted, the others are not", begun_counts},
    {"a suspect is not counted after the store was away", not_counted},
    {"a job that takes its machines along ends in an incident", dies},
    {"a suspect whose run ends is none any more", ends},
    {"a suspect that is given back has not begun", given_back},
    {"what an executor returns that has vanished is refused, and its job stays a suspect", refused},
    {"a suspect holds its lane up, and runs alone in its item", lanes},
    {"each executor runs a suspect", of_two_executors},
    {"an end that is rolled back clears no suspect", rolled_back},
    {"a suspect that is run by hand has begun", by_hand},
    {"a job says that it is a suspect, and for which one it waits", told},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
