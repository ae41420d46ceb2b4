#include "engine/job_requests.h"
#include "base/crash_point.h"
#include "base/text.h"
#include "base/thread.h"
#include <stdlib.h>
#include <string.h>

enum { IDS_AHEAD = 1024, PROGRESS_WAIT = 200, PROGRESS_TEXT_MAX = 1024 };

enum request_stage { REQUEST_WAITS, REQUEST_TAKEN, REQUEST_DONE };

/* The turn that writes progress frees it. An extension lives on its worker's stack. */
struct job_request {
    struct job_request *next;
    int64_t job, token;
    bool extends;
    enum request_stage stage;
    time_ms until; /* of an extension */
    bool refused;  /* the same: `error` says why */
    struct error error;
    double fraction; /* of progress */
    char *text;      /* the same; may be NULL */
};

struct range {
    int64_t next, end; /* empty if equal */
};

struct job_requests {
    struct mutex mutex; /* guards everything below */
    struct condition done;
    void (*wake)(void *arg);
    void *arg;
    struct job_request *list;  /* waiting, oldest first */
    struct job_request *taken; /* in the turn's transaction */
    struct range ids, spare;
    int64_t drawn; /* first id reserved by the open transaction; 0: none */
    bool ids_asked, ids_fresh, closed;
    time_ms due;
};

struct job_requests *job_requests_new(void (*wake)(void *arg), void *arg) {
    struct job_requests *requests = calloc(1, sizeof *requests);
    if (!requests)
        return NULL;
    mutex_init(&requests->mutex);
    condition_init(&requests->done);
    requests->wake = wake;
    requests->arg = arg;
    requests->due = TIME_NEVER;
    return requests;
}

static void request_free(struct job_request *request) {
    free(request->text);
    free(request);
}

/* Extensions belong to their workers, which have ended by now. */
static void list_free(struct job_request *request) {
    while (request) {
        struct job_request *next = request->next;
        if (!request->extends)
            request_free(request);
        request = next;
    }
}

void job_requests_free(struct job_requests *requests) {
    if (!requests)
        return;
    list_free(requests->list);
    list_free(requests->taken);
    condition_free(&requests->done);
    mutex_free(&requests->mutex);
    free(requests);
}

static bool closed(struct error *error) {
    return error_set(error, ERROR_CLOSED, "the executor is stopping");
}

static void append(struct job_request **list, struct job_request *request) {
    while (*list)
        list = &(*list)->next;
    *list = request;
}

/* Something must be written by the monotonic instant `due`. The mutex is held. */
static void request_ask(struct job_requests *requests, time_ms due) {
    if (due >= requests->due)
        return;
    requests->due = due;
    requests->wake(requests->arg);
}

static void ask_for_ids(struct job_requests *requests) {
    if (requests->ids_asked || requests->spare.next != requests->spare.end)
        return;
    requests->ids_asked = true;
    request_ask(requests, 0);
}

int64_t job_requests_next_id(struct job_requests *requests, struct error *error) {
    int64_t id = 0;
    mutex_lock(&requests->mutex);
    while (requests->ids.next == requests->ids.end && !requests->closed) {
        ask_for_ids(requests);
        condition_wait(&requests->done, &requests->mutex);
    }
    if (requests->closed) {
        closed(error);
    } else {
        id = requests->ids.next++;
        if (requests->ids.next == requests->ids.end) {
            requests->ids = requests->spare;
            requests->spare = (struct range){0, 0};
        }
        if (requests->ids.end - requests->ids.next < IDS_AHEAD / 2)
            ask_for_ids(requests);
    }
    mutex_unlock(&requests->mutex);
    return id;
}

static void withdraw(struct job_request **list, struct job_request *request) {
    while (*list && *list != request)
        list = &(*list)->next;
    if (*list)
        *list = request->next;
}

bool job_requests_extend(struct job_requests *requests, int64_t job, int64_t token, time_ms until,
                         struct error *error) {
    struct job_request request = {.job = job, .token = token, .extends = true, .until = until};
    mutex_lock(&requests->mutex);
    append(&requests->list, &request);
    request_ask(requests, 0);
    while (request.stage == REQUEST_TAKEN || (request.stage == REQUEST_WAITS && !requests->closed))
        condition_wait(&requests->done, &requests->mutex);
    if (request.stage == REQUEST_WAITS)
        withdraw(&requests->list, &request);
    mutex_unlock(&requests->mutex);
    if (request.stage == REQUEST_WAITS)
        return closed(error);
    if (request.refused && error)
        *error = request.error;
    return !request.refused;
}

