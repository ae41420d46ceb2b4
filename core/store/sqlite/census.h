/* census.h - the executors of a store as everybody may see them: who lives, what each would take
 * (rules §3, the gap watch). For questions only; read in one look at the store. */
#ifndef MOONSHIFT_STORE_SQLITE_CENSUS_H
#define MOONSHIFT_STORE_SQLITE_CENSUS_H

#include "store/sqlite/serves.h"

enum standing { STANDING_LIVE, STANDING_DRAINING, STANDING_OVERDUE, STANDING_GONE };
const char *standing_name(enum standing standing);

struct citizen {
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
    struct acquire acquire;   /* range and order; handlers and categories point above */
    struct serves serves;
    struct slots_found running; /* what its workers run this moment */
    int64_t locked;             /* jobs it holds */
};

struct census {
    size_t count;
    struct citizen *list; /* by id */
};

/* Inside look_begin. Those that are gone only with `all`. census_clear in any case. */
bool census_take(struct census *census, struct store *store, bool all, time_ms now,
                 struct error *error);
void census_clear(struct census *census);

const struct citizen *census_find(const struct census *census, int64_t id);
/* How many have this standing. */
size_t census_count(const struct census *census, enum standing standing);
/* How far the stream gets with the best of those standing so. */
enum serves_stage census_stage(const struct census *census, enum standing standing,
                               const struct catalog_stream *stream);
/* It would take a job of this stream and priority, were it ready. */
bool citizen_takes(const struct citizen *citizen, const struct catalog_stream *stream,
                   int64_t priority);

/* As `store_executors` gives it. A new reference; NULL: no memory. */
json_t *census_to_json(const struct census *census, const struct store *store, time_ms now);

/* What an executor publishes beside its columns, as JSON text; NULL: no memory. */
char *census_settings(const struct acquire *serves, int workers);

#endif
