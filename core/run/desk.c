#include "run/desk.h"
#include "base/instant.h"
#include "run/thread.h"
#include <stdlib.h>

struct desk {
    const char *url;
    const struct settings *settings;
    struct clock *clock;
    struct notes *notes;
    struct mutex mutex;   /* guards the connection: one question at a time */
    struct store *reader; /* NULL until somebody asks */
};

struct desk *desk_new(const char *store_url, const struct settings *settings, struct clock *clock,
                      struct notes *notes) {
    struct desk *desk = calloc(1, sizeof *desk);
    if (!desk)
        return NULL;
    desk->url = store_url;
    desk->settings = settings;
    desk->clock = clock;
    desk->notes = notes;
    mutex_init(&desk->mutex);
    return desk;
}

void desk_free(struct desk *desk) {
    if (!desk)
        return;
    store_close(desk->reader);
    mutex_free(&desk->mutex);
    free(desk);
}

/* The connection, with the mutex held; NULL: error, and the mutex is free again. */
static struct store *open_reader(struct desk *desk, struct error *error) {
    mutex_lock(&desk->mutex);
    if (!desk->reader)
        desk->reader = store_open(desk->url, STORE_READ, desk->settings, error);
    if (!desk->reader)
        mutex_unlock(&desk->mutex);
    return desk->reader;
}

static int64_t next_id(void *arg, struct error *error) {
    struct desk *desk = arg;
    return notes_next_id(desk->notes, error);
}

static int knows(void *arg, const char *handler, struct error *error) {
    struct desk *desk = arg;
    struct store *reader = open_reader(desk, error);
    if (!reader)
        return -1;
    int known = store_knows(reader, handler, NULL, error);
    mutex_unlock(&desk->mutex);
    return known;
}

static int overridden(void *arg, const char *handler, struct error *error) {
    struct desk *desk = arg;
    struct store *reader = open_reader(desk, error);
    if (!reader)
        return -1;
    int found = store_overridden(reader, handler, error);
    mutex_unlock(&desk->mutex);
    return found;
}

static bool extend(void *arg, const struct job *job, time_ms until, struct error *error) {
    struct desk *desk = arg;
    return notes_extend(desk->notes, job->id, job->token, until, error);
}

static bool progress(void *arg, const struct job *job, double fraction, const char *text,
                     struct error *error) {
    struct desk *desk = arg;
    return notes_progress(desk->notes, job->id, fraction, text, error);
}

/* Cancelled, deleted, suspended or taken by somebody else: what it does can no longer count. */
static bool cancelled(void *arg, const struct job *job) {
    struct desk *desk = arg;
    struct error error;
    struct store *reader = open_reader(desk, &error);
    if (!reader)
        return false;
    int holds = store_holds(reader, job->id, job->token, &error);
    mutex_unlock(&desk->mutex);
    return holds == 0;
}

static json_t *query(void *arg, const char *kind, const json_t *question, struct error *error) {
    struct desk *desk = arg;
    struct store *reader = open_reader(desk, error);
    if (!reader)
        return NULL;
    time_ms now = clock_now(desk->clock);
    const struct zone *zone = zone_find(desk->settings->zone, error);
    json_t *rows = NULL;
    if (zone && instants_settle((json_t *)(uintptr_t)question, zone, now, error))
        rows = store_ask(reader, kind, question, now, error);
    mutex_unlock(&desk->mutex);
    return rows;
}

struct script_host desk_host(struct desk *desk) {
    struct script_host host = {.arg = desk,
                               .next_id = next_id,
                               .knows = knows,
                               .overridden = overridden,
                               .extend = extend,
                               .progress = progress,
                               .cancelled = cancelled,
                               .query = query};
    return host;
}
