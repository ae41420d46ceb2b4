/* enqueue.c - one job, created by one of many processes (rules §1): of those that ask at the same
 * time one writes for all, in one transaction with one sync. There is no process behind it; whoever
 * asks while nobody writes does.
 *
 * What is answered is on disk. Each job that is written for another process leaves a row in the
 * table `tray`, with the ticket of what was asked for, in the same transaction: if the writer dies
 * before it has answered, whoever takes the request up finds that it is done, and as which job. So
 * a request is never done twice, and needs no trust in who leads. */
#include "store/enqueue.h"
#include "base/crash_point.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/parcel.h"
#include <stdio.h>

enum {
    WAIT_LEAST = 1, /* ms until one that waits looks whether the writer lives */
    WAIT_MOST = 16,
    PATIENCE = 1000 /* ms until it writes for itself: the writer may be stopped, and not dead */
};

/* What one transaction does. */
struct round {
    struct store *store;
    bool fresh;  /* the own request has been seen by nobody else */
    bool others; /* it is for all */
    bool spoilt; /* by what could not be written */
    int count;
    struct {
        int place;
        uint32_t word;
    } list[TRAY_PLACES];
    struct tray_request request; /* the one at hand */
};

/* 1 it was done by a writer that has died since, 0 it was not, -1 error. */
static int look_up(struct round *round, struct tray_answer *answer, struct error *error) {
    struct db *db = &round->store->db;
    sqlite3_stmt *row =
        db_query(db, error, "SELECT job, creation FROM tray WHERE place=?1 AND ticket=?2", "ni",
                 round->request.place, round->request.ticket);
    int step = row ? db_step(db, row, error) : -1;
    if (step <= 0)
        return step;
    answer->job = sqlite3_column_int64(row, 0);
    answer->creation = (enum creation)sqlite3_column_int(row, 1);
    sqlite3_reset(row);
    return 1;
}

static bool note(struct round *round, const struct tray_answer *answer, struct error *error) {
    return db_run(&round->store->db, error,
                  "INSERT OR REPLACE INTO tray(place, ticket, job, creation)"
                  " VALUES(?1, ?2, ?3, ?4)",
                  "niin", round->request.place, round->request.ticket, answer->job,
                  (int)answer->creation);
}

/* What is refused has written nothing, and is no hindrance to the others. */
static bool create(struct round *round, struct tray_answer *answer, struct error *error) {
    struct job job;
    struct error reason = {ERROR_FAILED, "what was asked for cannot be read"};
    bool known = parcel_open(round->request.parcel, round->request.size, &job);
    if (known && store_create(round->store, &job, 0, round->request.now, &reason)) {
        answer->job = job.creation == CREATION_CREATED ? job.id : job.holder;
        answer->creation = job.creation;
        bool own = round->request.place == round->store->tray.place;
        return (own && round->others) || note(round, answer, error);
    }
    if (known && !job.refused)
        return error_set(error, reason.code, "%s", reason.text);
    answer->code = reason.code;
    snprintf(answer->text, sizeof answer->text, "%s", reason.text);
    return true;
}

static bool write_one(struct round *round, struct error *error) {
    struct tray_answer *answer = tray_answer(&round->store->tray, round->request.place);
    bool own = round->request.place == round->store->tray.place;
    answer->code = ERROR_NONE;
    int found = own && round->fresh ? 0 : look_up(round, answer, error);
    round->list[round->count].place = round->request.place;
    round->list[round->count++].word = round->request.word;
    return found > 0 || (found == 0 && create(round, answer, error));
}

static bool write_all(struct round *round, struct error *error) {
    struct tray *tray = &round->store->tray;
    for (int i = 0; i < TRAY_PLACES; i++)
        if ((round->others || i == tray->place) && tray_read(tray, i, &round->request) &&
            !write_one(round, error))
            return false;
    CRASH_POINT("tray_written");
    for (int i = 0; i < round->count; i++) /* who has given up has said that it was not done */
        if (!tray_waits(tray, round->list[i].place, round->list[i].word))
            return error_set(error, ERROR_FAILED, "what was asked for is not wanted any more");
    return true;
}

static bool commit(struct round *round, struct error *error) {
    round->count = 0;
    if (!store_begin(round->store, error))
        return false;
    round->spoilt = !write_all(round, error);
    if (!round->spoilt)
        return store_commit(round->store, error);
    store_rollback(round->store);
    return false;
}

static bool is_alone(const struct round *round) {
    return round->count == 1 && round->list[0].place == round->store->tray.place;
}

/* What fails as a whole is answered to nobody else: the others try for themselves. */
static bool run(struct store *store, bool fresh, bool others, struct error *error) {
    struct round round = {.store = store, .fresh = fresh, .others = others};
    bool done = commit(&round, error);
    if (!done && round.spoilt && others && !is_alone(&round)) {
        round.others = false;
        done = commit(&round, error);
    }
    CRASH_POINT("tray_committed");
    for (int i = 0; done && i < round.count; i++) {
        tray_mark(&store->tray, round.list[i].place, round.list[i].word);
        CRASH_POINT("tray_marked");
    }
    return done;
}

static bool lead(struct store *store, bool fresh, struct error *error) {
    bool done = tray_answered(&store->tray) || run(store, fresh, true, error);
    tray_leave(&store->tray);
    return done;
}

/* Until the request in the own place is answered. */
static bool await(struct store *store, struct error *error) {
    struct tray *tray = &store->tray;
    time_ms until = clock_monotonic() + PATIENCE;
    for (int wait = WAIT_LEAST; clock_monotonic() < until;) {
        if (tray_lead(tray))
            return lead(store, false, error);
        if (tray_wait(tray, wait))
            return true;
        wait = wait < WAIT_MOST ? wait * 2 : wait;
    }
    return run(store, false, false, error);
}

static bool shares(struct store *store, struct error *error) {
    store->tray.foreign = false;
    return store->path && store->mode != STORE_READ && !store->writing && !store->broken &&
           !store->self.id && tray_open(&store->tray, store->path, error);
}

static bool take_answer(struct store *store, struct job *job, struct error *error) {
    const struct tray_answer *answer = tray_answer(&store->tray, store->tray.place);
    job->creation = answer->creation;
    job->id = job->creation == CREATION_CREATED ? answer->job : 0;
    job->holder = job->creation == CREATION_CREATED ? 0 : answer->job;
    job->refused = answer->code == ERROR_CONFLICT;
    return answer->code == ERROR_NONE || error_set(error, answer->code, "%s", answer->text);
}

bool store_enqueue(struct store *store, struct job *job, time_ms now, struct error *error) {
    struct tray *tray = &store->tray;
    if (!shares(store, error))
        return !tray->foreign && store_create(store, job, 0, now, error);
    job->retries = job->retries < 1 ? store->settings->retries : job->retries;
    bool leads = tray_lead(tray);
    bool asked = tray_ask(tray, job, now), done;
    if (!asked) {
        if (leads)
            tray_leave(tray);
        return store_create(store, job, 0, now, error);
    }
    done = leads ? lead(store, true, error) : await(store, error);
    done = (done || tray_answered(tray)) && take_answer(store, job, error);
    tray_withdraw(tray);
    return done;
}
