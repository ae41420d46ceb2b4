#include "engine/job_services.h"
#include "base/json.h"
#include "base/thread.h"
#include "engine/engine_state.h"
#include "job/unit.h"
#include "time/instant.h"
#include <stdlib.h>
#include <string.h>

enum { IDS_MOST = 2048 }; /* reserved at once: the log finds no job behind 4 096 higher ids */

struct job_services {
    struct engine *engine; /* of jobs on its thread; NULL: of jobs on workers */
    const struct settings *settings;
    struct clock *clock;
    struct job_requests *requests;
    struct mutex mutex;   /* guards the connection: one question at a time */
    struct store *reader; /* NULL until the first question */
};

struct job_services *job_services_new(const struct settings *settings, struct clock *clock,
                                      struct job_requests *requests) {
    struct job_services *services = calloc(1, sizeof *services);
    if (!services)
        return NULL;
    services->settings = settings;
    services->clock = clock;
    services->requests = requests;
    mutex_init(&services->mutex);
    return services;
}

struct job_services *job_services_direct(struct engine *engine) {
    struct job_services *services =
        job_services_new(engine->options.settings, engine->options.clock, NULL);
    if (services)
        services->engine = engine;
    return services;
}

void job_services_free(struct job_services *services) {
    if (!services)
        return;
    store_close(services->reader);
    mutex_free(&services->mutex);
    free(services);
}

void job_services_lock(struct job_services *services) {
    mutex_lock(&services->mutex);
}

void job_services_unlock(struct job_services *services) {
    mutex_unlock(&services->mutex);
}

/* ---- questions ---- */

/* The connection for one question; close_reader follows. NULL: error, and none does. */
static struct store *open_reader(struct job_services *services, struct error *error) {
    mutex_lock(&services->mutex);
    if (services->engine)
        return services->engine->store;
    if (!services->reader)
        services->reader =
            store_open(services->settings->store, STORE_READ, services->settings, error);
    if (!services->reader)
        mutex_unlock(&services->mutex);
    return services->reader;
}

static void close_reader(struct job_services *services) {
    mutex_unlock(&services->mutex);
}

static enum answer knows(void *arg, const char *handler, struct error *error) {
    struct job_services *services = arg;
    struct store *reader = open_reader(services, error);
    if (!reader)
        return FAILED;
    enum answer known = store_knows(reader, handler, NULL, error);
    close_reader(services);
    return known;
}

static enum answer overridden(void *arg, const char *handler, struct error *error) {
    struct job_services *services = arg;
    struct store *reader = open_reader(services, error);
    if (!reader)
        return FAILED;
    enum answer found = store_overridden(reader, handler, error);
    close_reader(services);
    return found;
}

/* The job has lost its lock: it was cancelled, deleted, suspended, or taken by another executor. */
static bool cancelled(void *arg, const struct job *job) {
    struct job_services *services = arg;
    struct error error = {0};
    struct store *reader = open_reader(services, &error);
    if (!reader)
        return false;
    enum answer holds = store_holds(reader, job->id, job->token, &error);
    close_reader(services);
    return holds == NO;
}

/* A walk that comes into one more instance takes its lane before it reads the frame. NO: the lane
 * is busy, and the question spares such an instance. */
static enum answer meet(struct engine *engine, const char *kind, const json_t *question,
                        json_t **frame, struct error *error) {
    *frame = NULL;
    if (!engine || !engine->lanes || strcmp(kind, "frame") != 0)
        return YES;
    enum answer met =
        engine->lane_meet(engine, json_int(question, "instance"),
                          json_is_true(json_object_get(question, "unless_busy")), frame, error);
    if (met == FAILED)
        engine->lane_refused = *error;
    if (*frame && turn_of_token(json_int(question, "token"))) { /* another frame is meant */
        json_decref(*frame);
        *frame = NULL;
    }
    return met;
}

static json_t *ask(struct job_services *services, const char *kind, const json_t *question,
                   struct error *error) {
    struct store *reader = open_reader(services, error);
    if (!reader)
        return NULL;
    time_ms now = clock_now(services->clock);
    const struct zone *zone = zone_find(services->settings->zone, error);
    enum ask_kind found = store_ask_find(kind);
    json_t *rows = NULL, *asked = NULL;
    if (found == ASK_KINDS)
        error_set(error, ERROR_INVALID, "unknown kind of question \"%s\"", kind);
    else if (zone && (asked = instants_resolve(question, zone, now, error)))
        rows = store_ask(reader, found, asked, now, error);
    json_decref(asked);
    close_reader(services);
    return rows;
}

