/* site.h - a pool with one engine for the contracts of the pool: real scripts, no loop. */
#ifndef MOONSHIFT_SPEC_POOL_SITE_H
#define MOONSHIFT_SPEC_POOL_SITE_H

#include "../../store/contract.h"
#include "run/pool/threads.h"

static const char *const handlers[][2] = {
    {"handlers/good.lua", "return function(job) return job.id end"},
    {"handlers/bad.lua", "return function(job) error('no') end"},
    {"handlers/endless.lua",
     "return { timeout = 'PT0.2S', run = function() while true do end end }"},
    {"handlers/patient.lua", "return function() while true do end end"},
    {"handlers/gated.lua", "return function(job)\n"
                           "  while not io.open(job.payload.path) do end\nend"},
    {"handlers/reader.lua", "return { timeout = 'PT0.1S', run = function(job)\n"
                            "  io.open(job.payload.path):close()\nend }"},
};

/* ms until a wait is given up, which no busy machine needs */
enum { LIMIT = 60000 };

struct site {
    struct generations *generations;
    struct pool *pool;
    struct client *client;
    struct mutex mutex; /* guards `rung` */
    struct condition rings;
    bool rung;
};

static inline void wake(void *arg) {
    struct site *site = arg;
    mutex_lock(&site->mutex);
    site->rung = true;
    condition_signal(&site->rings);
    mutex_unlock(&site->mutex);
}

static inline struct folder *folder_of(const char *const files[][2], size_t count,
                                       struct error *error) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{ssss}", "path", files[i][0], "text", files[i][1]));
    struct folder *folder = folder_from_json(list, "spec", 0, error);
    json_decref(list);
    return folder;
}

/* Loaded, or, if it cannot be, as if it had been, with the handler `good`. */
static inline struct generation *generation_of(struct contract *c, const char *const files[][2],
                                               size_t count) {
    struct folder *folder = folder_of(files, count, &c->error);
    struct generation *generation =
        generation_check(folder, NULL, &c->settings, clock_system(), false, &c->error);
    if (!generation && (generation = calloc(1, sizeof *generation))) {
        json_t *list = json_pack("[{ss ss}]", "name", "good", "file", "handlers/good.lua");
        definitions_read(&generation->definitions, list);
        generation->folder = folder_retain(folder);
        json_decref(list);
    }
    folder_release(folder);
    return generation;
}

static inline bool renew(struct contract *c, struct site *site, const char *const files[][2],
                         size_t count) {
    struct generations *before = site->generations;
    site->generations = generations_new(generation_of(c, files, count), before);
    if (site->client)
        client_renew(site->client, site->generations);
    generations_free(before, site->generations);
    return site->generations != NULL;
}

static inline struct client *client_of(struct contract *c, struct site *site) {
    struct client_options options = {.pool = site->pool,
                                     .generations = site->generations,
                                     .settings = &c->settings,
                                     .clock = clock_system(),
                                     .store = c->store,
                                     .wake = wake,
                                     .wake_arg = site};
    return client_new(&options, &c->error);
}

static inline bool site_open(struct contract *c, struct site *site, int workers) {
    struct pool_options options = {.workers_min = 1,
                                   .workers_max = workers,
                                   .queue = 4,
                                   .keep_alive = c->settings.keep_alive,
                                   .farewell = LIMIT,
                                   .grace = 100};
    memset(site, 0, sizeof *site);
    mutex_init(&site->mutex);
    condition_init(&site->rings);
    site->pool = pool_new(&options, &c->error);
    if (!site->pool || !renew(c, site, handlers, sizeof handlers / sizeof *handlers))
        return false;
    site->client = client_of(c, site);
    return site->client != NULL;
}

/* The threads and Lua states that the workers have are those that are counted. */
static inline bool site_counted(const struct pool *pool) {
    int threads = 0, lost = 0, stuck = 0;
    for (int i = 0; i < pool->count; i++) {
        const struct worker *worker = pool->workers[i];
        const bool runs = worker->state == WORKER_IDLE || worker->state == WORKER_BUSY;
        threads += runs && !worker->leaves;
        stuck += worker->stuck;
    }
    for (const struct worker *worker = pool->lost; worker; worker = worker->next)
        lost++;
    return threads == pool->threads && lost == pool->lost_count && stuck == pool->unreplaced;
}

static inline bool site_states(const struct client *client) {
    const struct pool *pool = client->pool;
    int states = threads_lost_slots(client), blocked = 0;
    for (int i = 0; i < pool->count; i++)
        for (const struct lua_slot *slot = pool->workers[i]->lua_slots; slot; slot = slot->next) {
            states += slot->client == client;
            blocked += slot->client == client && slot->retry_at != 0;
        }
    return states == client->lua_slots && blocked == client->blocked;
}

