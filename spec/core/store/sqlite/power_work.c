/* power_work.c - what the transactions of a store at work consist of. */
#include "power_work.h"
#include "../give.h"
#include "base/json.h"
#include "job/command.h"
#include "power_disk.h"
#include "store/batch.h"
#include "store/store.h"
#include <stdio.h>
#include <string.h>

enum { PAYLOAD = 20000 };

static int lot(struct life *life, int of) {
    return chance_of(&life->seed, of);
}

const struct acquire work_everything = {.want = 6,
                                        .lane_run = 1,
                                        .priority_min = INT64_MIN,
                                        .priority_max = INT64_MAX,
                                        .by_priority = true,
                                        .executor_name = "node"};

/* What the loop does with its hands full: outcomes, timers, new locks, in one transaction. */
struct turn {
    struct outcome outcomes[LIFE_HELD];
    struct job_spec children[LIFE_HELD];
    bool success; /* of every run */
    bool ended[LIFE_HELD];
    struct job *taken;
    struct capacity capacity; /* the store knows it until the transaction ends */
};

/* ---- creation ---- */

static void told_created(struct life *life, const struct job *job, int key) {
    struct told_job *told = ledger_job(&life->pending, job->id);
    if (told)
        *told = (struct told_job){.told = TOLD_ALIVE,
                                  .key = (signed char)key,
                                  .retries = job->retries,
                                  .priority = job->priority};
    if (key >= 0)
        life->pending.keys[key] = job->id;
}

static bool create_one(struct life *life, struct store *store) {
    static const char *const lanes[] = {"a", "b", "c"};
    static char payload[PAYLOAD + 2] = "";
    if (!payload[0])
        snprintf(payload, sizeof payload, "\"%0*d", PAYLOAD - 1, 0);
    char key[16], text[32];
    int keyed = lot(life, 5) ? -1 : lot(life, LEDGER_KEYS), lane = lot(life, 6);
    const char *handler = "keyed";
    if (keyed < 0)
        handler = lot(life, 2) ? "work" : "other";
    struct job_spec spec = {.job = {.handler = handler,
                                    .priority = lot(life, 5),
                                    .retries = 1 + lot(life, 3),
                                    .due = lot(life, 4) ? TIME_NONE : life->now + lot(life, 3000),
                                    .lane = lane < 3 ? lanes[lane] : NULL,
                                    .exclusive = lane < 3,
                                    .instance = lot(life, 3) ? NULL : "i"}};
    struct job *job = &spec.job;
    if (keyed >= 0) {
        snprintf(key, sizeof key, "k%d", keyed);
        job->unique_key = key;
    } else if (!lot(life, 12)) {
        snprintf(text, sizeof text, "R2/PT%dS", 1 + lot(life, 3));
        job->repeat = text;
        job->type = JOB_TIMER;
        spec.origin = life->now;
        job->due = life->now + 1000;
    }
    job->payload = lot(life, 3) ? NULL : payload;
    job->payload_size = 2 + (size_t)(lot(life, 4) ? lot(life, 100) : lot(life, PAYLOAD - 2));
    char last = payload[job->payload_size - 1];
    payload[job->payload_size - 1] = '"';
    bool done = store_create(store, &spec, 0, life->now, &life->error);
    payload[job->payload_size - 1] = last;
    if (!done)
        return false;
    if (spec.reply.creation == CREATION_CREATED)
        return told_created(life, job, keyed), true;
    return spec.reply.id == life->pending.keys[keyed] ||
           life_wrong(life, "a unique key is held by another job than was told", spec.reply.id);
}

bool work_enqueue(struct life *life, struct store *store) {
    for (int left = 1 + lot(life, 4); left > 0; left--)
        if (!create_one(life, store))
            return false;
    return true;
}

/* ---- the turn ---- */

static void told_end(struct life *life, int64_t id, enum told end) {
    struct told_job *told = ledger_job(&life->pending, id);
    if (told)
        told->told = (unsigned char)end;
    ledger_unkey(&life->pending, id);
}

static json_t *turn_effects(struct life *life, struct store *store, const struct job *job) {
    if (strcmp(job->handler, BATCH_SEED) == 0)
        return json_pack("[{ss,sI}]", "verb", "batch_seed", "batch", (json_int_t)job->batch);
    if (strcmp(job->handler, BATCH_MONITOR) != 0)
        return NULL;
    json_t *batch = store_batch(store, job->batch, &life->error);
    if (!batch)
        return NULL;
    int ended = json_integer_value(json_object_get(batch, "remaining")) == 0;
    json_decref(batch);
    return json_pack("[{ss,sI,sb}]", "verb", "batch_monitor", "batch", (json_int_t)job->batch,
                     "ended", ended);
}

