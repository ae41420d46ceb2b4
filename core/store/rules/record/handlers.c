/* handlers.c - which handlers each executor serves, and one incident for every handler with ready
 * jobs that no live executor serves: such jobs are left alone (rules §13). */
#include "base/json.h"
#include "store/rules/record/incident.h"
#include "store/rules/record/tell.h"
#include <stdio.h>
#include <stdlib.h>

/* Ends the incidents that said no executor serves the handlers that this one serves from now on. */
static bool handlers_found(struct store *store, const char *settings, time_ms now,
                           struct error *error) {
    return db_run(&store->db, error, store->engine->sql->served, "tint", settings, now,
                  (int)INCIDENT_RESOLVED, INCIDENT_MISSING_HANDLER);
}

bool store_publish(struct store *store, const json_t *settings, time_ms now, struct error *error) {
    bool own = false;
    if (!store->self.id)
        return error_set(error, ERROR_CONFLICT, "store \"%s\": not joined", store->db.name);
    json_t *profile = json_copy(json_unchanged(settings));
    bool fine = profile && (!store->deployed ||
                            json_put(profile, "deployment", json_integer(store->deployed)));
    char *text = fine ? json_dumps(profile, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(profile);
    if (!text)
        return db_no_memory(&store->db, error);
    bool done =
        unit_begin(store, STORE_TURN, &own, error) &&
        db_run(&store->db, error, store->engine->sql->publish, "it", store->self.id, text) &&
        handlers_found(store, text, now, error);
    free(text);
    store->meta.executors++;
    store->ring.everybody = true; /* an older folder may count from now on */
    return unit_end(store, own, done, error);
}

int64_t store_executors_number(const struct store *store) {
    return store->meta.executors;
}

/* An executor that has not said yet what it serves may serve anything. No handler is missing for a
 * process: who has its key has all of it, and the gap watch names the keys that nobody has. Nor is
 * one for a topic, for which workers outside may ask. */
static bool handlers_served(const struct store *store, const struct acquire *serves,
                            const struct catalog_definition *definition) {
    const char *name = definition->name;
    if (definition->process || job_topic(name) || !serves->handlers ||
        definitions_find(serves->handlers, name))
        return true;
    for (size_t i = 0; i < store->peers.count; i++) {
        const struct peer *peer = &store->peers.list[i];
        if (peer->state == EXECUTOR_LIVE && !peer->listens &&
            (!peer->handlers || json_object_get(peer->handlers, name)))
            return true;
    }
    return false;
}

/* When this store first saw that jobs of the definition wait in vain; `now` if it never did. */
static struct unserved *handlers_seen(struct store *store, int64_t definition, time_ms now) {
    struct unserved *list = store->unserved;
    for (size_t i = 0; i < store->unserved_count; i++)
        if (list[i].definition == definition)
            return &list[i];
    list = realloc(list, (store->unserved_count + 1) * sizeof *list);
    if (!list)
        return NULL;
    store->unserved = list;
    list[store->unserved_count] = (struct unserved){.definition = definition, .since = now};
    return &list[store->unserved_count++];
}

static bool handlers_report(struct store *store, const struct catalog_definition *definition,
                            time_ms now, struct error *error) {
    char message[JOB_NAME_MAX + 64];
    snprintf(message, sizeof message, "no executor serves handler \"%s\"", definition->name);
    int64_t id = 0;
    if (db_value(&store->db, error, &id,
                 "INSERT INTO incident(type, definition, message, created)"
                 " VALUES(?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING RETURNING id",
                 "titi", INCIDENT_MISSING_HANDLER, definition->id, message, now) == FAILED)
        return false;
    return !id || tell_incident(store, id, now, error);
}

/* YES: a job of the stream is ready. */
static enum answer handlers_wait(struct store *store, int64_t stream, struct error *error) {
    int64_t one = 0;
    return db_value(&store->db, error, &one, "SELECT 1 FROM ready WHERE stream=?1 LIMIT 1", "i",
                    stream);
}

static bool handlers_missed(struct store *store, const struct catalog_definition *definition,
                            time_ms now, time_ms grace, time_ms *next, struct error *error) {
    struct unserved *seen = handlers_seen(store, definition->id, now);
    if (!seen)
        return db_no_memory(&store->db, error);
    seen->look = store->looks;
    if (now < seen->since) /* the clock was set back */
        seen->since = now;
    if (now - seen->since >= grace)
        return handlers_report(store, definition, now, error);
    if (seen->since + grace < *next)
        *next = seen->since + grace;
    return true;
}

/* The definitions that were missing at this look, as a JSON array in text. NULL: no memory. */
static char *handlers_kept(struct store *store) {
    json_t *ids = json_array();
    size_t kept = 0;
    for (size_t i = 0; i < store->unserved_count; i++) {
        struct unserved *seen = &store->unserved[i];
        if (seen->look != store->looks)
            continue;
        store->unserved[kept++] = *seen;
        json_array_append_new(ids, json_integer(seen->definition));
    }
    store->unserved_count = kept;
    char *text = ids ? json_dumps(ids, JSON_COMPACT) : NULL;
    json_decref(ids);
    return text;
}

/* What is served again, or waits no longer, is forgotten, its incident ended. */
static bool handlers_forget(struct store *store, time_ms now, struct error *error) {
    char *kept = handlers_kept(store);
    bool done = kept ? db_run(&store->db, error, store->engine->sql->unserved, "tint", kept, now,
                              (int)INCIDENT_RESOLVED, INCIDENT_MISSING_HANDLER)
                     : db_no_memory(&store->db, error);
    free(kept);
    return done;
}

bool store_missing(struct store *store, const struct acquire *serves, time_ms now, time_ms grace,
                   time_ms *next, struct error *error) {
    bool own = false, done = true;
    *next = TIME_NEVER;
    if (!unit_begin(store, STORE_TURN, &own, error))
        return false;
    store->looks++;
    for (size_t i = 0; done && i < store->catalog.stream_count; i++) {
        const struct catalog_stream *stream = &store->catalog.streams[i];
        if (handlers_served(store, serves, stream->definition))
            continue;
        enum answer waits = handlers_wait(store, stream->id, error);
        done = waits != FAILED &&
               (!waits || handlers_missed(store, stream->definition, now, grace, next, error));
    }
    return unit_end(store, own, done && handlers_forget(store, now, error), error);
}

bool store_misses(const struct store *store, const struct acquire *serves) {
    for (size_t i = 0; i < store->catalog.stream_count; i++)
        if (!handlers_served(store, serves, store->catalog.streams[i].definition))
            return true;
    return false;
}
