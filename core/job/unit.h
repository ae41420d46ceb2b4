/* unit.h - what a stretch of a process instance between two wait states writes, in one commit
 * (rules §23): frames, subscriptions, user tasks, trail. Its jobs are those that the outcome
 * creates.
 *
 * A walk (lua/moonshift/process/walk.lua) makes a unit, and core/process/ copies it. All its texts
 * lie in its arena. */
#pragma once

#include "base/arena.h"
#include "base/clock.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the unit leaves of one instance. */
#define INSTANCE_TWIN_TEXT "instance %lld of this process runs with the business key \"%.255s\""
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
    int64_t unique;        /* 1: it begins only if no other of its process and tenant has the key */
    int64_t migrates;      /* 1: it was of another version so far */
};

/* What the unit leaves of a turn that stands outside of the frame of its instance. */
struct unit_turn {
    int64_t id, instance;
    int64_t body, body_token;      /* its row, and its token in the frame */
    int64_t rev;                   /* as of an instance; 0: the unit began the turn */
    int64_t version, parent, root; /* of its instance, */
    const char *key, *tenant;      /* as in its row */
    const char *frame;             /* JSON; NULL: the turn has ended */
    const char *stuck;             /* as of an instance */
};

/* The turns outside of the frame have negative tokens: -(turn << TURN_BITS) - the number in its own
 * frame. */
enum { TURN_BITS = 20 };
/* The turn that has the token; 0: the frame of the instance has it. */
static inline int64_t turn_of_token(int64_t token) {
    return token < 0 ? -token >> TURN_BITS : 0;
}
/* The token of a number in the frame of a turn; turn 0: in that of an instance. */
static inline int64_t turn_token(int64_t turn, int64_t number) {
    return turn ? -(turn << TURN_BITS) - number : number;
}
/* All tokens of a turn; turn 0: all that are in frames of instances. */
struct token_range {
    int64_t first, last;
};
static inline struct token_range turn_tokens(int64_t turn) {
    if (!turn)
        return (struct token_range){0, INT64_MAX};
    return (struct token_range){turn_token(turn + 1, -1), turn_token(turn, 1)};
}

/* What happens to a body whose turns stand outside. */
struct unit_body {
    int64_t id, instance;
    int64_t token;        /* in the frame, */
    const char *activity; /* and there, of a body that */
    int64_t version;      /* of its process, */
    int64_t turns;        /* begins with so many turns; 0: it is there already */
    int64_t ended;        /* turns that end with the unit */
    int64_t seen;         /* the count of ended turns that was read, and one; 0: it was not */
    int64_t closed;       /* 1: it ends */
    int64_t clear;        /* 1: a page of its turns goes */
    int64_t migrates;     /* 1: token, activity and version are others by now */
};

/* What waited for a token, and waits no longer. */
enum unit_waits { UNIT_JOB = 1, UNIT_SUBSCRIPTION = 2, UNIT_TASK = 4 };
struct unit_wait {
    int64_t instance, token;
    unsigned what; /* of enum unit_waits */
    int64_t task;  /* that a command completes, and that must still be there; 0: none */
};

/* What waits for a token goes with it to another place of the instance. */
struct unit_move {
    int64_t instance, token;
    unsigned what;            /* of enum unit_waits: one of them */
    int64_t to, version;      /* its number by now, and the version of the instance */
    const char *from_handler; /* definition of the job so far, */
    const char *handler;      /* and by now */
    const char *activity;     /* where it stands by now */
    int64_t listens;          /* of a task: 1: changing it calls listeners */
};

struct unit_subscription {
    int64_t instance, token, version;
    const char *kind, *name, *key, *activity; /* key "": any */
    int64_t priority; /* of the job that brings a signal; TIME_NONE: the model gives none */
};

struct unit_task {
    int64_t id; /* of one that is there and changes; 0: a new one */
    int64_t instance, token;
    const char *activity, *name, *assignee;
    const char *candidates; /* JSON { users = [], groups = [] }, or NULL */
    const char *form;
    time_ms due; /* TIME_NONE: none */
    int64_t priority;
    int64_t listens; /* 1: changing it calls listeners */
    int64_t changes; /* of one that is there, in bits: 1 name, 2 assignee, 4 due, 8 priority */
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

/* A signal, or a message to all, that jobs give to all that wait for it, as far as one transaction
 * goes at once; or to this one. */
struct unit_signal {
    const char *name, *variables;   /* variables: a JSON object, or NULL */
    const char *tenant;             /* only instances of this one, and of none; NULL: any */
    int64_t message;                /* 1: it is a message, */
    const char *key, *business_key; /* with this key, for instances with that one; NULL: any */
    int64_t bare;                   /* 1: what it starts gets no variables */
    int64_t given;                  /* 1: the unit has given it, and jobs give it to the instances
                                       that wait for it and are not in the unit */
    int64_t only;                   /* of this instance alone; 0: of any */
    int64_t after, after_token;     /* those behind this instance and token, */
    time_ms until;                  /* which have waited since then; TIME_NONE: all */
    int64_t instance, token;        /* the one that gets it; token 0: all do */
    const char *activity, *process; /* of that one: where it waits, and its key */
    int64_t priority;               /* of that one's job; TIME_NONE: the model gives none */
};

/* Zero-initialise its members; free with unit_free. */
struct unit {
    struct arena arena;
    struct unit_instance *instances;
    struct unit_wait *left;
    struct unit_move *moves;
    struct unit_subscription *subscriptions;
    struct unit_task *tasks;
    struct unit_trail *trail;
    struct unit_message *messages;
    struct unit_signal *signals;
    struct unit_searched *searched;
    struct unit_value *values;
    struct unit_turn *turns;
    struct unit_body *bodies;
    size_t instance_count, left_count, subscription_count, task_count, trail_count, message_count;
    size_t searched_count, value_count, turn_count, body_count, signal_count, move_count;
    const char *kept; /* JSON: what handlers did, for a second walk on a newer frame; or NULL */
    bool contends;    /* a handler has read a variable that it writes: it may have to be called
                         again if another unit is first */
    bool alone;  /* one of `unique` is known to be the only one, or else the transaction refuses
                    itself */
    int64_t rev; /* of the frames that it writes; 0: it gets one, and says which */
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
