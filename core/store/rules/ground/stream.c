#include "store/rules/ground/stream.h"
#include "base/crash_point.h"

/* A handler that nobody has deployed: an unchecked job may name it. */
static bool definition_make(struct store *store, const char *name, struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO definition(name, properties) VALUES(?1, '{}')"
                  " ON CONFLICT DO NOTHING",
                  "t", name);
}

const struct catalog_stream *stream_make(struct store *store, const struct job *job,
                                         int64_t deployment, struct error *error) {
    const struct catalog_stream *stream = catalog_find(&store->catalog, job, deployment);
    if (stream)
        return stream;
    if (!definition_make(store, job->handler, error) ||
        !db_run(&store->db, error,
                "INSERT INTO stream(definition, deployment, category, type, topic)"
                " SELECT id, ?2, coalesce(?3, ''), ?4, coalesce(?5, '') FROM definition"
                " WHERE name=?1 ON CONFLICT DO NOTHING",
                "titnt", job->handler, deployment, job->category, (int)job->type,
                stream_topic(job)))
        return NULL;
    CRASH_POINT("stream_made");
    /* In this transaction the number moves once; a second change reads the tables again. */
    if (store->meta.catalog == store->stored.catalog)
        store->meta.catalog++;
    store->catalog.version = 0;
    if (!catalog_refresh(store, error))
        return NULL;
    stream = catalog_find(&store->catalog, job, deployment);
    if (!stream)
        error_set(error, ERROR_DAMAGED,
                  "store \"%s\": damaged: the definition \"%s\" cannot be read", store->db.name,
                  job->handler);
    return stream;
}
