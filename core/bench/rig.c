#include "bench/rig.h"
#include "base/json.h"
#include "bench/server.h"
#include "script/folder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHUNK = 1000, STALL = 60000 }; /* jobs a call; ms without an end */

void rig_pause(int64_t microseconds) {
    nanosleep(&(struct timespec){microseconds / 1000000, microseconds % 1000000 * 1000}, NULL);
}

void rig_tell(const struct rig *rig, const char *doing, int64_t done, int64_t of) {
    const struct bench_options *options = rig->bench->options;
    if (options->tell)
        options->tell(options->arg, doing, done, of);
}

const char *rig_history(const struct bench_options *options) {
    static const char *const levels[] = {"none", "failures", "full"};
    return levels[options->history];
}

/* ---- the store ---- */

static json_t *payload_make(int64_t size) {
    if (size < 2)
        return size == 1 ? json_integer(1) : json_null();
    char *text = malloc((size_t)size);
    json_t *payload = NULL;
    if (text) {
        memset(text, 'x', (size_t)size);
        payload = json_stringn(text, (size_t)size - 2); /* the quotes are two */
    }
    free(text);
    return payload;
}

/* malloc'ed; NULL: no memory. */
static char *store_url(const struct bench *bench) {
    char path[PATH_MAX], url[PATH_MAX + 8];
    if (bench->options->store)
        return server_url(bench->options->store);
    place_file(&bench->place, "bench.db", path);
    snprintf(url, sizeof url, "sqlite:%s", path);
    return strdup(url);
}

/* Nothing of the user's own settings: figures are to be compared. */
static bool settings_make(struct rig *rig, struct error *error) {
    struct settings *settings = &rig->settings;
    char *url = store_url(rig->bench);
    bool fine = settings_init(settings, error) && (url || error_no_memory(error)) &&
                settings_apply_text(settings, ORIGIN_FLAG, "store", url, error);
    free(url);
    return fine && settings_apply_text(settings, ORIGIN_FLAG, "history",
                                       rig_history(rig->bench->options), error);
}

bool rig_engine(struct rig *rig, struct error *error) {
    struct engine_options options = {.settings = &rig->settings,
                                     .mode = STORE_CREATE,
                                     .clock = clock_system(),
                                     .folder = rig->folder};
    if (!rig->engine)
        rig->engine = engine_open(&options, error);
    return rig->engine != NULL;
}

struct engine *rig_connect(const struct rig *rig, struct error *error) {
    struct engine_options options = {
        .settings = &rig->settings, .mode = STORE_WRITE, .clock = clock_system()};
    return engine_open(&options, error);
}

void rig_release(struct rig *rig) {
    engine_close(rig->engine);
    rig->engine = NULL;
}

/* A store on a server that was there before is somebody's: it is neither used nor dropped. */
static bool schema_make(struct rig *rig, struct error *error) {
    rig->dropped = rig->bench->options->store && server_make(&rig->settings, error);
    return rig->dropped || !rig->bench->options->store;
}

bool rig_open(struct rig *rig, struct bench *bench, int64_t jobs, struct error *error) {
    const char *directory = bench->place.path;
    *rig = (struct rig){.bench = bench};
    if (!settings_make(rig, error) || !(rig->folder = folder_read(&directory, 1, error)) ||
        !schema_make(rig, error))
        return false;
    rig->room = jobs * 2 + 100000; /* ids are handed out in blocks */
    rig->seen = calloc((size_t)rig->room, sizeof *rig->seen);
    rig->payload = payload_make(bench->options->payload);
    if (!rig->seen || !rig->payload)
        return error_no_memory(error);
    if (!rig_engine(rig, error))
        return false;
    meter_server(server_process(engine_store(rig->engine)));
    return true;
}

void rig_close(struct rig *rig) {
    if (!rig->bench)
        return;
    executor_free(rig->executor);
    rig_release(rig);
    folder_release(rig->folder);
    if (rig->dropped)
        server_drop(&rig->settings, NULL);
    settings_clear(&rig->settings);
    json_decref(rig->payload);
    free(rig->seen);
    place_empty(&rig->bench->place);
    *rig = (struct rig){0};
}

/* ---- jobs ---- */

int rig_priority(const struct rig *rig, uint32_t *random) {
    *random = *random * 1103515245u + 12345u;
    return (int)((*random >> 16) % (uint32_t)rig->bench->options->priorities);
}

json_t *rig_spec(const struct rig *rig, const char *handler, json_t *payload, int priority) {
    json_t *spec = json_object();
    (void)rig;
    return json_kept(spec, spec && json_put_text(spec, "handler", handler) &&
                               json_put(spec, "priority", json_integer(priority)) &&
                               (!payload || json_is_null(payload) ||
                                json_put(spec, "payload", json_deep_copy(payload))));
}

/* As a program would keep them that creates many: only the priorities change. */
static size_t specs_make(const struct rig *rig, const char *handler, json_t *payload, int64_t count,
                         struct engine_spec *specs) {
    size_t made = 0;
    for (json_t *spec = NULL; made < CHUNK && made < (size_t)count; made++) {
        if (!(spec = rig_spec(rig, handler, payload, 0)))
            break;
        specs[made] = (struct engine_spec){.object = spec};
    }
    return made;
}

static bool chunk(struct rig *rig, struct engine_spec *specs, size_t count, struct error *error) {
    struct created created[CHUNK];
    for (size_t i = 0; i < count; i++)
        json_integer_set(json_object_get(specs[i].object, "priority"),
                         rig_priority(rig, &rig->bench->random));
    return engine_enqueue(rig->engine, specs, count, created, NULL, error);
}

