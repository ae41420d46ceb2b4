/* power_life.h - a store at work as the executor's loop works with it, in a directory that loses
 * its power; the caller cuts it. Every step is drawn from the seed. */
#ifndef MOONSHIFT_SPEC_POWER_LIFE_H
#define MOONSHIFT_SPEC_POWER_LIFE_H

#include "power_ledger.h"
#include "power_witness.h"

enum { LIFE_HELD = 64 };

struct life {
    char directory[64], path[96], url[104]; /* of the present generation; path is the database's */
    char root[48];
    int generation;
    struct settings settings;
    struct store *store;  /* joined; NULL: not open */
    struct store *client; /* a second one on the same file, now and then */
    struct witness *witness;
    struct error error;
    uint64_t seed;
    time_ms now;
    bool tells; /* another store tells of a commit, now and then, while that is synced */
    bool early; /* calls acknowledged what is not committed yet: a bug to be found */
    struct ledger acked, pending;
    bool committing;             /* `pending` may be on the disk without having been acknowledged */
    bool sweeps;                 /* rows of what succeeded go later */
    bool mortal;                 /* its process dies, the machine does not: crash slots count */
    bool endless;                /* some of its jobs come again for ever */
    bool unwatched;              /* nobody looks at the tables any more */
    uint64_t sum;                /* of the store as last acknowledged; 0: nobody looked yet */
    struct job *held[LIFE_HELD]; /* locked, to be settled */
    int held_count;
    int batches;
    char wrong[300]; /* what was found to be wrong with the store itself */
};

/* A new life in an empty root directory. False: it cannot be made. */
bool life_begin(struct life *life, const char *root, uint64_t seed);
void life_end(struct life *life);

/* The directory after the next, empty. */
bool life_next_directory(struct life *life);

/* Opens the store, or makes it. */
bool life_open(struct life *life);
/* Joins it, frees what dead executors held. */
bool life_join(struct life *life);
/* Drops everything in memory, as the end of the process does. */
void life_drop(struct life *life);

/* Notes what is wrong; false. */
bool life_wrong(struct life *life, const char *what, int64_t id);

/* One step of work. False: a verb said no; life->error says why. A refusal of what was asked
 * (ERROR_CONFLICT, ERROR_NOT_FOUND) is a step like any other. */
bool life_step(struct life *life);
/* Everything that waits runs to its end, and nothing is left. */
bool life_finish(struct life *life);

#endif
