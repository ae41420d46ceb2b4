#include "store/sqlite/replace.h"
#include "base/crash_point.h"
#include "store/sqlite/create.h"
#include "store/sqlite/cycle.h"
#include "store/sqlite/lane.h"
#include "store/sqlite/share.h"
#include <stdio.h>

/* A message that gets a date is a timer, and the other way round. 0: error. */
static int64_t replace_stream(struct store *store, const struct job *draft, int64_t id,
                              struct error *error) {
    char category[JOB_NAME_MAX + 1];
    const struct catalog_stream *stream = catalog_stream(&store->catalog, id);
    if (!stream || stream->type == draft->type)
        return id;
    struct job like = {.handler = draft->handler, .type = draft->type};
    if (stream->category) { /* a new stream moves the catalog */
        snprintf(category, sizeof category, "%s", stream->category);
        like.category = category;
    }
    stream = create_stream(store, &like, stream->deployment, error);
    return stream ? stream->id : 0;
}

static bool replace_cycle(struct store *store, const struct job *draft, const struct row *row,
                          struct error *error) {
    struct job next = *draft;
    next.id = row->id;
    next.retries = row->retries;
    return (!row->repeats || cycle_end(store, row->id, error)) &&
           (!draft->repeat || cycle_begin(store, &next, error));
}

static bool replace_write(struct store *store, const struct job *draft, const struct row *row,
                          struct error *error) {
    return db_run(&store->db, error,
                  "UPDATE job SET stream=?2, priority=?3, due=?4, place=?5, payload=?6, repeat=?7,"
                  " term=?8, rev=rev+1 WHERE id=?1",
                  "iiiTibtt", row->id, row->stream, row->priority, row->due, row->place,
                  draft->payload, draft->payload_size, draft->repeat, draft->term);
}

bool replace_job(struct store *store, const struct job *draft, int64_t holder, time_ms now,
                 struct error *error) {
    struct row old;
    bool placeless = store->intake != NULL; /* its own: nobody sees it yet */
    if ((placeless ? row_load_placeless : row_load)(store, holder, &old, error) <= 0)
        return false;
    struct row row = old;
    row.stream = replace_stream(store, draft, old.stream, error);
    row.priority = draft->priority;
    row.due = row_due(store, draft->due, now);
    return row.stream && share_place(store, placeless ? NULL : &old, &row, now, error) &&
           row_unplace(store, &old, error) && CRASH_POINT("replace_unplaced") &&
           replace_write(store, draft, &row, error) && replace_cycle(store, draft, &row, error) &&
           (placeless ||
            (row_place(store, &row, now, error) && lane_expose(store, row.lane, error)));
}
