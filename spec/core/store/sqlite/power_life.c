/* power_life.c - opening, transactions, and which step comes next. */
#include "power_life.h"
#include "power_disk.h"
#include "power_vfs.h"
#include "power_work.h"
#include "store/rules/ground/kinds.h"
#include "store/sqlite/db/connection.h"
#include "store/store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BEGINNING INT64_C(1795300000000) /* after everything in the golden store was made */

static int lot(struct life *life, int of) {
    return chance_of(&life->seed, of);
}

bool life_wrong(struct life *life, const char *what, int64_t id) {
    snprintf(life->wrong, sizeof life->wrong, "%s (job %lld)", what, (long long)id);
    return false;
}

/* ---- the store ---- */

bool life_next_directory(struct life *life) {
    life->generation++;
    snprintf(life->directory, sizeof life->directory, "%s/%d", life->root, life->generation);
    snprintf(life->path, sizeof life->path, "%s/x.db", life->directory);
    snprintf(life->url, sizeof life->url, "sqlite:%s", life->path);
    return mkdir(life->directory, 0755) == 0;
}

bool life_begin(struct life *life, const char *root, uint64_t seed) {
    snprintf(life->root, sizeof life->root, "%s", root);
    life->seed = seed;
    life->now = BEGINNING;
    life->sweeps = lot(life, 2);
    bool fine = settings_init(&life->settings, &life->error);
    life->settings.failed_job_wait = 0;
    return fine && life_next_directory(life);
}

void life_end(struct life *life) {
    life_drop(life);
    settings_clear(&life->settings);
}

static void life_forget_held(struct life *life) {
    for (int i = 0; i < life->held_count; i++)
        job_free(life->held[i]);
    life->held_count = 0;
}

void life_drop(struct life *life) {
    life_forget_held(life);
    store_close(life->client);
    store_close(life->store);
    witness_close(life->witness);
    life->client = life->store = NULL;
    life->witness = NULL;
}

bool life_open(struct life *life) {
    life->store = store_open(life->url, STORE_CREATE, &life->settings, &life->error);
    return life->store != NULL;
}

/* What was told is as good as on the disk now. */
static bool life_acknowledged(struct life *life) {
    ledger_copy(&life->acked, &life->pending);
    life->committing = false;
    if (life->unwatched)
        return true;
    if (!life->witness)
        life->witness = witness_open(life->path);
    life->sum = witness_sum(life->witness);
    return life->sum || life_wrong(life, "the witness cannot read", 0);
}

bool life_join(struct life *life) {
    struct store_reaped reaped;
    struct store_executor self = {.name = "node", .workers = 2, .serves = &work_everything};
    ledger_copy(&life->pending, &life->acked);
    if (!store_join(life->store, &self, life->now, WORK_LEASE, &life->error) ||
        !life_acknowledged(life))
        return false;
    if (life->sweeps)
        store_purge_behind(life->store);
    if (!store_sees_dead(life->store, life->now))
        return true;
    if (!store_reap(life->store, life->now, &reaped, &life->error))
        return false;
    job_free_list(reaped.worker_died);
    return life_acknowledged(life) && (life->mortal || reaped.crashed == 0 ||
                                       life_wrong(life, "a slot outlived the power", 0));
}

/* ---- transactions ---- */

static bool life_refused(const struct life *life) {
    return !life->wrong[0] &&
           (life->error.code == ERROR_CONFLICT || life->error.code == ERROR_NOT_FOUND);
}

/* What another store tells of a commit is acknowledged before its own store knows of the sync. */
static void life_told(void *arg) {
    struct life *life = arg;
    struct error error = {0};
    struct store *reader = store_open(life->url, STORE_READ, &life->settings, &error);
    json_t *stats = reader ? store_stats(reader, life->now, &error) : NULL;
    if (stats)
        life_acknowledged(life);
    json_decref(stats);
    store_close(reader);
}

/* All that `body` does is one transaction. */
static bool life_unit(struct life *life, struct store *store, life_body *body) {
    life->error.code = ERROR_NONE;
    ledger_copy(&life->pending, &life->acked);
    if (!store_begin(store, STORE_COMMAND, &life->error))
        return false;
    if (!body(life, store)) {
        store_rollback(store);
        return life_refused(life);
    }
    life->committing = true;
    if (life->early)
        ledger_copy(&life->acked, &life->pending);
    power_during_sync(life->tells && lot(life, 4) == 0 ? life_told : NULL, life);
    bool done = store_commit(store, &life->error);
    power_during_sync(NULL, NULL);
    return done && life_acknowledged(life);
}

/* ---- steps ---- */

static bool step_turn(struct life *life, bool success) {
    work_turn_begin(success);
    bool done = life_unit(life, life->store, work_turn);
    work_turn_over(life, done && life->error.code == ERROR_NONE);
    for (int i = 0; done && i < life->held_count && i < 2; i++)
        store_slot_set(life->store, i, life->held[i]->id, life->held[i]->token, life->now);
    return done;
}

static bool step_checkpoint(struct life *life) {
    return store_tend(life->store, CHORE_LOG, lot(life, 2) ? 0 : 1, NULL, &life->error);
}

static bool step_client(struct life *life) {
    life->client = store_open(life->url, STORE_WRITE, &life->settings, &life->error);
    bool done = life->client && life_unit(life, life->client, work_enqueue);
    store_close(life->client);
    life->client = NULL;
    return done;
}

/* Told to stop, it gives back what it holds; closing does the same, and a last checkpoint. */
static bool step_restart(struct life *life) {
    life_forget_held(life);
    for (int i = 0; i < 1000 && store_has_pending_purge(life->store);
         i++) /* leaving would do it in transactions that nobody sees */
        if (!life_unit(life, life->store, work_tidy))
            return false;
    ledger_copy(&life->pending, &life->acked);
    if (lot(life, 2) && (!store_leave(life->store, &life->error) || !life_acknowledged(life)))
        return false;
    store_close(life->store);
    life->store = NULL;
    return life_open(life) && life_acknowledged(life) && life_join(life);
}

bool life_step(struct life *life) {
    int step = lot(life, 32);
    life->now += lot(life, 400);
    if (step < 9)
        return life_unit(life, life->store, work_enqueue);
    if (step < 20)
        return step_turn(life, false);
    if (step < 24)
        return life_unit(life, life->store, work_operate);
    if (step < 26)
        return life_unit(life, life->store, work_note);
    if (step < 27)
        return life->acked.last < LEDGER_JOBS / 2 ? life_unit(life, life->store, work_batch) : true;
    if (step < 28)
        return step_client(life);
    if (step < 29)
        return step_restart(life);
    return step_checkpoint(life);
}

/* ---- the end ---- */

static int64_t life_left(const struct life *life) {
    int64_t left = 0;
    for (int64_t id = 1; id <= life->acked.last; id++)
        left += life->acked.jobs[id].told == TOLD_ALIVE;
    return left;
}

bool life_finish(struct life *life) {
    life->unwatched = true;
    for (int turns = 0; turns < (life->endless ? 50 : 2000) && life_left(life); turns++) {
        life->now += 60000;
        if (!life_unit(life, life->store, work_note) || !step_turn(life, true))
            return false;
        if (turns % 20 == 0 && !life_unit(life, life->store, work_revive))
            return false;
    }
    return life->endless || life_left(life) == 0 ||
           life_wrong(life, "work does not come to its end", life_left(life));
}
