/* group_commit.c - one job (rules §1), or what one command to a process did (rules §23), written
 * for one of many processes. Of the processes that ask at the same time one writes for all, in one
 * transaction with one sync. No extra process is needed: a process that asks while no other one
 * writes becomes the writer. The right to write for all is the lead. It ends with the commit, so
 * the next one writes while this one syncs, unless syncs are fast.
 *
 * What was asked for is on disk before its asker is answered. A request that is committed and not
 * synced yet is marked as written: no later writer does it again. If the writer dies or stops
 * there, the asker syncs for itself.
 *
 * Each request that is written for another process leaves a row in the table `tray`, with its
 * ticket, in the same transaction. If the writer dies before it has marked the request, the next
 * writer finds the row, and in it the job. So a request is never done twice. */
#include "base/crash_point.h"
#include "store/rules/ground/frames.h"
#include "store/rules/work/work.h"
#include "store/sqlite/beside/mailbox.h"
#include "store/sqlite/beside/unit_letter.h"
#include "store/sqlite/db/codec.h"
#include "store/sqlite/db/connection.h"
#include "store/sqlite/db/rules_pack.h"
#include "store/sqlite/turn/log_sync.h"
#include "store/store.h"
#include <stdio.h>

#define UNREADABLE "what was asked for cannot be read"

enum {
    WAIT_LEAST = 1, /* ms until one that waits looks whether the writer lives */
    WAIT_MOST = 16,
    PATIENCE = 1000, /* ms until it writes for itself: the writer may be stopped, and not dead */
    SYNC_FAST = 500  /* microseconds */
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
    } list[MAILBOX_PLACES];
    struct mailbox_request *request; /* the one at hand */
};

/* YES: it was done by a writer that has died since. */
static enum answer look_up(struct round *round, struct mailbox_answer *answer,
                           struct error *error) {
    struct db *db = &round->store->db;
    struct row *row =
        db_query(db, error, "SELECT job, creation FROM tray WHERE place=?1 AND ticket=?2", "ni",
                 round->request->place, round->request->ticket);
    enum answer step = db_step(db, row, error);
    if (step != YES)
        return step;
    answer->created = (struct created){row_int(row, 0), (enum creation)row_int32(row, 1)};
    row_done(row);
    return YES;
}

static bool letter_note(struct round *round, const struct mailbox_answer *answer,
                        struct error *error) {
    return db_run(&round->store->db, error,
                  "INSERT OR REPLACE INTO tray(place, ticket, job, creation)"
                  " VALUES(?1, ?2, ?3, ?4)",
                  "niin", round->request->place, round->request->ticket, answer->created.id,
                  (int)answer->created.creation);
}

static bool is_own(const struct round *round) {
    return round->request->place == sqlite_of(round->store)->mailbox.place;
}

/* What is refused has written nothing, and is no hindrance to the others. Else all fail. */
static bool letter_refuse(struct mailbox_answer *answer, bool refused, const struct error *reason,
                          struct error *error) {
    if (!refused)
        return error_set(error, reason->code, "%s", reason->text);
    answer->code = reason->code;
    snprintf(answer->text, sizeof answer->text, "%s", reason->text);
    return true;
}

static bool create(struct round *round, struct opener *from, struct mailbox_answer *answer,
                   struct error *error) {
    struct job_spec spec;
    struct error reason = {ERROR_FAILED, UNREADABLE};
    bool known = codec_open(from, &spec) && from->left == 0;
    bool done = known && store_create(round->store, &spec, 0, round->request->now, &reason);
    answer->created = spec.reply;
    if (done)
        return (is_own(round) && round->others) || letter_note(round, answer, error);
    return letter_refuse(answer, !known || spec.reply.creation == CREATION_REFUSED, &reason, error);
}

/* The letter ends before the transaction does, so no frame of it is kept back. */
static enum answer write_unit(struct store *store, struct unit_letter *letter, time_ms now,
                              struct error *error) {
    enum answer done = work_unit(store, &letter->outcome, &letter->entry, now, error);
    return done == FAILED || frames_flush(store, error) ? done : FAILED;
}

static bool settle(struct round *round, struct opener *from, struct mailbox_answer *answer,
                   struct error *error) {
    struct unit_letter letter;
    struct error reason = {ERROR_FAILED, UNREADABLE};
    enum answer done = FAILED;
    bool known = unit_letter_open(from, &letter);
    if (known)
        done = write_unit(round->store, &letter, round->request->now, &reason);
    bool refused = !known || letter.outcome.undone;
    unit_letter_clear(&letter);
    answer->created = (struct created){0};
    answer->behind = done == NO;
    if (done == FAILED)
        return letter_refuse(answer, refused, &reason, error);
    return done == NO || (is_own(round) && round->others) || letter_note(round, answer, error);
}

