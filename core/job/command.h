/* command.h - an operator's verb as a JSON object: what a person, a job (job:operate) or a date
 * asks of the store (rules §11). The table of all verbs and of what each may be told is in
 * command.c. */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "job/suspension.h"
#include "time/cycle.h"
#include "time/rate.h"
#include <jansson.h>
#include <stddef.h>

#define COMMAND_HANDLER                                                                            \
    "moonshift/operate"               /* the stock handler that gives its payload as a command     \
                                       */
#define COMMAND_RESERVED "moonshift/" /* handlers under it are ours, and everybody's to run */
#define BATCH_SEED COMMAND_RESERVED "batch_seed"
#define BATCH_MONITOR COMMAND_RESERVED "batch_monitor"
#define BATCH_HANDLERS "batch/" /* what execution jobs run, by the type of their batch */

enum command_verb {
    COMMAND_SET_RETRIES,
    COMMAND_RETRY,
    COMMAND_SET_PRIORITY,
    COMMAND_SET_DUE,
    COMMAND_RECALCULATE_DUE,
    COMMAND_SET_CYCLE,
    COMMAND_SUSPEND,
    COMMAND_ACTIVATE,
    COMMAND_DELETE,
    COMMAND_CANCEL,
    COMMAND_DEAD_LETTER,
    COMMAND_OVERRIDE_PRIORITY,
    COMMAND_CLEAR_OVERRIDE,
    COMMAND_OVERRIDE_LIMIT,
    COMMAND_CLEAR_LIMIT,
    COMMAND_OVERRIDE_RATE,
    COMMAND_CLEAR_RATE,
    COMMAND_SUSPEND_DEFINITION,
    COMMAND_ACTIVATE_DEFINITION,
    COMMAND_SET_DEFINITION_RETRIES,
    COMMAND_SUSPEND_INSTANCE,
    COMMAND_ACTIVATE_INSTANCE,
    COMMAND_SUSPEND_PROCESS,
    COMMAND_ACTIVATE_PROCESS,
    COMMAND_SET_ASSIGNEE,
    COMMAND_ANNOTATE,
    COMMAND_RESOLVE,
    COMMAND_SET_REMOVAL_TIME,
    COMMAND_DELETE_HISTORY,
    COMMAND_CLEAN_HISTORY,
    COMMAND_SET_INCIDENT_REMOVAL_TIME,
    COMMAND_SUSPEND_BATCH,
    COMMAND_ACTIVATE_BATCH,
    COMMAND_DELETE_BATCH,
    COMMAND_RETRY_FAILED,
    COMMAND_SET_BATCH_PRIORITY,
    COMMAND_SET_BATCH_REMOVAL_TIME,
    COMMAND_PAUSE_SCHEDULE,
    COMMAND_RESUME_SCHEDULE,
    COMMAND_RUN_SCHEDULE,
    COMMAND_DRAIN,
    COMMAND_RESUME,
    COMMAND_REGISTER,
    COMMAND_UNREGISTER,
    COMMAND_DELETE_DEPLOYMENT,
    COMMAND_RENAME_DEPLOYMENT,
    COMMAND_BATCH_SEED, /* these two as effects only */
    COMMAND_BATCH_MONITOR,
    COMMAND_COUNT
};

enum command_target {
    TARGET_JOBS,
    TARGET_DEFINITION,
    TARGET_INSTANCE,
    TARGET_INCIDENT,
    TARGET_BATCH,
    TARGET_HISTORY,
    TARGET_PLAN,
    TARGET_SCHEDULE,
    TARGET_EXECUTOR,
    TARGET_DEPLOYMENT,
    TARGET_PROCESS,
    TARGET_TASK
};

