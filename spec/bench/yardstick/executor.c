#include "executor.h"
#include "database.h"
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TURN_MAX = 1000, HAND_MAX = 64, HOOK_EVERY = 10000 };

/* Jobs on their way to a worker or back. */
struct batch {
    struct batch *next;
    int count;
    struct job jobs[];
};

struct list {
    void *first, **last; /* of structs that begin with their `next` */
};

/* What the threads share: one mutex, taken once for many jobs. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t for_database = PTHREAD_COND_INITIALIZER;
static pthread_cond_t for_workers = PTHREAD_COND_INITIALIZER;
static pthread_cond_t for_main = PTHREAD_COND_INITIALIZER;
static struct list requests, todo, done;
static int todo_count;         /* batches */
static int waiting_workers;    /* for a batch */
static int64_t ready, running; /* rows that nobody has; jobs that the workers have */
static int64_t ran, turns;     /* runs; transactions */
static bool database_waits, held, ending;
static unsigned char *seen; /* by id */

static struct executor_options asked;
static pthread_t database, workers[WORKERS_MAX];

static bool sampling;
static int64_t sample_began;
static sem_t sample_ran;

int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- lists ---- */

static void list_add(struct list *list, void *entry) {
    if (!list->first)
        list->last = &list->first;
    *(void **)entry = NULL;
    *list->last = entry;
    list->last = entry;
}

static void *list_take_all(struct list *list) {
    void *first = list->first;
    list->first = NULL;
    return first;
}

static void *list_take(struct list *list) {
    void *first = list->first;
    if (first)
        list->first = *(void **)first;
    return first;
}

/* ---- the database's thread ---- */

struct turn {
    struct request *requests;
    struct batch *done;
    bool acquires;
};

/* Waits for something to do. False: all is over. */
static bool turn_begin(struct turn *turn) {
    pthread_mutex_lock(&mutex);
    while (!requests.first && !done.first && (held || todo_count >= asked.workers || !ready)) {
        bool idle = !running && !ready;
        if (idle && ending)
            break;
        if (idle)
            pthread_cond_broadcast(&for_main);
        database_waits = true;
        pthread_cond_wait(&for_database, &mutex);
        database_waits = false;
    }
    turn->requests = list_take_all(&requests);
    turn->done = list_take_all(&done);
    turn->acquires = !held && todo_count < 2 * asked.workers;
    bool over = ending && !turn->requests && !turn->done && !running && !ready;
    pthread_mutex_unlock(&mutex);
    return !over;
}

/* Equal shares for the workers; *count of them. */
static struct list batches_make(const struct job *jobs, int job_count, int *count) {
    struct list list = {0};
    int each = (job_count + asked.workers - 1) / asked.workers;
    each = each > HAND_MAX ? HAND_MAX : each;
    for (int at = 0; at < job_count; at += each, ++*count) {
        int size = job_count - at < each ? job_count - at : each;
        struct batch *batch = malloc(sizeof *batch + (size_t)size * sizeof *jobs);
        batch->count = size;
        memcpy(batch->jobs, jobs + at, (size_t)size * sizeof *jobs);
        list_add(&list, batch);
    }
    return list;
}

static void hand_out(struct list *batches, int count, int inserted, int acquired, int deleted) {
    pthread_mutex_lock(&mutex);
    ready += inserted - acquired;
    running += acquired - deleted;
    turns++;
    for (struct batch *batch; (batch = list_take(batches));)
        list_add(&todo, batch);
    todo_count += count;
    if (count > 0 && waiting_workers > 0)
        count > 1 ? pthread_cond_broadcast(&for_workers) : pthread_cond_signal(&for_workers);
    pthread_mutex_unlock(&mutex);
}

/* The producers' memory is their own again once they are told. */
static void tell(struct request *request) {
    for (struct request *next; request; request = next) {
        next = request->next;
        sem_post(&request->synced);
    }
}

static int insert_all(const struct request *request) {
    int count = 0;
    for (; request; request = request->next)
        for (int i = 0; i < request->count; i++, count++)
            database_insert(asked.payload, asked.payload_size);
    return count;
}

static int delete_all(const struct batch *batch) {
    int count = 0;
    for (; batch; batch = batch->next)
        for (int i = 0; i < batch->count; i++, count++)
            database_delete(batch->jobs[i].id);
    return count;
}

static void *database_run(void *arg) {
    (void)arg;
    struct job *jobs = malloc(TURN_MAX * sizeof *jobs);
    struct turn turn;
    while (turn_begin(&turn)) {
        int count = 0;
        database_begin();
        int deleted = delete_all(turn.done), inserted = insert_all(turn.requests);
        int acquired = turn.acquires ? database_acquire(jobs, TURN_MAX) : 0;
        database_commit();
        struct list batches = batches_make(jobs, acquired, &count);
        hand_out(&batches, count, inserted, acquired, deleted);
        tell(turn.requests);
        for (struct batch *next; turn.done; turn.done = next) {
            next = turn.done->next;
            free(turn.done);
        }
    }
    pthread_mutex_lock(&mutex);
    pthread_cond_broadcast(&for_workers);
    pthread_mutex_unlock(&mutex);
    free(jobs);
    return NULL;
}

