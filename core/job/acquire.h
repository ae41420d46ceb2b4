/* acquire.h - what an executor looks for: the question it puts to the store each turn
 * (rules §2, §3). */
#pragma once

#include "job/definition.h"
#include "job/job.h"
#include "job/settings.h"

/* How far ahead an acquisition fills the workers' time: what would begin later is left where it is,
 * for others or for what comes later and goes first. */
struct horizon {
    double (*run)(const void *arg, int64_t definition); /* ms that a run is expected to take; NULL:
                                                           nothing is left for want of time */
    bool (*brief)(const void *arg, int64_t definition); /* a run is known to take a few ms; with
                                                           `run` */
    const void *arg;
    double span; /* ms */
    double time; /* ms of the workers' time in that span that nothing fills yet, all together */
    double soon; /* ms of it that begin at once for jobs with a rate, which go before the others */
    int workers; /* that share it */
};

/* A topic that a worker outside asks for, and which of its jobs. */
struct wanted_topic {
    const char *name;
    const char *tenant, *category;      /* NULL: any */
    int64_t priority_min, priority_max; /* inclusive */
    time_ms lock;                       /* the worker has them so long */
};

struct acquire {
    int want;      /* at most so many jobs */
    int64_t bytes; /* of payloads and frames: the job that reaches it is the last; 0: any number */
    struct horizon horizon;
    int idle;             /* workers that can begin at once: so many jobs with a rate at most, and
                             short ones besides for which there is time soon */
    int lane_run;         /* at most so many jobs of one lane in one work item (16) */
    int64_t priority_min; /* inclusive; INT64_MIN: open */
    int64_t priority_max; /* inclusive; INT64_MAX: open */
    bool steady;          /* time passes by itself: not a virtual clock's */
    bool unread;          /* plain jobs may be locked unread: the caller reads them afterwards */
    bool by_priority;     /* higher first */
    bool prefer_timers;
    bool by_due_date;      /* oldest first, by due date or creation */
    bool ensure_due_date;  /* jobs without a due date are not taken */
    bool drains;           /* say whether a limit or a rate alone holds something back */
    bool deployment_aware; /* only jobs of registered deployments, or of none */
    time_ms aging;         /* one priority point per so many ms waited; 0: off */
    const struct definitions *handlers; /* only jobs whose handler is here; NULL: all */
    const json_t *categories;           /* array of texts; NULL: all */
    const json_t *topics;               /* of a worker outside: jobs of these alone; NULL: it is an
                                           executor, which has to have handlers of theirs */
    const struct wanted_topic *wanted; /* of a fetch: what it says of each of them; NULL: nothing */
    size_t wanted_count;
    const char *executor_name; /* whose registrations count */
};

static inline int64_t acquire_bytes(const struct acquire *acquire) {
    return acquire->bytes ? acquire->bytes : INT64_MAX;
}

/* What an executor with these settings looks for, wherever it runs; the settings are borrowed. */
struct acquire acquire_from(const struct settings *settings);

/* What a fetch says of a topic; NULL: nothing. */
const struct wanted_topic *acquire_wanted(const struct acquire *acquire, const char *topic);
/* True if some jobs of a stream are passed over inside the database: those without a due date, or
 * those of other tenants. */
bool acquire_sifts(const struct acquire *acquire);

/* Where a job that is ready stands among the others. */
struct sort_key {
    int64_t priority;
    time_ms place; /* its due date, else its creation */
    int64_t id;
    bool timer; /* of type timer */
};

struct sort_key acquire_sort_key(const struct job *job);
/* True if `a` is to run before `b`: the order of rules §3. */
bool acquire_before(const struct acquire *order, const struct sort_key *a,
                    const struct sort_key *b);