static struct job_request *progress_of(struct job_requests *requests, int64_t job) {
    for (struct job_request *request = requests->list; request; request = request->next)
        if (request->job == job && !request->extends)
            return request;
    struct job_request *request = calloc(1, sizeof *request);
    if (request)
        append(&requests->list, request);
    return request;
}

bool job_requests_progress(struct job_requests *requests, int64_t job, double fraction,
                           const char *text, struct error *error) {
    char *copy = text ? utf8_clean(text, strlen(text), PROGRESS_TEXT_MAX) : NULL;
    mutex_lock(&requests->mutex);
    struct job_request *request = requests->closed ? NULL : progress_of(requests, job);
    bool refused = requests->closed;
    if (request) {
        request->job = job;
        request->fraction = fraction;
        free(request->text);
        request->text = copy;
        request_ask(requests, clock_monotonic() + PROGRESS_WAIT);
    }
    mutex_unlock(&requests->mutex);
    if (request)
        return true;
    free(copy);
    return refused ? closed(error) : error_no_memory(error);
}

time_ms job_requests_due(struct job_requests *requests) {
    mutex_lock(&requests->mutex);
    time_ms due = requests->due;
    mutex_unlock(&requests->mutex);
    return due;
}

static bool write_request(struct job_request *request, struct store *store, time_ms now,
                          struct error *error) {
    if (!request->extends)
        return store_progress(store, request->job, request->fraction, request->text, now, error);
    struct error refusal = {0};
    request->refused = !store_extend(store, request->job, request->token, request->until, &refusal);
    request->error = refusal;
    if (!request->refused || refusal.code == ERROR_CONFLICT || refusal.code == ERROR_INVALID)
        return true;
    return error_set(error, refusal.code, "%s", refusal.text);
}

bool job_requests_write(struct job_requests *requests, struct store *store, time_ms now,
                        struct error *error) {
    mutex_lock(&requests->mutex);
    struct job_request *request = requests->taken = requests->list;
    bool ids_asked = requests->ids_asked;
    requests->list = NULL;
    requests->due = TIME_NEVER;
    for (struct job_request *each = request; each; each = each->next)
        each->stage = REQUEST_TAKEN;
    mutex_unlock(&requests->mutex);
    for (; request; request = request->next)
        if (!write_request(request, store, now, error) || !CRASH_POINT("note_written"))
            return false;
    if (ids_asked)
        requests->drawn = store_reserve_ids(store, IDS_AHEAD, error);
    return !ids_asked || requests->drawn > 0;
}

static void add_ids(struct job_requests *requests) {
    struct range drawn = {requests->drawn, requests->drawn + IDS_AHEAD};
    if (requests->ids.next == requests->ids.end)
        requests->ids = drawn;
    else
        requests->spare = drawn;
    requests->ids_asked = false;
    requests->ids_fresh = true;
}

/* Puts the taken ones back in front, so that the next turn writes them first. */
static void put_back(struct job_requests *requests) {
    struct job_request *newer = requests->list;
    for (struct job_request *request = requests->taken; request; request = request->next)
        request->stage = REQUEST_WAITS;
    requests->list = requests->taken;
    append(&requests->list, newer);
    requests->due = 0;
}

static void finish(struct job_requests *requests) {
    struct job_request *next;
    for (struct job_request *request = requests->taken; request; request = next) {
        next = request->next;
        request->stage = REQUEST_DONE;
        if (!request->extends)
            request_free(request);
    }
}

void job_requests_done(struct job_requests *requests, bool committed) {
    mutex_lock(&requests->mutex);
    if (!committed && (requests->taken || requests->ids_asked))
        put_back(requests);
    if (committed)
        finish(requests);
    if (committed && requests->drawn > 0)
        add_ids(requests);
    requests->taken = NULL;
    requests->drawn = 0;
    condition_broadcast(&requests->done);
    mutex_unlock(&requests->mutex);
}

void job_requests_tick(struct job_requests *requests) {
    mutex_lock(&requests->mutex);
    if (!requests->ids_fresh)
        requests->ids = requests->spare = (struct range){0, 0};
    requests->ids_fresh = false;
    mutex_unlock(&requests->mutex);
}

void job_requests_close(struct job_requests *requests) {
    mutex_lock(&requests->mutex);
    requests->closed = true;
    condition_broadcast(&requests->done);
    mutex_unlock(&requests->mutex);
}
