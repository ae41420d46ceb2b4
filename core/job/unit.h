/* unit.h - what a stretch of a process instance between two wait states writes, in one commit
 * (rules §23): frames, subscriptions, user tasks, trail. Its jobs are those that the outcome
 * creates.
 *
 * A walk (lua/moonshift/process/walk.lua) makes a unit, and core/process/ copies it. All its texts
 * lie in its arena. */
#ifndef MOONSHIFT_JOB_UNIT_H
#define MOONSHIFT_JOB_UNIT_H

#include "base/arena.h"
#include "base/clock.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the unit leaves of one instance. */
struct unit_instance {
    int64_t id;
    int64_t version;       /* of its process */
    int64_t rev;           /* of the frame that was walked on; 0: the unit began the instance */
    int64_t parent, root;  /* instances; 0: none */
    time_ms started;       /* TIME_NONE: as its row says */
    const char *frame;     /* JSON; NULL: the instance has ended */
    const char *ended;     /* how: "completed", "terminated" or "cancelled"; NULL: it goes on */
    const char *reason;    /* of a cancellation, or NULL */
    const char *variables; /* of the instance as it ended, as a JSON object */
    const char *key;       /* the business key, or NULL */
    const char *tenant;    /* or NULL */
    const char *stuck;     /* the activity of a token that nothing can move; "": the instance was
                              stuck and goes on; NULL: it neither was nor is */
};

/* What waited for a token, and waits no longer. */
enum unit_waits { UNIT_JOB = 1, UNIT_SUBSCRIPTION = 2, UNIT_TASK = 4 };
struct unit_wait {
    int64_t instance, token;
    unsigned what; /* of enum unit_waits */
    int64_t task;  /* that a command completes, and that must still be there; 0: none */
};

struct unit_subscription {
    int64_t instance, token, version;
    const char *kind, *name, *key, *activity; /* key "": any */
};

struct unit_task {
    int64_t instance, token;
    const char *activity, *name, *assignee;
    const char *candidates; /* JSON { users = [], groups = [] }, or NULL */
    const char *form;
    time_ms due; /* TIME_NONE: none */
    int64_t priority;
};

struct unit_trail {
    int64_t instance;
    const char *events; /* a JSON array */
};

/* A variable that instances are found by, as it is now. */
struct unit_searched {
    int64_t instance;
    const char *name,
        *value; /* value: JSON, a text, a number, true or false; NULL: there is none */
};

/* The row of a large variable. */
struct unit_value {
    int64_t instance, n;
    const char *name, *data; /* data: JSON; NULL: the row goes */
};

/* A message that is to be delivered with the unit. */
struct unit_message {
    const char *name, *key, *variables; /* key "": any; variables: a JSON object */
    int64_t instance;                   /* that it is for; 0: any */
    const char *business_key;           /* of that; NULL: any */
    time_ms until;                      /* kept so long if nothing waits for it; TIME_NONE: not */
    int64_t id;                         /* of the row of one that is kept already; 0: none */
    int64_t taken;                      /* 1: the unit has taken that row's message */
};

/* Zero-initialise its members; free with unit_free. */
struct unit {
    struct arena arena;
    struct unit_instance *instances;
    struct unit_wait *left;
    struct unit_subscription *subscriptions;
    struct unit_task *tasks;
    struct unit_trail *trail;
    struct unit_message *messages;
    struct unit_searched *searched;
    struct unit_value *values;
    size_t instance_count, left_count, subscription_count, task_count, trail_count, message_count;
    size_t searched_count, value_count;
    const char *kept; /* JSON: what handlers did, for a second walk on a newer frame; or NULL */
    bool contends;    /* a handler has read a variable that it writes: it may have to be called
                         again if another unit is first */
    int64_t rev;      /* out: of the frames that it has written */
};

/* A new unit without anything; NULL: no memory. */
struct unit *unit_new(void);
void unit_free(struct unit *unit); /* NULL is fine */

/* Memory of the unit for `count` things of `size` bytes, zeroed; NULL: no memory. */
void *unit_room(struct unit *unit, size_t count, size_t size);
/* A copy of a text in the unit; NULL: no memory. */
char *unit_text(struct unit *unit, const char *text, size_t size);

struct job;
/* Gives a job that a unit has created what it has to know of its instance, and if wanted the frame
 * that the unit leaves; borrowed from the unit. */
void unit_show(const struct unit *unit, struct job *job, bool with_frame);

#endif