static void turn_draw(struct life *life, struct outcome *outcome, bool success) {
    int kind = success || outcome->effects ? 0 : lot(life, 20);
    outcome->kind = OUTCOME_RETURNED;
    if (kind < 11)
        outcome->kind = OUTCOME_SUCCESS;
    else if (kind < 18)
        outcome->kind = kind < 16 ? OUTCOME_FAILURE : OUTCOME_SNOOZE;
    outcome->permanent = kind == 15;
    if (outcome->kind == OUTCOME_SNOOZE)
        outcome->due = life->now + 1 + lot(life, 1000);
}

static bool turn_told(struct life *life, const struct outcome *outcome) {
    const struct job *job = outcome->job;
    struct told_job *told = ledger_job(&life->pending, job->id);
    if (!told)
        return true;
    if (outcome->kind == OUTCOME_SUCCESS) {
        told_end(life, job->id, TOLD_DONE);
        if (outcome->created)
            told_created(life, &outcome->created->job, -1);
    } else if (outcome->kind == OUTCOME_FAILURE) {
        told->failures++;
        if (told->retries == job->retries)
            told->retries = outcome->permanent || told->retries < 1 ? 0 : told->retries - 1;
        if (told->retries == 0)
            ledger_unkey(&life->pending, job->id);
    }
    return true;
}

/* `outcome` and `child`, room for what it creates, are read until the commit. */
static bool turn_settle(struct life *life, struct store *store, struct job *job, bool success,
                        struct outcome *outcome, struct job_spec *child) {
    static char message[] = "not today";
    enum settled settled = SETTLED_STALE;
    *child = (struct job_spec){.job = {.handler = "child",
                                       .due = TIME_NONE,
                                       .retries = 2,
                                       .lane = job->lane,
                                       .exclusive = job->lane != NULL}};
    *outcome = (struct outcome){.job = job,
                                .lane_ends = true,
                                .lane_token = job->token,
                                .started = life->now,
                                .ended = life->now,
                                .due = TIME_NONE,
                                .message = message};
    outcome->effects = turn_effects(life, store, job);
    if (!outcome->effects && strncmp(job->handler, COMMAND_RESERVED, strlen(COMMAND_RESERVED)) == 0)
        return error_no_memory(&life->error);
    turn_draw(life, outcome, success);
    if (outcome->kind == OUTCOME_SUCCESS && !success && !outcome->effects && !lot(life, 4))
        outcome->created = child;
    if (outcome->kind != OUTCOME_FAILURE)
        outcome->message = NULL;
    bool done = store_settle(store, outcome, life->now, &settled, &life->error);
    json_decref(outcome->effects);
    return done && (settled == SETTLED_STALE || turn_told(life, outcome));
}

static struct turn turn;

void work_turn_begin(bool success) {
    turn = (struct turn){.success = success};
}

bool work_turn(struct life *life, struct store *store) {
    int count = 0;
    bool more = false;
    bool offers = life->held_count < LIFE_HELD / 2 && lot(life, 2);
    turn.capacity = (struct capacity){.acquire = &work_everything, .room = 2};
    if (offers)
        store_set_capacity(store, &turn.capacity);
    bool fine = true;
    for (int i = 0; fine && i < life->held_count; i++)
        if ((turn.ended[i] = turn.success || lot(life, 4) > 0))
            fine = turn_settle(life, store, life->held[i], turn.success, &turn.outcomes[i],
                               &turn.children[i]);
    fine = fine && store_settle_end(store, &life->error) &&
           store_promote(store, life->now, 50, &count, &life->error);
    turn.taken = turn.capacity.jobs;
    if (!fine)
        return false;
    return (turn.taken || life->held_count >= LIFE_HELD / 2 ||
            store_acquire(store, &work_everything, life->now, &turn.taken, &count, &more,
                          &life->error)) &&
           (lot(life, 2) || (lot(life, 2) ? store_tend(store, CHORE_PURGE, 0, NULL, &life->error)
                                          : store_settle_end(store, &life->error))) &&
           ledger_discover(&life->pending, life->acked.last, store, life->now, &life->error);
}