/* ---- workers ---- */

struct memory {
    size_t used, limit;
};

static void *allocate(void *arg, void *block, size_t before, size_t size) {
    struct memory *memory = arg;
    before = block ? before : 0;
    if (size == 0) {
        memory->used -= before;
        free(block);
        return NULL;
    }
    if (size > before && memory->used + (size - before) > memory->limit)
        return NULL;
    void *new = realloc(block, size);
    if (new)
        memory->used += size - before;
    return new;
}

static void hook(lua_State *L, lua_Debug *debug) {
    (void)L;
    (void)debug;
}

static lua_State *lua_new(struct memory *memory) {
    lua_State *L = lua_newstate(allocate, memory);
    if (!L)
        die("lua", "out of memory");
    luaL_openlibs(L);
    if (luaL_dostring(L, "return function(job) return job.id end") != LUA_OK)
        die("lua", lua_tostring(L, -1));
    lua_sethook(L, hook, LUA_MASKCOUNT, HOOK_EVERY);
    return L;
}

static void handle(lua_State *L, const struct job *job) {
    lua_pushvalue(L, 1);
    lua_createtable(L, 0, 4);
    lua_pushinteger(L, job->id);
    lua_setfield(L, -2, "id");
    lua_pushinteger(L, job->priority);
    lua_setfield(L, -2, "priority");
    lua_pushinteger(L, job->retries);
    lua_setfield(L, -2, "retries");
    lua_pushlstring(L, job->payload, (size_t)job->size);
    lua_setfield(L, -2, "payload");
    if (lua_pcall(L, 1, 1, 0) != LUA_OK || lua_tointeger(L, -1) != job->id)
        die("handler", lua_tostring(L, -1));
    lua_settop(L, 1);
    free(job->payload);
}

/* NULL: all is over. */
static struct batch *worker_take(void) {
    pthread_mutex_lock(&mutex);
    while (!todo.first && (!ending || running || ready || requests.first)) {
        waiting_workers++;
        pthread_cond_wait(&for_workers, &mutex);
        waiting_workers--;
    }
    struct batch *batch = list_take(&todo);
    todo_count -= batch != NULL;
    if (batch && database_waits && todo_count < asked.workers)
        pthread_cond_signal(&for_database);
    pthread_mutex_unlock(&mutex);
    return batch;
}

static void worker_give(struct batch *batch) {
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < batch->count; i++) {
        int64_t id = batch->jobs[i].id;
        if (id >= asked.ids || seen[id])
            die("check", "a job ran twice");
        seen[id] = 1;
    }
    ran += batch->count;
    list_add(&done, batch);
    if (database_waits)
        pthread_cond_signal(&for_database);
    pthread_mutex_unlock(&mutex);
}

static void *worker_run(void *arg) {
    struct memory memory = {0, (size_t)256 << 20};
    lua_State *L = lua_new(&memory);
    (void)arg;
    for (struct batch *batch; (batch = worker_take());) {
        if (sampling)
            sample_began = now_ns();
        for (int i = 0; i < batch->count; i++)
            handle(L, &batch->jobs[i]);
        worker_give(batch);
        if (sampling)
            sem_post(&sample_ran);
    }
    lua_close(L);
    return NULL;
}

/* ---- for who uses it ---- */

void executor_create(struct request *request, int count) {
    request->count = count;
    pthread_mutex_lock(&mutex);
    list_add(&requests, request);
    if (database_waits)
        pthread_cond_signal(&for_database);
    pthread_mutex_unlock(&mutex);
    while (sem_wait(&request->synced) != 0)
        ;
}

void executor_await(void) {
    pthread_mutex_lock(&mutex);
    while (running || ready || requests.first || done.first)
        pthread_cond_wait(&for_main, &mutex);
    pthread_mutex_unlock(&mutex);
}

void executor_go(void) {
    pthread_mutex_lock(&mutex);
    held = false;
    pthread_cond_signal(&for_database);
    pthread_mutex_unlock(&mutex);
}

void executor_start(const struct executor_options *options) {
    asked = *options;
    held = true;
    seen = calloc((size_t)asked.ids, 1);
    sem_init(&sample_ran, 0, 0);
    pthread_create(&database, NULL, database_run, NULL);
    for (int i = 0; i < asked.workers; i++)
        pthread_create(&workers[i], NULL, worker_run, NULL);
}

void executor_end(void) {
    pthread_mutex_lock(&mutex);
    ending = true;
    pthread_cond_broadcast(&for_database);
    pthread_mutex_unlock(&mutex);
    pthread_join(database, NULL);
    for (int i = 0; i < asked.workers; i++)
        pthread_join(workers[i], NULL);
    free(seen);
}

int64_t executor_runs(void) {
    return ran;
}

int64_t executor_turns(void) {
    return turns;
}

void executor_sample(void) {
    pthread_mutex_lock(&mutex);
    sampling = true;
    pthread_mutex_unlock(&mutex);
}

int64_t executor_sampled(void) {
    while (sem_wait(&sample_ran) != 0)
        ;
    return sample_began;
}
