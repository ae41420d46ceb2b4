/* executor_list.h - the executors of a store as everybody may see them: who lives, what each would
 * take (rules §3, the gap watch). For questions only; read in one look at the store. */
#pragma once

#include "store/rules/ground/serves.h"

enum standing { STANDING_LIVE, STANDING_DRAINING, STANDING_OVERDUE, STANDING_GONE };
const char *standing_name(enum standing standing);

struct executor_info {
    int64_t id;
    char *name;
    enum standing standing;
    time_ms started, seen, lease;
    int64_t pid;              /* 0: not told */
    char *version;            /* NULL: not told */
    int workers;              /* 0: not told */
    json_t *settings;         /* as published; an object */
    json_t *categories;       /* NULL: all */
    struct definitions named; /* names only, borrowed from `settings` */
    bool knows_handlers;      /* it has told which it has */
    bool remote;              /* a worker outside: no process that anybody looks at */
    json_t *topics;           /* that it has asked for; NULL: it is none */
    struct acquire acquire;   /* range and order; handlers and categories point above */
    struct serves serves;
    struct running running; /* what its workers run this moment */
    int64_t locked;         /* jobs it holds */
};

struct executor_list {
    size_t count;
    struct executor_info *list; /* by id */
};

/* Inside look_begin. Those that are gone only with `all`. executor_list_clear in any case. */
bool executor_list_take(struct executor_list *executors, struct store *store, bool all, time_ms now,
                        struct error *error);
void executor_list_clear(struct executor_list *executors);

const struct executor_info *executor_list_find(const struct executor_list *executors, int64_t id);
/* How many have this standing; workers outside do not count. */
size_t executor_list_count(const struct executor_list *executors, enum standing standing);
/* How far the stream gets with the best of those standing so. */
enum serves_stage executor_list_stage(const struct executor_list *executors, enum standing standing,
                                      const struct catalog_stream *stream);
/* It would take a job of this stream and priority, were it ready. */
bool executor_info_takes(const struct executor_info *info, const struct catalog_stream *stream,
                         int64_t priority);

/* As `ask_executors` gives it. A new reference; NULL: no memory. */
json_t *executor_list_to_json(const struct executor_list *executors, const struct store *store,
                              time_ms now);

/* What an executor publishes beside its columns, as JSON text; NULL: no memory. */
char *executor_list_settings(const struct acquire *serves, int workers);
