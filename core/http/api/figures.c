#include "http/api/figures.h"
#include "base/thread.h"
#include "job/store_url.h"
#include <stdlib.h>
#include <sys/stat.h>

enum { FRESH = 1000 }; /* ms */

struct figures {
    const struct durations *durations;
    struct request_metrics *requests;
    struct mutex mutex; /* guards what follows */
    json_t *stats;
    time_ms asked; /* monotonic */
};

struct figures *figures_new(const struct durations *durations, struct request_metrics *requests) {
    struct figures *figures = calloc(1, sizeof *figures);
    if (!figures)
        return NULL;
    figures->durations = durations;
    figures->requests = requests;
    mutex_init(&figures->mutex);
    return figures;
}

void figures_free(struct figures *figures) {
    if (!figures)
        return;
    json_decref(figures->stats);
    mutex_free(&figures->mutex);
    free(figures);
}

/* Under the mutex: who asks at the same time waits for one answer. */
static bool stats_ask(struct figures *figures, struct engine *engine, struct error *error) {
    time_ms now = clock_monotonic();
    if (figures->stats && now - figures->asked < FRESH)
        return true;
    json_t *stats = engine_ask(engine, ASK_STATS, NULL, error);
    if (!stats)
        return false;
    json_decref(figures->stats);
    figures->stats = stats;
    figures->asked = now;
    return true;
}

/* 0: it is on a server, or cannot be looked at. */
static int64_t database_size(struct engine *engine) {
    const char *path = engine_path(engine);
    struct stat file;
    return path && !store_url_server(path) && stat(path, &file) == 0 ? (int64_t)file.st_size : 0;
}

bool figures_write(struct figures *figures, struct engine *engine, struct text *out,
                   enum metrics_form form, struct error *error) {
    mutex_lock(&figures->mutex);
    bool done = stats_ask(figures, engine, error);
    const struct metrics_source source = {figures->stats, figures->durations, figures->requests,
                                          database_size(engine)};
    if (done)
        openmetrics_write(out, &source, form);
    mutex_unlock(&figures->mutex);
    return done;
}