bool rig_feed(struct rig *rig, const char *handler, json_t *payload, int64_t count,
              struct error *error) {
    struct engine_spec specs[CHUNK];
    size_t made = specs_make(rig, handler, payload, count, specs), size = 0;
    bool fine = made == CHUNK || made == (size_t)count || error_no_memory(error);
    for (int64_t done = 0; fine && done < count; done += (int64_t)size) {
        size = count - done < CHUNK ? (size_t)(count - done) : CHUNK;
        rig_tell(rig, "enqueueing in bulk", done, count);
        fine = place_goes_on(error) && chunk(rig, specs, size, error);
    }
    while (made > 0)
        json_decref(specs[--made].object);
    return fine;
}

/* ---- running ---- */

/* On a worker's thread. */
static void begins(void *arg, const struct job *job) {
    struct rig *rig = arg;
    int64_t number = atomic_fetch_add_explicit(&rig->begun, 1, memory_order_relaxed);
    if (number == 0)
        atomic_store(&rig->first, clock_monotonic_us());
    if (job->id < rig->room)
        atomic_fetch_add_explicit(&rig->seen[job->id], 1, memory_order_relaxed);
    else
        atomic_fetch_add(&rig->strays, 1);
    if (rig->begins)
        rig->begins(rig->begins_arg, number);
}

bool rig_start(struct rig *rig, int workers, struct error *error) {
    char text[32];
    snprintf(text, sizeof text, "%d", workers);
    if (!settings_apply_text(&rig->settings, ORIGIN_FLAG, "workers", text, error))
        return false;
    struct executor_options executor = {
        .settings = &rig->settings, .interrupts = true, .begins = begins, .begins_arg = rig};
    struct attached_engine_options attached = {
        .settings = &rig->settings, .clock = clock_system(), .folder = rig->folder};
    rig->executor = executor_new(&executor, error);
    rig->attached = rig->executor ? executor_attach(rig->executor, &attached, error) : NULL;
    return rig->attached && executor_start(rig->executor, error);
}

static int64_t ended(struct rig *rig) {
    executor_status(rig->executor, &rig->status);
    return rig->status.done + rig->status.failed + rig->status.stale;
}

bool rig_await(struct rig *rig, const char *doing, int64_t count, struct error *error) {
    int64_t done, last = 0;
    time_ms moved = clock_monotonic();
    while ((done = ended(rig)) < count) {
        if (done > last)
            moved = clock_monotonic();
        last = done;
        if (!place_goes_on(error) || !attached_engine_fine(rig->attached, error))
            return false;
        if (rig->status.failed > rig->failing || rig->status.stale ||
            clock_monotonic() - moved > STALL)
            return error_set(error, ERROR_FAILED,
                             "%s: stuck: %lld of %lld runs have ended, %lld failed, %lld stale",
                             doing, (long long)done, (long long)count,
                             (long long)rig->status.failed, (long long)rig->status.stale);
        rig_tell(rig, doing, done, count);
        rig_pause(1000);
    }
    return true;
}

/* Runs of so many jobs. */
static int64_t runs_of(const struct rig *rig, int64_t jobs) {
    return jobs + rig->failing - rig->dying;
}

static bool ran_once(const struct rig *rig, const char *what, int64_t jobs, struct error *error) {
    int64_t ran = 0, again = 0;
    for (int64_t id = 0; id < rig->room; id++) {
        ran += rig->seen[id] > 0;
        again += rig->seen[id] > 1;
    }
    if (ran == jobs && again == rig->failing - rig->dying && rig->begun == runs_of(rig, jobs) &&
        rig->strays == 0)
        return true;
    return error_set(error, ERROR_FAILED,
                     "%s: %lld of %lld jobs ran, %lld of them more than once (expected %lld)", what,
                     (long long)ran, (long long)jobs, (long long)again,
                     (long long)(rig->failing - rig->dying));
}

static bool nothing_left(struct rig *rig, const char *what, struct error *error) {
    int64_t left = 0;
    if (!rig_engine(rig, error) ||
        !store_jobs_count(engine_store(rig->engine), NULL, clock_now(clock_system()), &left, error))
        return false;
    return left == rig->dying ||
           error_set(error, ERROR_FAILED, "%s: %lld jobs are left in the store (expected %lld)",
                     what, (long long)left, (long long)rig->dying);
}

bool rig_finish(struct rig *rig, const char *what, int64_t jobs, struct error *error) {
    ended(rig);
    executor_free(rig->executor);
    rig->executor = NULL;
    const struct runner_status *status = &rig->status;
    if (status->done != jobs - rig->dying || status->failed != rig->failing || status->stale)
        return error_set(
            error, ERROR_FAILED,
            "%s: %lld jobs succeeded, %lld runs failed, %lld were stale (expected %lld and %lld)",
            what, (long long)status->done, (long long)status->failed, (long long)status->stale,
            (long long)(jobs - rig->dying), (long long)rig->failing);
    return ran_once(rig, what, jobs, error) && nothing_left(rig, what, error);
}

bool rig_drain(struct rig *rig, const char *what, int workers, int64_t jobs, struct meter *used,
               struct error *error) {
    struct meter from = meter_read();
    if (!rig_start(rig, workers, error) || !rig_await(rig, what, runs_of(rig, jobs), error))
        return false;
    from.at = atomic_load(&rig->first);
    *used = meter_since(&from);
    return rig_finish(rig, what, jobs, error);
}