/* A question for a version of which an instance begins. */
static bool is_of_version(const char *kind, const json_t *question) {
    return strcmp(kind, "version") == 0 && json_text(question, "key") &&
           !json_object_get(question, "deployment") &&
           json_is_false(json_object_get(question, "text"));
}

/* It is one request, where it can be. *found NULL: it is asked for like anything else. */
static bool version_at_once(struct job_services *services, const json_t *question, json_t **found,
                            struct error *error) {
    struct store_reach reach = {.process = json_text(question, "key"),
                                .number = json_int(question, "number"),
                                .tag = json_text(question, "tag"),
                                .beside = true};
    mutex_lock(&services->mutex);
    enum answer reached = store_reach(services->engine->store, &reach, error);
    mutex_unlock(&services->mutex);
    *found = reached == YES ? json_incref(reach.found) : NULL;
    store_reach_clear(&reach);
    return reached != FAILED;
}

/* The walks of a list ask once for each. NULL: error. */
static json_t *version(struct job_services *services, const char *kind, const json_t *question,
                       struct error *error) {
    json_t *known = services->engine->versions, *found = NULL;
    char *name = known ? json_write(question, NULL) : NULL;
    json_t *before = name ? json_object_get(known, name) : NULL;
    if (before)
        found = json_incref(before);
    else if (version_at_once(services, question, &found, error) && !found)
        found = ask(services, kind, question, error);
    if (found && name)
        json_object_set(known, name, found);
    free(name);
    return found;
}

static json_t *query(void *arg, const char *kind, const json_t *question, struct error *error) {
    struct job_services *services = arg;
    json_t *rows;
    enum answer met = meet(services->engine, kind, question, &rows, error);
    if (met != YES)
        return met == NO ? json_null() : NULL;
    const struct engine *engine = services->engine;
    if (!rows)
        rows = engine && is_of_version(kind, question) ? version(services, kind, question, error)
                                                       : ask(services, kind, question, error);
    bool shown = !rows || !engine || !engine->list ||
                 engine->list_show(engine->list, kind, question, rows) || error_no_memory(error);
    return json_kept(rows, shown);
}

/* ---- writes ---- */

/* A command that needs more than it has reserved reserves twice as many. */
static int ids_wanted(const struct engine *engine) {
    const int least = engine->ids_ahead > ENGINE_IDS ? engine->ids_ahead : ENGINE_IDS;
    const int more = engine->ids_drawn < IDS_MOST / 2 ? 2 * engine->ids_drawn : IDS_MOST;
    return more > least ? more : least;
}

static int64_t direct_id(struct engine *engine, struct error *error) {
    if (engine->ids_left == 0) {
        const int count = ids_wanted(engine);
        engine->next_id = store_reserve_ids(engine->store, count, error);
        if (engine->next_id == 0)
            return 0;
        engine->ids_left = engine->ids_drawn = count;
    }
    engine->ids_left--;
    return engine->next_id++;
}

static int64_t next_id(void *arg, struct error *error) {
    struct job_services *services = arg;
    if (!services->engine)
        return job_requests_next_id(services->requests, error);
    mutex_lock(&services->mutex);
    int64_t id = direct_id(services->engine, error);
    mutex_unlock(&services->mutex);
    return id;
}

static bool extend(void *arg, const struct job *job, time_ms until, struct error *error) {
    struct job_services *services = arg;
    struct engine *engine = services->engine;
    if (!engine)
        return job_requests_extend(services->requests, job->id, job->token, until, error);
    mutex_lock(&services->mutex);
    bool done =
        store_begin(engine->store, STORE_TURN, error) &&
        engine_end(engine, store_extend(engine->store, job->id, job->token, until, error), error);
    mutex_unlock(&services->mutex);
    return done;
}

static bool progress(void *arg, const struct job *job, double fraction, const char *text,
                     struct error *error) {
    struct job_services *services = arg;
    struct engine *engine = services->engine;
    if (!engine)
        return job_requests_progress(services->requests, job->id, fraction, text, error);
    time_ms now = engine_now(engine);
    mutex_lock(&services->mutex);
    bool done =
        store_begin(engine->store, STORE_TURN, error) &&
        engine_end(engine, store_progress(engine->store, job->id, fraction, text, now, error),
                   error);
    mutex_unlock(&services->mutex);
    return done;
}

struct script_host job_services_host(struct job_services *services) {
    struct script_host host = {.arg = services,
                               .next_id = next_id,
                               .knows = knows,
                               .overridden = overridden,
                               .extend = extend,
                               .progress = progress,
                               .cancelled = cancelled,
                               .query = query};
    return host;
}
