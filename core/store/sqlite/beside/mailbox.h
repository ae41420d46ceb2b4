/* mailbox.h - the mapped file "<store>-tray": where processes that each want to create one job, or
 * to write what one command to a process did, lay what they ask for. So one of them writes for all
 * (rules §1); see group_commit.c.
 *
 * A process has a place in it, by a lock that ends with it. The file holds no durable state. The
 * first process to attach reinitialises it. It is never deleted. */
#pragma once

#include "job/outcome.h"
#include "store/sqlite/db/connection.h"
#include "store/store.h"

enum { MAILBOX_PLACES = 64, MAILBOX_PLACE = 8192, MAILBOX_LETTER = 6000 };

/* What a letter asks for: a job, see codec.h, or a unit, see unit_letter.h. Before it stand the
 * rules by which it is written, see rules_pack.h. */
enum mailbox_kind { MAILBOX_JOB, MAILBOX_UNIT };

struct mailbox_answer {
    struct created created; /* of a job */
    bool behind;            /* of a unit: another change came first, and nothing was written */
    int writer;             /* the place of the process that writes it */
    enum error_code code;   /* why it was refused */
    char text[2048];
};

/* What lies in a place. */
struct mailbox_request {
    int place;
    uint32_t word; /* for mailbox_mark */
    int64_t ticket;
    time_ms now; /* when it is created */
    enum mailbox_kind kind;
    size_t size;
    unsigned char letter[MAILBOX_LETTER];
};

/* Opens the mailbox of the store at `path`, once. False: there is none to use; `foreign`: because
 * something else lies there, which `error` tells. */
bool mailbox_open(struct mailbox *mailbox, const char *path, struct error *error);
void mailbox_close(struct mailbox *mailbox);

/* Without waiting: the right to write for all. */
bool mailbox_lead(struct mailbox *mailbox);
/* Gives it back, and calls one that waits to take it. */
void mailbox_leave(struct mailbox *mailbox);

/* Lays a job into the own place, and the rules by which it is written. False: it is too large. */
bool mailbox_ask(struct mailbox *mailbox, const struct job_spec *spec,
                 const struct write_rules *rules, time_ms now);
/* The same with what a command to a process did. */
bool mailbox_ask_unit(struct mailbox *mailbox, const struct outcome *outcome,
                      const struct store_entry *entry, const struct write_rules *rules,
                      time_ms now);
/* Waits until it is answered (true), or until it may be time to lead, `wait` ms at the most. */
bool mailbox_wait(struct mailbox *mailbox, int wait);
bool mailbox_answered(const struct mailbox *mailbox);
/* Nobody has written it yet. */
bool mailbox_asks(const struct mailbox *mailbox);
/* Its answer is there and its transaction is committed, but the log is not synced yet. */
bool mailbox_written(const struct mailbox *mailbox);
/* True if the process that has written it is gone: it syncs no more. */
bool mailbox_orphaned(const struct mailbox *mailbox);
/* Nothing is asked for any more. */
void mailbox_withdraw(struct mailbox *mailbox);

/* ---- for the one that leads, and for what lies in the own place ---- */

/* The first place from this one on where something is asked for; MAILBOX_PLACES: there is none. */
int mailbox_next(const struct mailbox *mailbox, int place);
/* A copy of what is asked for there, and still waits for an answer, by a process that lives. */
bool mailbox_read(struct mailbox *mailbox, int place, struct mailbox_request *request);
/* Does the same lie there still? */
bool mailbox_waits(const struct mailbox *mailbox, int place, uint32_t word);
struct mailbox_answer *mailbox_answer(struct mailbox *mailbox, int place);
/* It is committed: nobody does it again. */
void mailbox_mark_written(struct mailbox *mailbox, int place, uint32_t word);
/* It is answered: its process goes on. */
void mailbox_mark(struct mailbox *mailbox, int place, uint32_t word);