static bool carry_out(struct round *round, struct opener *from, struct mailbox_answer *answer,
                      struct error *error) {
    switch (round->request->kind) {
    case MAILBOX_JOB:
        return create(round, from, answer, error);
    case MAILBOX_UNIT:
        return settle(round, from, answer, error);
    }
    const struct error reason = {ERROR_FAILED, "what was asked for is of no kind"};
    return letter_refuse(answer, true, &reason, error);
}

/* As the process that asks would have written it. What is kept back for the commit is written here,
 * by the same rules. */
static bool carry_out_as(struct round *round, struct mailbox_answer *answer, struct error *error) {
    struct store *store = round->store;
    struct opener from = {(const char *)round->request->letter, round->request->size};
    const struct error reason = {ERROR_FAILED, UNREADABLE};
    const struct write_rules *own = store->rules;
    struct write_rules rules;
    bool known = rules_open(&from, &rules);
    store->rules = &rules;
    bool done = known ? carry_out(round, &from, answer, error)
                      : letter_refuse(answer, true, &reason, error);
    done = done && transaction_before_rules(store, error);
    store->rules = own;
    rules_clear(&rules);
    return done;
}

static bool write_one(struct round *round, struct error *error) {
    struct mailbox_answer *answer =
        mailbox_answer(&sqlite_of(round->store)->mailbox, round->request->place);
    answer->code = ERROR_NONE;
    answer->behind = false;
    answer->writer = sqlite_of(round->store)->mailbox.place;
    enum answer found = is_own(round) && round->fresh ? NO : look_up(round, answer, error);
    round->list[round->count].place = round->request->place;
    round->list[round->count++].word = round->request->word;
    return found == YES || (found == NO && carry_out_as(round, answer, error));
}

static bool letters_write(struct round *round, struct error *error) {
    struct mailbox *mailbox = &sqlite_of(round->store)->mailbox;
    int first = round->others ? 0 : mailbox->place;
    int end = round->others ? MAILBOX_PLACES : first + 1;
    for (int i = mailbox_next(mailbox, first); i < end; i = mailbox_next(mailbox, i + 1))
        if (mailbox_read(mailbox, i, round->request) && !write_one(round, error))
            return false;
    CRASH_POINT("tray_written");
    for (int i = 0; i < round->count; i++) /* who has given up has said that it was not done */
        if (!mailbox_waits(mailbox, round->list[i].place, round->list[i].word))
            return error_set(error, ERROR_FAILED, "what was asked for is not wanted any more");
    return true;
}

static bool commit(struct round *round, struct error *error) {
    round->count = 0;
    if (!store_begin(round->store, STORE_HOLD, error)) /* synced behind it: see finish */
        return false;
    round->spoilt = !letters_write(round, error);
    if (!round->spoilt)
        return store_commit(round->store, error);
    store_rollback(round->store);
    return false;
}

static bool is_alone(const struct round *round) {
    return round->count == 1 && round->list[0].place == sqlite_of(round->store)->mailbox.place;
}

/* What fails as a whole is answered to nobody else: the others try for themselves. */
static bool write_round(struct round *round, struct error *error) {
    bool done = commit(round, error);
    if (!done && round->spoilt && round->others && !is_alone(round)) {
        round->others = false;
        done = commit(round, error);
    }
    CRASH_POINT("tray_committed");
    return done;
}

/* Where a sync takes so little, the others gather behind it and fewer transactions do more. What
 * any process of the store has measured counts: most have never synced when they lead first. */
static bool is_fast(const struct store *store) {
    const struct gate_page *page = sqlite_of(store)->gate.page;
    uint32_t took = page ? atomic_load(&page->sync_took) : 0;
    return took && took < SYNC_FAST;
}

/* The next process leads while this one syncs, and finds nothing of this round to do again. */
static void hand_on(struct round *round) {
    struct mailbox *mailbox = &sqlite_of(round->store)->mailbox;
    for (int i = 0; i < round->count; i++)
        mailbox_mark_written(mailbox, round->list[i].place, round->list[i].word);
    CRASH_POINT("tray_noted");
    mailbox_leave(mailbox);
    CRASH_POINT("tray_handed_on");
}

