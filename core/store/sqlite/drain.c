/* drain.c - executors as operators see them: listed, told to take nothing more (rules §11). */
#include "base/crash_point.h"
#include "base/json.h"
#include "base/text.h"
#include "store/sqlite/census.h"
#include "store/sqlite/operation.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the list ---- */

static bool executor_put_range(json_t *object, const struct acquire *acquire) {
    int64_t min = acquire->priority_min, max = acquire->priority_max;
    return json_put(object, "priority_min", min == INT64_MIN ? NULL : json_integer(min)) &&
           json_put(object, "priority_max", max == INT64_MAX ? NULL : json_integer(max)) &&
           json_put(object, "categories", json_incref((json_t *)(uintptr_t)acquire->categories)) &&
           json_put(object, "deployment_aware", json_boolean(acquire->deployment_aware));
}

/* What it holds is running, or waits in its memory for a free worker. */
static json_t *executor_uptime(const struct citizen *citizen, time_ms now) {
    bool runs = citizen->standing != STANDING_GONE && now > citizen->started;
    return runs ? json_integer((now - citizen->started) / 1000) : NULL;
}

static json_t *executor_to_json(const struct store *store, const struct citizen *citizen,
                                time_ms now) {
    int64_t running = store->path ? (int64_t)citizen->running.count : citizen->locked;
    int64_t waiting = citizen->locked > running ? citizen->locked - running : 0;
    json_t *object = json_object();
    if (json_put(object, "id", json_integer(citizen->id)) &&
        json_put_text(object, "name", citizen->name) &&
        json_put_text(object, "state", standing_name(citizen->standing)) &&
        json_put(object, "pid", citizen->pid ? json_integer(citizen->pid) : NULL) &&
        json_put_text(object, "version", citizen->version) &&
        json_put_time(object, "started", citizen->started) &&
        json_put(object, "uptime", executor_uptime(citizen, now)) &&
        json_put_time(object, "seen", citizen->seen) &&
        json_put_time(object, "lease", citizen->lease) &&
        executor_put_range(object, &citizen->acquire) &&
        json_put(object, "workers", citizen->workers ? json_integer(citizen->workers) : NULL) &&
        json_put(object, "handlers",
                 citizen->knows_handlers ? json_integer((json_int_t)citizen->named.count) : NULL) &&
        json_put(object, "running", json_integer(running)) &&
        json_put(object, "waiting", json_integer(waiting)) &&
        json_put(object, "locked", json_integer(citizen->locked)))
        return object;
    json_decref(object);
    return NULL;
}

json_t *census_to_json(const struct census *census, const struct store *store, time_ms now) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < census->count; i++)
        if (json_array_append_new(list, executor_to_json(store, &census->list[i], now)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *store_executors(struct store *store, bool all, time_ms now, struct error *error) {
    bool own = false;
    struct census census;
    json_t *list = NULL;
    if (!look_begin(store, &own, error))
        return NULL;
    if (census_take(&census, store, all, now, error) &&
        !(list = census_to_json(&census, store, now)))
        error_set(error, ERROR_FAILED, "store \"%s\": out of memory", store->db.name);
    census_clear(&census);
    look_end(store, own);
    return list;
}

/* ---- draining ---- */

static bool drain_is(const struct citizen *citizen, const char *who) {
    char *end = NULL;
    long long id = strtoll(who, &end, 10);
    return citizen->standing != STANDING_GONE &&
           (strcmp(citizen->name, who) == 0 || (*who && !*end && citizen->id == id));
}

static bool drain_unknown(const struct census *census, const char *who, struct error *error) {
    struct text known = {0};
    for (size_t i = 0; i < census->count; i++)
        if (census->list[i].standing != STANDING_GONE)
            text_add(&known, "%s%s/%lld", known.size ? ", " : "", census->list[i].name,
                     (long long)census->list[i].id);
    if (known.size)
        error_set(error, ERROR_NOT_FOUND, "no executor \"%.255s\" runs (known: %s)", who,
                  known.data);
    else
        error_set(error, ERROR_NOT_FOUND, "no executor \"%.255s\" runs (there is none)", who);
    text_clear(&known);
    return false;
}

static bool drain_one(struct store *store, const struct citizen *citizen, bool draining,
                      time_ms now, struct error *error) {
    char entity[64];
    snprintf(entity, sizeof entity, "executor %lld", (long long)citizen->id);
    return db_run(&store->db, error, "UPDATE executor SET draining=?2 WHERE id=?1", "in",
                  citizen->id, (int)draining) &&
           CRASH_POINT("drain_marked") &&
           operation_write(store, draining ? "drain" : "resume", entity, 1, NULL, citizen->name,
                           now, error);
}

static bool drain_all(struct store *store, const struct census *census, const char *who,
                      bool draining, size_t *touched, time_ms now, struct error *error) {
    for (size_t i = 0; i < census->count; i++)
        if (drain_is(&census->list[i], who)) {
            if (!drain_one(store, &census->list[i], draining, now, error))
                return false;
            ++*touched;
        }
    if (!*touched)
        return drain_unknown(census, who, error);
    store->meta.executors++;
    store->wake.everybody = true;
    return peers_refresh(store, store->meta.executors, error);
}

bool store_drain(struct store *store, const char *who, bool draining, size_t *touched, time_ms now,
                 struct error *error) {
    bool own = false;
    struct census census = {0};
    *touched = 0;
    if (!unit_begin(store, &own, error))
        return false;
    bool done = census_take(&census, store, false, now, error) &&
                drain_all(store, &census, who, draining, touched, now, error);
    census_clear(&census);
    return unit_end(store, own, done, error);
}

bool store_draining(const struct store *store) {
    return store->self.draining;
}