void work_turn_over(struct life *life, bool committed) {
    int kept = 0;
    for (int i = 0; i < life->held_count; i++)
        if (committed && turn.ended[i])
            job_free(life->held[i]);
        else
            life->held[kept++] = life->held[i];
    life->held_count = kept;
    while (turn.taken) {
        struct job *job = turn.taken;
        turn.taken = job->next;
        job->next = NULL;
        if (committed && life->held_count < LIFE_HELD)
            life->held[life->held_count++] = job;
        else
            job_free(job);
    }
}

/* ---- operators ---- */

static int64_t operate_pick(struct life *life) {
    int64_t last = life->pending.last;
    for (int64_t tries = 0; last && tries < 20; tries++) {
        int64_t id = 1 + lot(life, (int)last);
        const struct told_job *told = &life->pending.jobs[id];
        if (told->told == TOLD_ALIVE && !told->ours)
            return id;
    }
    return 0;
}

static bool operate_retries(struct life *life, struct store *store, int64_t id, int32_t retries) {
    struct told_job *told = &life->pending.jobs[id];
    if (!give_set_retries(store, (struct ids){&id, 1}, retries, false, TIME_NONE, life->now,
                          &life->error))
        return false;
    if (told->retries == 0 && told->key >= 0)
        life->pending.keys[told->key] = id;
    told->retries = retries;
    return true;
}

bool work_operate(struct life *life, struct store *store) {
    int64_t id = operate_pick(life), priority = lot(life, 9);
    struct ids ids = {&id, 1};
    struct told_job *told = &life->pending.jobs[id];
    bool suspends = lot(life, 2);
    if (!id)
        return true;
    switch (lot(life, 6)) {
    case 0:
        told->priority = priority;
        return give_set_priority(store, ids, priority, life->now, &life->error);
    case 1:
        told->suspended = suspends;
        return give_set_suspended(store, ids, suspends, life->now, &life->error);
    case 2:
        told_end(life, id, TOLD_REMOVED);
        return give_delete(store, ids, life->now, &life->error);
    case 3:
        told_end(life, id, TOLD_REMOVED);
        return give_cancel(store, ids, life->now, &life->error);
    case 4:
        told->retries = 0;
        ledger_unkey(&life->pending, id);
        return give_dead_letter(store, ids, life->now, &life->error);
    default:
        return operate_retries(life, store, id, 1 + lot(life, 3));
    }
}

bool work_batch(struct life *life, struct store *store) {
    int64_t id = 0;
    json_t *ids = json_pack("[iiiii]", 1, 2, 3, 4, 5);
    struct store_batch begun = {.type = "enqueue", .jobs_per_seed = 1 + lot(life, 3)};
    bool done = (ids || error_no_memory(&life->error)) &&
                store_batch_begin(store, &begun, life->now, &id, &life->error) &&
                store_batch_add(store, id, ids, &life->error);
    done = done && store_batch_start(store, id, life->now, &life->error) &&
           ledger_discover(&life->pending, life->acked.last, store, life->now, &life->error);
    json_decref(ids);
    return done;
}

bool work_tidy(struct life *life, struct store *store) {
    bool more = false;
    return store_tend(store, CHORE_TIDY, 100, &more, &life->error);
}

bool work_note(struct life *life, struct store *store) {
    if (!life->held_count)
        return work_tidy(life, store);
    int64_t id = life->held[0]->id;
    bool noted = store_progress(store, id, 0.5, "half", life->now, &life->error) &&
                 store_line(store, id, 1, "a line", life->now, &life->error);
    return noted && store_metric_add(store, 0, METRIC_ACQUIRED, 1, &life->error) &&
           store_renew(store, life->now, WORK_LEASE, &life->error);
}

bool work_revive(struct life *life, struct store *store) {
    for (int64_t id = 1; id <= life->pending.last; id++) {
        struct told_job *told = &life->pending.jobs[id];
        if (told->told != TOLD_ALIVE)
            continue;
        if (told->suspended &&
            !give_set_suspended(store, (struct ids){&id, 1}, false, life->now, &life->error))
            return false;
        told->suspended = false;
        if (told->retries == 0 && (told->key < 0 || !life->pending.keys[told->key]) &&
            !operate_retries(life, store, id, 1))
            return false;
    }
    return true;
}
