/* definition.h - a job definition: what a handler file declares, after listeners and settings. */
#pragma once

#include "job/job.h"
#include "time/rate.h"
#include <jansson.h>
#include <stddef.h>

struct definition {
    int64_t id;            /* in the store; 0 until deployed */
    char *name;            /* "billing/send_invoice" */
    char *category;        /* NULL: none */
    char *priority_text;   /* as shown: "20", "by_amount", "function"; NULL: none */
    char *retry_text;      /* as shown: "R5/PT5M", "patient", "function"; NULL: standard */
    char *rate_text;       /* "10/PT1M"; NULL: none */
    char *file;            /* "handlers/billing/send_invoice.lua" */
    char *text;            /* definition_text of it, once read; NULL: made when it is asked for */
    json_t *properties;    /* an object, never NULL; kept in the store */
    int64_t priority;      /* if has_priority */
    time_ms timeout;       /* span; of one run */
    int32_t retries;       /* runs a new job shows; 0: the setting decides */
    int32_t limit;         /* jobs at once by each executor; 0: any number */
    int32_t invocations;   /* ids in one job, of a batch's type; 0: the setting decides */
    int32_t cluster_limit; /* jobs at once by all executors together; 0: any number */
    struct rate rate;      /* starts in any window; count 0: any number */
    int64_t backlog;       /* jobs that may wait, of all lanes; 0: no limit */
    int64_t lane_backlog;  /* the same of one lane */
    time_ms unique_for;    /* span; keys of its jobs outlive them so long from creation; 0: not */
    enum on_conflict on_conflict;
    bool unique_function;   /* the unique key is decided by a call into Lua at creation */
    bool has_priority;      /* a constant */
    bool priority_function; /* decided by a call into Lua at creation */
    unsigned hooks;         /* events of which the folder's hooks are told, see hook.h */
    bool outside;           /* its file has no function: workers outside do its jobs */
    bool retries_asked;     /* the same: an expression gives the runs a new job shows */
};

/* The definitions of one generation, sorted by name; immutable once built. */
struct definitions {
    size_t count;
    struct definition *list;
    json_t *processes; /* an object with the keys of the processes there are; NULL: none */
};

/* The key in the name of a job of a process, "process/order/ship:after": where it begins, and its
 * length. NULL: it is no such name. */
const char *process_key(const char *handler, size_t *size);

/* Adds processes by their keys, an array of texts: those without jobs of their own, too. False: no
 * memory. */
bool definitions_add_processes(struct definitions *definitions, const json_t *keys);
/* Adds those that the names of the definitions say. False: no memory. */
bool definitions_find_processes(struct definitions *definitions);
/* True for the name of a definition, and for any job of a process that is there: older versions
 * have activities that no definition names any more. */
bool definitions_serve(const struct definitions *definitions, const char *handler);
/* The keys as an array of texts: a new reference; NULL: no memory. */
json_t *definitions_processes(const struct definitions *definitions);

/* By name, or NULL. */
const struct definition *definitions_find(const struct definitions *definitions, const char *name);

/* The names of those that have functions, as an array of texts: a new reference; NULL: no memory.
 */
json_t *definitions_names(const struct definitions *definitions);

/* From the array of objects that the Lua half describes its definitions with (see
 * lua/moonshift/folder.lua): { name, file, category, priority, retry, retries, retries_asked,
 * timeout (seconds), limit, rate, invocations, unique (true: a function), on_conflict, unique_for
 * (seconds), backlog, lane_backlog, properties }. False: no memory or a wrong shape. */
bool definitions_read(struct definitions *definitions, const json_t *array);
void definitions_clear(struct definitions *definitions);

/* For `check --json` and engine:definitions. A new reference. */
json_t *definition_to_json(const struct definition *definition);
/* The same as text without the id, as the store keeps it. To be freed; NULL: no memory. */
char *definition_text(const struct definition *definition);
