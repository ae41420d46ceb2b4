/* suspension.h - why a job is suspended: a mask of reasons. It runs when none is left (rules §12).
 * Each reason is put and taken away by verbs of its own, so none of them releases what another one
 * still holds. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum suspension {
    SUSPENDED_JOB = 1, /* the job itself, by its id or by filters */
    SUSPENDED_DEFINITION = 2,
    SUSPENDED_INSTANCE = 4,
    SUSPENDED_BATCH = 8,
    SUSPENDED_SCHEDULE = 16,
    SUSPENDED_PROCESS = 32,
    SUSPENDED_CALLER = 64 /* its instance would end into one that is suspended */
};
enum { SUSPENSIONS = 7 };

/* What `activate ID` takes away; an instance and a process are activated by their own verbs, which
 * also release what waits for a caller. */
#define SUSPENDED_BY_NAME                                                                          \
    (SUSPENDED_JOB | SUSPENDED_DEFINITION | SUSPENDED_BATCH | SUSPENDED_SCHEDULE)

#define SUSPENSION_TEXT 64 /* bytes for the names of all reasons */

/* The reason of a name such as "job" or "definition"; 0: there is none. */
int suspension_find(const char *name);
/* "job, instance"; "" for none. */
void suspension_text(int reasons, char text[SUSPENSION_TEXT]);
/* The names as an array, or null for none. A new reference; NULL: no memory. */
json_t *suspension_to_json(int reasons);

/* Of the jobs that were activated: how many stay suspended, and how many of them for each reason.
 */
struct held {
    int64_t jobs;
    int64_t by[SUSPENSIONS];
};
#define HELD_TEXT 256

void held_add(struct held *held, int reasons);
/* "2 stay suspended: instance 2, process 1"; "" for none. */
void held_text(const struct held *held, char text[HELD_TEXT]);
/* { jobs = 2, instance = 2 }. A new reference; NULL: no memory. */
json_t *held_to_json(const struct held *held);
void held_from_json(struct held *held, const json_t *object);
