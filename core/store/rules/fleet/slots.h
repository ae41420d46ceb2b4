/* slots.h - crash slots: a mapped file in which each worker of an executor notes what it runs
 * (rules §8: a crash costs no retry). Written without a commit, it outlives kill -9; what was
 * written before the last boot counts for nothing, because a power cut is nobody's fault. The
 * process that made the file holds it as long as it lives. */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "store/rules/ground/running.h"
#include <stddef.h>
#include <stdint.h>

struct slot {
    _Atomic int64_t job, token, since; /* job 0: nothing runs */
    int64_t unused[5];                 /* a cache line each */
};

struct slots {
    struct slot *list; /* NULL: none */
    int count;
    void *map;
    size_t size;
    int file; /* held */
};

/* Where the slots of an executor are: a file beside another one, or in a folder; see beside.h. */
struct slots_name {
    const char *path;
    char suffix[80];
};

/* "<store>-slots-<id>" */
struct slots_name slots_beside(const char *path, int64_t id);

bool slots_make(struct slots *slots, const struct slots_name *name, int count, struct error *error);
void slots_close(struct slots *slots);
void slots_remove(const struct slots_name *name);

enum slots_life { SLOTS_NONE, SLOTS_HELD, SLOTS_FREE }; /* none: there is no such file */
enum slots_life slots_life(const struct slots_name *name);

/* The executor was alive at this instant. */
void slots_alive(const struct slots *slots, time_ms now);
void slots_set(const struct slots *slots, int index, int64_t job, int64_t token, time_ms since);

/* Monotonic: since when readers keep this executor's checkpoints from their end; 0: they do not.
 * What is noted first stays until it is 0. */
void slots_note_held(const struct slots *slots, time_ms since);
/* The same, as it was noted in this boot; 0 as well if that is not known. */
time_ms slots_held(const struct slots_name *name);

/* What the workers run, or ran when their process ended; nothing if the file is missing, of an
 * earlier boot or not whole. False: no memory. */
bool slots_read(struct running *found, const struct slots_name *name);