/* Nobody is answered before the sync. */
static bool finish(struct round *round, struct error *error) {
    if (!log_sync_seen(round->store, error))
        return false;
    CRASH_POINT("tray_synced");
    for (int i = 0; i < round->count; i++) {
        mailbox_mark(&sqlite_of(round->store)->mailbox, round->list[i].place, round->list[i].word);
        CRASH_POINT("tray_marked");
    }
    return true;
}

static bool write_alone(struct store *store, struct error *error) {
    struct mailbox_request request;
    struct round round = {.store = store, .request = &request};
    return write_round(&round, error) && finish(&round, error);
}

/* With the lead held, which ends here. True: the own request is written, here or by another. */
static bool lead(struct store *store, bool fresh, struct error *error) {
    struct mailbox_request request;
    struct round round = {.store = store, .fresh = fresh, .others = true, .request = &request};
    struct mailbox *mailbox = &sqlite_of(store)->mailbox;
    bool done = mailbox_asks(mailbox) && write_round(&round, error);
    bool keeps = done && is_fast(store);
    if (!done)
        round.count = 0;
    if (!keeps)
        hand_on(&round);
    done = done ? finish(&round, error) : !mailbox_asks(mailbox);
    if (keeps)
        mailbox_leave(mailbox);
    return done;
}

/* Until the request in the own place is answered. One that was written by a process that is gone,
 * or stopped, is synced here. */
static bool letter_await(struct store *store, struct error *error) {
    struct mailbox *mailbox = &sqlite_of(store)->mailbox;
    time_ms until = clock_monotonic() + PATIENCE;
    for (int wait = WAIT_LEAST; clock_monotonic() < until && !mailbox_orphaned(mailbox);) {
        if (mailbox_asks(mailbox) && mailbox_lead(mailbox) && !lead(store, false, error))
            return false;
        if (mailbox_wait(mailbox, mailbox_written(mailbox) ? WAIT_MOST : wait))
            return true;
        wait = wait < WAIT_MOST ? wait * 2 : wait;
    }
    if (!mailbox_written(mailbox) && write_alone(store, error))
        return true;
    return mailbox_written(mailbox) && log_sync_seen(store, error);
}

static bool shares(struct store *store, struct error *error) {
    sqlite_of(store)->mailbox.foreign = false;
    return sqlite_of(store)->path && store->mode != STORE_READ && !store->writing &&
           !sqlite_of(store)->broken && !store->self.id &&
           mailbox_open(&sqlite_of(store)->mailbox, sqlite_of(store)->path, error);
}

/* Waits for the answer to what lies in the own place: the job that was created, or whether a unit
 * is behind. */
static bool get_answer(struct store *store, bool leads, struct created *created, bool *behind,
                       struct error *error) {
    struct mailbox *mailbox = &sqlite_of(store)->mailbox;
    const struct mailbox_answer *answer = mailbox_answer(mailbox, mailbox->place);
    bool done = leads ? lead(store, true, error) : letter_await(store, error);
    done = done || mailbox_answered(mailbox);
    store->unsure = store->unsure && !done; /* that sync came after whatever was read before */
    *created = done ? answer->created : (struct created){0};
    *behind = done && answer->behind;
    if (done && answer->code != ERROR_NONE)
        done = error_set(error, answer->code, "%s", answer->text);
    mailbox_withdraw(mailbox);
    return done;
}

bool sqlite_enqueue(struct store *store, struct job_spec *spec, time_ms now, struct error *error) {
    struct mailbox *mailbox = &sqlite_of(store)->mailbox;
    if (!shares(store, error))
        return !mailbox->foreign && store_create(store, spec, 0, now, error);
    bool leads = mailbox_lead(mailbox), behind = false;
    if (!mailbox_ask(mailbox, spec, store->rules, now)) {
        if (leads)
            mailbox_leave(mailbox);
        return store_create(store, spec, 0, now, error);
    }
    return get_answer(store, leads, &spec->reply, &behind, error);
}

enum answer sqlite_unit(struct store *store, struct outcome *outcome,
                        const struct store_entry *entry, time_ms now, struct error *error) {
    struct mailbox *mailbox = &sqlite_of(store)->mailbox;
    if (!shares(store, error))
        return mailbox->foreign ? FAILED : work_unit(store, outcome, entry, now, error);
    struct created created;
    bool leads = mailbox_lead(mailbox), behind = false;
    if (!mailbox_ask_unit(mailbox, outcome, entry, store->rules, now)) {
        if (leads)
            mailbox_leave(mailbox);
        return work_unit(store, outcome, entry, now, error);
    }
    if (!get_answer(store, leads, &created, &behind, error))
        return FAILED;
    return behind ? NO : YES;
}
