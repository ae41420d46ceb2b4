/* catalog.h - definitions and streams, kept in memory and read again when anybody changed
 * them (rules §2: what is decided for a stream). */
#pragma once

#include "job/job.h"
#include "store/rules/ground/txn_hook.h"
#include "store/sql/db.h"
#include "time/rate.h"

struct catalog_definition {
    int64_t id, deployment; /* deployment 0: never deployed */
    int64_t override_priority;
    /* Jobs locked at once, by one executor and by all; 0: any. An operator's go before its own. */
    int64_t limit, cluster_limit;
    int64_t backlog, lane_backlog; /* jobs that may wait; 0: no limit */
    struct rate rate;              /* count 0: any; an operator's goes before its own */
    bool overridden, suspended;
    bool cluster;  /* the limit in its file counts over all executors */
    bool reserved; /* a stock handler that every executor serves, whatever it is restricted to */
    char *name;
    char *process; /* the key of the process that its jobs are of; NULL: none */
};

struct catalog_stream {
    int64_t id, deployment;
    const struct catalog_definition *definition;
    enum job_type type;
    char *category; /* NULL: none */
    char *topic;    /* under which workers outside ask for its jobs; NULL: none */
    int used;       /* of its ready jobs by the last acquisition that has read pages */
};

struct catalog {
    int64_t version; /* of meta.catalog; 0: to be read */
    bool limited;    /* some definition has a limit */
    bool paced;      /* some definition has a rate */
    size_t definition_count, stream_count;
    struct catalog_definition *definitions; /* by name */
    struct catalog_stream *streams;         /* by id */
    const struct catalog_stream **by_key;   /* by name, deployment, category, type, topic */
    const struct catalog_stream *last;      /* found by key last */
    bool instances;                         /* some instance is suspended */
    bool processes;                         /* some process, or a version of one, is */
    int used;                               /* what `used` of all streams adds up to */
    unsigned hooks;                         /* events of which hooks are told, see hook.h */
    bool backlogs;                          /* some definition has a backlog limit */
};

/* Reads definitions and streams again if what is held is not of meta.catalog. meta_read does that,
 * so the catalog is up to date in every transaction. */
bool catalog_refresh(struct store *store, struct error *error);
void catalog_clear(struct catalog *catalog);
extern const struct txn_hook catalog_hook; /* forgets what a rollback has undone */

const struct catalog_definition *catalog_definition(const struct catalog *catalog,
                                                    const char *name);
/* By id, or NULL. */
const struct catalog_stream *catalog_stream(const struct catalog *catalog, int64_t id);
/* The topic of a new job: of an activity what its process says, else what its name does. */
static inline const char *stream_topic(const struct job *job) {
    return job->topic ? job->topic : job_topic(job->handler);
}
const struct catalog_stream *catalog_find(struct catalog *catalog, const struct job *job,
                                          int64_t deployment);

/* Definitions and suspended instances are read again, here and by everybody else. */
bool catalog_changed(struct store *store, struct error *error);

/* YES: new instances of the version are refused, as it or its process is suspended. */
enum answer version_suspended(struct store *store, int64_t version, struct error *error);
/* YES: the jobs of this one's process wait, as it or the version of its instance is suspended. */
enum answer version_halts(struct store *store, const struct job *job, struct error *error);