/* True if nothing runs or waits, or comes to within the limit, and all that is counted is there. */
static inline bool site_rests(struct site *site) {
    struct pool *pool = site->pool;
    const struct client *client = site->client;
    bool rests = false;
    time_ms until = clock_monotonic() + LIMIT;
    while (!rests && clock_monotonic() < until) {
        client_tick(site->client);
        mutex_lock(&pool->mutex);
        rests = !pool->busy && !pool->queued && !client->busy && !client->queued &&
                !pool->suspect && client->filled == 0 && client->prompted == 0 &&
                site_counted(pool) && site_states(client);
        mutex_unlock(&pool->mutex);
    }
    return rests;
}

static inline bool site_close(struct site *site) {
    client_stop(site->client, true);
    bool ended = site_rests(site);
    ended = client_free(site->client) && ended;
    ended = pool_free(site->pool) && ended;
    generations_free(site->generations, NULL);
    condition_free(&site->rings);
    mutex_free(&site->mutex);
    return ended;
}

/* Jobs like this one, with the ids `first` to `last`, handed over as items. */
static inline bool submit_like(struct client *client, struct job job, int first, int last) {
    struct job *jobs = NULL, **end = &jobs;
    struct work_item *items;
    for (int id = first; id <= last; id++) {
        job.id = id;
        job.token = 100 + id;
        job.retries = 3;
        job.attempt = 1;
        *end = job_copy(&job);
        end = &(*end)->next;
    }
    if (!work_items_build(jobs, &items))
        return false;
    client_submit(client, items);
    return true;
}

/* Of one handler and lane (0: none). */
static inline bool submit_to(struct client *client, const char *handler, int first, int last,
                             int lane) {
    return submit_like(client, (struct job){.handler = handler, .lane_id = lane}, first, last);
}

static inline bool submit(struct site *site, const char *handler, int first, int last, int lane) {
    return submit_to(site->client, handler, first, last, lane);
}

/* Jobs whose payload names a file of the check's folder. */
static inline bool submit_with(struct contract *c, struct client *client, struct job job,
                               const char *name, int first, int last) {
    char payload[200];
    int size = snprintf(payload, sizeof payload, "{\"path\":\"%s/%s\"}", c->directory, name);
    job.payload = payload;
    job.payload_size = (size_t)size;
    return submit_like(client, job, first, last);
}

/* A job that runs until let_go. */
static inline bool submit_gated(struct contract *c, struct site *site, int id) {
    return submit_with(c, site->client, (struct job){.handler = "gated"}, "open", id, id);
}

static inline bool let_go(struct contract *c) {
    char path[160];
    snprintf(path, sizeof path, "%s/open", c->directory);
    FILE *file = fopen(path, "w");
    return file && fclose(file) == 0;
}

/* The next `count` outcomes; fewer if they take longer than the limit. */
static inline struct outcome *outcomes(struct site *site, int count) {
    struct outcome *list = NULL, **end = &list;
    time_ms until = clock_monotonic() + LIMIT;
    while (count > 0 && clock_monotonic() < until) {
        for (*end = client_outcomes(site->client); *end; end = &(*end)->next)
            count--;
        mutex_lock(&site->mutex);
        if (count > 0 && !site->rung)
            condition_wait_until(&site->rings, &site->mutex, clock_monotonic() + 50);
        site->rung = false;
        mutex_unlock(&site->mutex);
        client_tick(site->client);
    }
    return list;
}

/* So many run and wait, or come to within the limit. */
static inline bool loaded(struct site *site, int running, int waiting) {
    int runs, waits;
    time_ms until = clock_monotonic() + LIMIT;
    do
        client_load(site->client, &runs, &waits);
    while ((runs != running || waits != waiting) && clock_monotonic() < until);
    return runs == running && waits == waiting;
}

/* There is room for so many, or comes to be within the limit: a worker is busy for a moment after
 * its outcome has come. */
static inline bool room_for(struct client *client, int places) {
    time_ms until = clock_monotonic() + LIMIT;
    while (client_room(client).places != places && clock_monotonic() < until)
        continue;
    return client_room(client).places == places;
}

/* One job runs on and so many wait behind it. */
static inline bool busy(struct site *site, int waiting) {
    return submit(site, "patient", 1, 1, 0) && loaded(site, 1, 0) &&
           (!waiting || submit(site, "good", 2, waiting + 1, 0));
}

struct question {
    struct site *site;
    int64_t last;  /* job that has lost its lock */
    int asked;     /* times */
    size_t claims; /* in the question put last */
    bool held;     /* the pool's mutex, while it was put */
    bool fails;
};

/* The first jobs have lost their locks. */
static inline bool first_have_lost(void *arg, struct store_claim *claims, size_t count) {
    struct question *question = arg;
    pthread_mutex_t *mutex = &question->site->pool->mutex.handle;
    bool free = pthread_mutex_trylock(mutex) == 0;
    if (free)
        pthread_mutex_unlock(mutex);
    question->held = !free;
    question->asked++;
    question->claims = count;
    for (size_t i = 0; i < count; i++)
        claims[i].lost = claims[i].job <= question->last && claims[i].token == 100 + claims[i].job;
    return !question->fails;
}

#define OPEN(workers)                                                                              \
    struct site site;                                                                              \
    EXPECT(site_open(c, &site, workers))
#define CLOSE EXPECT(site_close(&site))

#endif
