/* change.h - how any command on jobs goes: every id is checked first, then all are changed, then
 * one entry is written to the operation log (rules §11; §1: whose token goes). */
#pragma once

#include "job/command.h"
#include "store/rules/ground/row.h"

#define CHANGE_TEXT 600 /* a cycle, its zone and its policy fit */

struct change {
    const char *name;
    /* NULL: every state is fine */
    bool (*check)(struct store *store, const struct change *change, const struct job_row *row,
                  struct error *error);
    bool (*apply)(struct store *store, const struct change *change, struct job_row *row,
                  struct error *error);
    /* the value for the log, asked before and after; `text` has CHANGE_TEXT bytes; may be NULL */
    void (*show)(const struct job_row *row, char *text);
    /* the same where the row does not say it; NULL: show does */
    bool (*read)(struct store *store, const struct job_row *row, char *text, struct error *error);
    int64_t value;                 /* the new retries, priority, reasons, how a job ends */
    bool suspends;                 /* the reasons in `value` are put, not taken away */
    bool silent;                   /* part of another command, which writes the log's entry */
    const struct command *command; /* what else it says; NULL: a silent one */
    time_ms due, now;
    struct configured *configured; /* what `apply` has read last */
};

/* The retries that a definition says. */
struct configured {
    int64_t definition; /* 0: none has been read */
    int32_t retries;
};

/* In the open transaction, or one of its own. */
bool change_run(struct store *store, const struct change *change, struct ids ids,
                struct error *error);

/* Only the checks. */
bool change_check(struct store *store, const struct change *change, struct ids ids,
                  struct error *error);

/* Writes what may change, and moves a job that is not running to where it belongs now. */
bool change_move(struct store *store, const struct job_row *old, struct job_row *row, time_ms now,
                 struct error *error);

/* due_date.c: a due date, and one that is counted anew (timers only). */
bool due_check(struct store *store, const struct change *change, const struct job_row *row,
               struct error *error);
bool due_apply(struct store *store, const struct change *change, struct job_row *row,
               struct error *error);
void due_show(const struct job_row *row, char *text);
bool again_check(struct store *store, const struct change *change, const struct job_row *row,
                 struct error *error);
bool again_apply(struct store *store, const struct change *change, struct job_row *row,
                 struct error *error);
/* recycle.c: another cycle. */
bool recycle_check(struct store *store, const struct change *change, const struct job_row *row,
                   struct error *error);
bool recycle_apply(struct store *store, const struct change *change, struct job_row *row,
                   struct error *error);
bool recycle_read(struct store *store, const struct job_row *row, char *text, struct error *error);
