#include "store/rules/create/replace.h"
#include "base/crash_point.h"
#include "store/rules/create/cycle.h"
#include "store/rules/ground/stream.h"
#include "store/rules/place/fair_share.h"
#include "store/rules/place/occupancy.h"
#include "store/rules/place/places.h"
#include "store/rules/record/incident.h"
#include <stdio.h>

/* A message that gets a date is a timer, and the other way round. 0: error. */
static int64_t replace_stream(struct store *store, const struct job *new, int64_t id,
                              struct error *error) {
    char category[JOB_NAME_MAX + 1];
    const struct catalog_stream *stream = catalog_stream(&store->catalog, id);
    if (!stream || stream->type == new->type)
        return id;
    struct job like = {.handler = new->handler, .type = new->type};
    if (stream->category) { /* a new stream moves the catalog */
        snprintf(category, sizeof category, "%s", stream->category);
        like.category = category;
    }
    stream = stream_make(store, &like, stream->deployment, error);
    return stream ? stream->id : 0;
}

static bool replace_cycle(struct store *store, const struct job_spec *spec,
                          const struct job_row *row, struct error *error) {
    struct job_spec next = *spec;
    next.job.id = row->id;
    next.job.retries = row->retries;
    return (!row->repeats || cycle_end(store, row->id, error)) &&
           (!spec->job.repeat || cycle_begin(store, &next, error));
}

bool replace_job(struct store *store, const struct job_spec *spec, int64_t holder, time_ms now,
                 struct error *error) {
    const struct job *new = &spec->job;
    struct job_row old;
    bool placeless = store->intake != NULL; /* its own: nobody sees it yet */
    if ((placeless ? row_load_placeless : row_load)(store, holder, &old, error) != YES)
        return false;
    struct job_row row = old;
    row.stream = replace_stream(store, new, old.stream, error);
    row.priority = new->priority;
    row.due = row_due(store, new->due, now);
    if (!row.stream || !fair_share_place(store, placeless ? NULL : &old, &row, now, error) ||
        !place_remove(store, &old, error))
        return false;
    CRASH_POINT("replace_unplaced");
    if (placeless) /* its stream is not the one that was noted with it */
        occupancy_written(store, 0, 0);
    if (!row_replace(store, &row, new, error) || !replace_cycle(store, spec, &row, error))
        return false;
    return placeless ||
           (incident_place(store, &row, now, error) && place_expose(store, row.lane, error));
}