/* A command taken apart; texts and JSON are borrowed from its object. */
struct command {
    enum command_verb verb;
    const char *name; /* of the verb, as the operation log has it */
    enum command_target target;
    const json_t *ids;   /* jobs, or ended jobs: an array of integers, or NULL, and then */
    const json_t *query; /* the filters they match */
    const char *definition, *instance, *schedule, *process;
    int64_t version, task;       /* of a process by its number, 0: all; a user task */
    const char *assignee;        /* of the task; NULL: nobody */
    bool include_instances;      /* of a process: what runs of it */
    bool hierarchy;              /* of an instance: those that it called, too */
    bool claims;                 /* the task must not be another one's */
    const char *executor;        /* a name, or an id as text; of a registration the name, or NULL */
    const json_t *terms;         /* what due dates of jobs come from now, by their ids; or NULL */
    const json_t *deployments;   /* ids: an array of integers, or one */
    const char *folder, *rename; /* the name of deployments, and the one that they get */
    int64_t incident, batch;
    const json_t *plan; /* of one run of history cleanup, see cleanup.h; NULL: it begins now */
    time_ms removal;    /* TIME_NEVER: kept for ever; TIME_NONE: by the time to live */
    int64_t priority;
    int32_t retries;
    int32_t limit;    /* of an override; 0: none */
    bool cluster;     /* the limit counts over all executors, whatever the definition's own does */
    struct rate rate; /* of an override; count 0: none */
    bool due_given, cascade, from_creation, include_jobs;
    bool history;        /* of a deleted batch: that goes, too */
    bool jobs_only;      /* of a suspended batch: its seed and its monitor go on */
    bool ended;          /* a monitor has seen that nothing is left */
    bool ignore_missing; /* ids of jobs that are gone are passed over, and an instance of a process
                            that does not run */
    time_ms due;         /* TIME_NONE: absent */
    time_ms at;          /* not before; TIME_NONE: now */
    const char *note;    /* NULL: none */
    const char *cycle;   /* of set_cycle: it can be read */
    const char *zone;    /* of the cycle; NULL: that of the job */
    enum misfire misfire;
    bool misfire_given;
    int reason; /* enum suspension, of suspend and activate; 0: those that go by id */
    /* A command for more jobs than one transaction takes goes on: */
    bool goes_on;        /* it has begun */
    int64_t entry;       /* in the operation log; 0: none yet */
    int64_t after, upto; /* of a query: the jobs between these ids are left */
    size_t done;         /* of ids: so many are dealt with */
    struct held held;    /* so far: activated, yet suspended for other reasons */
};

/* Jobs by their ids; borrowed. */
struct ids {
    const int64_t *list;
    size_t count;
};

/* Runs that were given up, and go on. */
struct stuck_runs {
    int count;    /* of runs */
    int64_t job;  /* of one of them */
    char at[512]; /* "a run of job 4 on vm/1 …": the same one */
};

#define COMMAND_MADE 8 /* jobs that one command makes, at most */

/* How a command is given, and what came of it. */
struct command_run {
    /* in; all may be 0 */
    bool dry_run; /* only counts, and refuses what would be refused of ids; nothing is written */
    void (*tell)(void *arg, size_t touched); /* called after each transaction but the last */
    void *arg;
    /* out */
    enum command_target target;
    size_t touched;             /* jobs; 1 for an incident; deployments, executors */
    int64_t made[COMMAND_MADE]; /* the timer of a command with a date; the job of run_schedule;
                                   those that clean the history */
    int made_count;
    struct held held;        /* activated so far, yet suspended for other reasons */
    struct stuck_runs stuck; /* of deleted or cancelled jobs: nothing can end them */
    int64_t
        batch;    /* the engine's: it touches more than one transaction takes, this batch does it */
    json_t *rest; /* the store's: the command that goes on, in a transaction of its own; NULL: all
                     is done. The caller's */
};

/* Reads { verb = "set_retries", ids = 7 | { 7, 8 }, retries = 3 } and the like. The target is one
 * of:
 *   - of a verb on jobs: `ids` or `query` (filters; on ended jobs those of the log);
 *   - `definition`, `schedule` or `process`: a name;
 *   - `instance`: a key;
 *   - `incident`, `batch` or `task`: an id;
 *   - `deployment`: an id, or several; of rename_deployment their name;
 *   - `executor`: a name, or an id as text;
 *   - `plan`: an object.
 * ERROR_INVALID: an unknown verb or key, with "did you mean"; a missing or bad value. */
bool command_read(struct command *command, const json_t *object, struct error *error);

/* Empties what comes out of a run. */
void command_run_clear(struct command_run *run);

/* `object` as a command that goes on where `command` stands. A new reference; NULL: no memory. */
json_t *command_rest(const json_t *object, const struct command *command);

const char *command_name(enum command_verb verb);
/* What the verb is done to. */
enum command_target command_target(enum command_verb verb);
/* The key that says which: "definition"; "ids" of jobs, beside which there is "query". */
const char *command_target_key(enum command_target target);
/* The names of the other keys that the verb takes, one after the other from 0; *needed: it must be
 * there. *type is "integer" and the like, as JSON Schema has them, or NULL if there are several.
 * NULL: there are no more. */
const char *command_key(enum command_verb verb, size_t at, bool *needed, const char **type);
/* True if it is a command of its own, and no effect of another one's job. */
bool command_is_given(enum command_verb verb);
/* True if a handler may give it; else only a person may. */
bool command_is_for_jobs(const struct command *command);
