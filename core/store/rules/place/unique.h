/* unique.h - unique keys (rules §20): a row of their own for each, which says who holds the key.
 *
 * The row is written with the job and removed in the transaction that ends it, or makes it dead;
 * with `until` a job that was done leaves it behind. A repeating job hands its key on to its next
 * occurrence. */
#pragma once

#include "store/rules/ground/row.h"

struct unique_holder {
    int64_t job;
    time_ms until; /* TIME_NONE: as long as the job is alive */
    bool there;    /* the job has not ended; else only `until` holds */
    bool runs;     /* or is not in its place yet: it cannot be replaced now */
    bool own;      /* it was written in the intake that is being filled: in no place yet */
};

/* What is found of a key: in the rows u of unique_key, j of live (of job, if that has no
 * tombstones), l of locks and i of intake. */
#define UNIQUE_HOLDER "u.job, u.until, j.id IS NOT NULL, l.id IS NOT NULL, i.id, i.released"
struct unique_found {
    struct unique_holder holder;
    int64_t intake; /* that writes it; 0: none */
    bool released;
};
/* Reads it from the columns behind the first ones. */
struct unique_found unique_read(struct row *row, int first);
/* True if the key is free, though it has a row. */
bool unique_is_over(const struct unique_found *found, time_ms now);
/* As unique_find, of what was found. */
enum answer unique_judge(struct store *store, const char *key, const struct unique_found *found,
                         time_ms now, struct unique_holder *holder, struct error *error);

/* YES: the job, which is created next, holds its key from now on, and until then. NO: the key has a
 * row of another one. */
enum answer unique_claim(struct store *store, const struct job *job, time_ms until, time_ms now,
                         struct error *error);

/* A key that is claimed by the message with which its creation begins. */
struct unique_ahead {
    const char *key, *tenant;
    int64_t definition, given; /* given: the id of the job; 0: the next one that was drawn */
    time_ms until;             /* TIME_NONE: as long as the job is alive */
    int64_t job;               /* that holds it, if it was claimed */
    bool asked, claimed;       /* claimed: as unique_claim says */
};

/* What is asked, and what is answered. NULL, false: error. */
struct row *unique_ahead_ask(struct store *store, const struct unique_ahead *ahead,
                             struct error *error);
bool unique_ahead_answer(struct store *store, struct unique_ahead *ahead, struct row *row,
                         struct error *error);

/* Removes keys whose time is over, so many at most. */
enum { UNIQUE_PURGED = 100 };
bool unique_purge(struct store *store, time_ms now, struct error *error);

/* NO: the key is free. YES: *job has held it, and may be gone. */
enum answer unique_taken(struct store *store, int64_t definition, const char *key, int64_t *job,
                         struct error *error);

/* Who holds the key. ERROR_CONFLICT: a job that is being written by
 * somebody else, and may yet never be there. */
enum answer unique_find(struct store *store, int64_t definition, const char *key, time_ms now,
                        struct unique_holder *holder, struct error *error);

/* ERROR_CONFLICT that names the holder. */
bool unique_refuse(const char *handler, const char *key, const struct unique_holder *holder,
                   struct error *error);

/* YES: the holder of the key is of the job's tenant, or has none and is not replaced. Else
 * ERROR_CONFLICT, which does not name it: who asks would hear of a job that is none of theirs. The
 * key outlives the holder's row. */
enum answer unique_own(struct store *store, int64_t definition, const struct job *job,
                       bool replaces, struct error *error);

/* A job that was just created holds its key, which no other does: the row of one that is gone makes
 * room. */
bool unique_hold(struct store *store, const struct job *job, time_ms until, time_ms now,
                 struct error *error);

/* The job was done: its key goes, unless it is kept for a time. */
bool unique_done(struct store *store, const struct job *job, time_ms now, struct error *error);

/* The job dies or goes undone: its key is free. Call while its row is there. */
bool unique_release(struct store *store, const struct job_row *row, struct error *error);

/* A dead job comes back. YES: it has its key again; NO: another holds it (error says who). */
enum answer unique_retake(struct store *store, const struct job_row *row, time_ms now,
                          struct error *error);

/* What `job` held its next occurrence holds. */
bool unique_follow(struct store *store, const struct job *job, int64_t next, struct error *error);
