#include "http/face.h"
#include "base/json.h"
#include "base/log.h"
#include "base/thread.h"
#include "http/api/creation.h"
#include "http/api/hook.h"
#include "http/api/service.h"
#include "http/api/work.h"
#include "http/crew.h"
#include "http/door.h"
#include "http/events.h"
#include "http/guard.h"
#include "http/probe.h"
#include "http/scripts.h"
#include "http/site.h"
#include "http/waker.h"
#include "http/who/callers.h"
#include "http/who/sessions.h"
#include "http/who/sign_in.h"
#include "http/wire/reply.h"
#include "script/folder.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    READERS = 2,
    LISTENERS = 16,
    UNKNOWN_WAIT = 100, /* ms until a wrong token hears so, */
    BARRED_WAIT = 1000  /* and one of an address that has shown many */
};

struct face {
    struct face_options options;
    struct listener listeners[LISTENERS];
    size_t listener_count;
    struct door *door;
    struct callers *callers;
    struct crew *crews[WORKER_KINDS]; /* NULL: the door's */
    struct events *events;
    struct request_metrics *requests;
    struct figures *figures;
    struct waker *waker;
    struct create_list room; /* the clerk's */
    struct scripts *scripts;
};

/* ---- engines of the threads ---- */

static struct engine *open_engine(struct face *face, enum store_mode mode, bool scripts,
                                  bool checks_only, struct error *error) {
    struct folder *folder = scripts ? scripts_folder(face->scripts) : NULL;
    struct engine_options options = {.settings = face->options.settings,
                                     .mode = mode,
                                     .clock = face->options.clock,
                                     .folder = folder,
                                     .claim = CLAIM_NEVER,
                                     .checks_only = checks_only};
    struct engine *engine = engine_open(&options, error);
    folder_release(folder);
    return engine;
}

/* It writes, and has no Lua state. */
static struct engine *open_clerk(void *arg, struct error *error) {
    return open_engine(arg, STORE_CREATE, true, true, error);
}

/* It writes for what it waits. */
static struct engine *open_waker(void *arg, struct error *error) {
    return open_engine(arg, STORE_CREATE, false, true, error);
}

static struct engine *open_reader(void *arg, struct error *error) {
    return open_engine(arg, STORE_READ, false, false, error);
}

static struct engine *open_walker(void *arg, struct error *error) {
    return open_engine(arg, STORE_CREATE, true, false, error);
}

static bool renew(void *arg, struct engine *engine, struct error *error) {
    struct face *face = arg;
    struct folder *folder = engine_folder(engine) ? scripts_folder(face->scripts) : NULL;
    bool fine = !folder || engine_reload(engine, folder, error);
    folder_release(folder);
    return fine;
}

/* The clerk loads nothing: all that is created, fetched and settled waits for it. */
static bool renew_clerk(void *arg, struct engine *engine, struct error *error) {
    struct face *face = arg;
    struct generation *checked = scripts_checked(face->scripts);
    return !checked || engine_take_checked(engine, checked, error);
}

/* In the thread that reads the folder. */
static void read_ended(void *arg, bool fresh) {
    struct face *face = arg;
    for (int kind = 0; fresh && kind < WORKER_KINDS; kind++)
        if (face->crews[kind])
            crew_renew(face->crews[kind]);
    if (face->options.reloaded)
        face->options.reloaded();
}

/* ---- requests ---- */

/* An unknown caller hears so a moment later: the door keeps the answer until then. */
static void turn_down(struct exchange *exchange, enum caller_verdict verdict,
                      const struct error *error) {
    switch (verdict) {
    case CALLER_UNKNOWN:
        reply_problem(exchange, 401, "no token, or none that counts (Authorization: Bearer …)");
        exchange->parks_until = clock_monotonic() + UNKNOWN_WAIT;
        break;
    case CALLER_BARRED:
        reply_problem(exchange, 429, "too many wrong tokens");
        exchange->parks_until = clock_monotonic() + BARRED_WAIT;
        break;
    case CALLER_TOO_FAST:
        reply_problem(exchange, 429, "too many requests");
        break;
    case CALLER_FAILED:
        reply_problem(exchange, 503, error->text);
        break;
    case CALLER_KNOWN:
        break;
    }
}

static void answer(struct face *face, struct engine *engine, struct exchange *exchange) {
    struct caller caller = {0};
    struct error error = {0};
    const bool signs_in = sign_in_is(exchange);
    if (signs_in && sign_in_by_key(face->callers, exchange))
        return;
    if (hook_is_open(engine, exchange)) {
        snprintf(caller.who, sizeof caller.who, "hook");
        service_answer(engine, &caller, face->figures, exchange);
        return;
    }
    enum caller_verdict verdict = callers_find(face->callers, engine, exchange, &caller, &error);
    if (verdict != CALLER_KNOWN)
        turn_down(exchange, verdict, &error);
    else if (signs_in)
        sign_in_answer(face->callers, &caller, exchange);
    else
        service_answer(engine, &caller, face->figures, exchange);
    caller_clear(&caller);
}

static void probe(struct face *face, struct engine *engine, struct exchange *exchange,
                  const struct error *error) {
    struct error why = *error;
    if (engine && face->options.ready && !face->options.ready(face->options.arg, &why))
        engine = NULL;
    probe_ready(exchange, engine, &why);
}

/* Somebody else may have what it was asked again for. */
static void pass_on(struct face *face, const struct exchange *exchange) {
    size_t i;
    const json_t *topic;
    json_array_foreach(exchange->topics, i, topic)
        door_ring(face->door, json_string_value(topic), 1);
}

/* An errand is an exchange without a request: the clerk writes when tokens were used. */
static void errand_send(struct face *face) {
    struct exchange *errand = callers_are_due(face->callers) ? calloc(1, sizeof *errand) : NULL;
    if (errand && !crew_ask(face->crews[BY_CLERK], errand))
        free(errand);
}

static void errand_do(struct face *face, struct engine *engine, struct exchange *errand) {
    struct error error = {0};
    if (engine && !callers_write_used(face->callers, engine, &error))
        log_event(LOG_WARN, "use of tokens not written", "reason:s", error.text);
    free(errand);
}

/* The answer is in the exchange. */
static void hand_back(struct face *face, struct exchange *exchange) {
    if (exchange->passes)
        pass_on(face, exchange);
    if (exchange->subscriber)
        events_add(face->events, face->door, exchange->subscriber);
    door_answer(face->door, exchange);
}

/* What the clerk writes, or walkers complete, goes on there; all else is answered. */
static void hand_on(struct face *face, struct exchange *exchange) {
    static const struct error none = {ERROR_UNAVAILABLE, "the system gives no thread"};
    const enum creation_step step = creation_step(exchange);
    const bool goes_on = step != CREATION_ANSWERED || exchange->work;
    struct crew *next = face->crews[step == CREATION_READ ? BY_WALKER : BY_CLERK];
    if (goes_on && crew_ask(next, exchange))
        return;
    if (exchange->work)
        work_give_up(exchange, &none);
    else if (goes_on)
        creation_give_up(exchange, &none);
    hand_back(face, exchange);
}

static void work_one(struct face *face, struct engine *engine, struct exchange *exchange,
                     const struct error *error) {
    if (!engine && exchange->new_jobs)
        creation_give_up(exchange, error);
    else if (exchange->work)
        work_give_up(exchange, error);
    else if (exchange->new_jobs)
        creation_go_on(engine, exchange);
    else if (probe_of(exchange) == PROBE_READY)
        probe(face, engine, exchange, error);
    else if (engine)
        answer(face, engine, exchange);
    else
        reply_problem(exchange, 503, error->text);
}

struct read_work {
    struct exchange *list, **end;
};

static void read_add(struct read_work *read, struct exchange *exchange) {
    *read->end = exchange;
    read->end = &exchange->next;
}

static void walk_read(struct face *face, struct engine *engine, struct exchange *list) {
    if (list)
        work_walk(engine, list);
    for (struct exchange *next; list; list = next) {
        next = list->next;
        hand_on(face, list);
    }
}

/* In a thread of a crew. What workers hand back is read first. What moves instances is walked
 * together, behind all else: it may take long. */
static void work(void *arg, struct engine *engine, struct exchange *list,
                 const struct error *error) {
    struct face *face = arg;
    struct read_work plain = {.end = &plain.list}, walking = {.end = &walking.list};
    for (struct exchange *next; list; list = next) {
        next = list->next;
        list->next = NULL;
        work_one(face, engine, list, error);
        if (list->work)
            read_add(work_walks(list) ? &walking : &plain, list);
        else
            hand_on(face, list);
    }
    walk_read(face, engine, plain.list);
    walk_read(face, engine, walking.list);
    errand_send(face);
}

/* What the clerk writes: of each kind all in one transaction. */
struct written {
    struct exchange *creations, **creations_end;
    struct exchange *work, **work_end;
};

static bool is_complete(const struct exchange *exchange) {
    return exchange->work || creation_step(exchange) == CREATION_COMPLETE;
}

static void written_add(struct written *written, struct exchange *exchange) {
    struct exchange ***end = exchange->work ? &written->work_end : &written->creations_end;
    **end = exchange;
    *end = &exchange->next;
    exchange->next = NULL;
}

static void hand_back_all(struct face *face, struct exchange *list) {
    for (struct exchange *next; list; list = next) {
        next = list->next;
        hand_back(face, list);
    }
}

/* In the clerk's thread: all that is asked. What is complete is written together. */
static void clerk_work(void *arg, struct engine *engine, struct exchange *list,
                       const struct error *error) {
    struct face *face = arg;
    struct written written = {.creations_end = &written.creations, .work_end = &written.work};
    for (struct exchange *one = list, *next; one; one = next) {
        next = one->next;
        if (!one->method) {
            errand_do(face, engine, one);
            continue;
        }
        if (!is_complete(one) || !engine)
            work_one(face, engine, one, error);
        if (is_complete(one))
            written_add(&written, one);
        else
            hand_on(face, one);
    }
    creations_write(&face->room, engine, written.creations);
    hand_back_all(face, written.creations);
    work_write(engine, written.work);
    hand_back_all(face, written.work);
    errand_send(face);
}

/* In the door's thread. What needs no store is answered at once. */
static bool asked(void *arg, struct exchange *exchange) {
    struct face *face = arg;
    const struct caller nobody = {0};
    if (!guard_pass(exchange, face->options.settings) || site_answer(exchange))
        return true;
    enum probe probe_kind = probe_of(exchange);
    enum worker_kind kind =
        probe_kind == PROBE_READY || sign_in_is(exchange) ? BY_READER : service_worker(exchange);
    if (probe_kind == PROBE_LIVE) {
        probe_live(exchange);
        return true;
    }
    if (kind == BY_DOOR) {
        service_answer(NULL, &nobody, NULL, exchange);
        return true;
    }
    if (crew_ask(face->crews[kind], exchange))
        return false;
    reply_problem(exchange, 503, "the system gives no thread");
    return true;
}

/* In the door's thread. */
static void awaits(void *arg, const json_t *topics, bool more) {
    struct face *face = arg;
    if (more)
        waker_await(face->waker, face->door, topics);
    else
        waker_leave(face->waker, topics);
}

/* ---- beginning ---- */

bool face_wanted(const struct settings *settings) {
    return json_array_size(settings->http) > 0 || listener_handed_over() > 0;
}

static bool room_for(const struct face *face, size_t more, struct error *error) {
    return face->listener_count + more <= LISTENERS ||
           error_set(error, ERROR_CONFIG, "http: more than %d addresses", LISTENERS);
}

static bool adopt(struct face *face, struct error *error) {
    enum { FIRST = 3 };
    int count = listener_handed_over();
    listener_hand_on_none();
    if (!room_for(face, (size_t)count, error))
        return false;
    for (int i = 0; i < count; i++) {
        if (!listener_adopt(&face->listeners[face->listener_count], FIRST + i, error))
            return false;
        face->listener_count++;
    }
    return true;
}

static bool listen_at(struct face *face, struct error *error) {
    size_t i;
    json_t *address;
    const json_t *http = face->options.settings->http;
    if (!adopt(face, error) || !room_for(face, json_array_size(http), error))
        return false;
    json_array_foreach(http, i, address) {
        if (!listener_open(&face->listeners[face->listener_count], json_string_value(address),
                           error))
            return false;
        face->listener_count++;
    }
    return true;
}

/* What lets everybody in is for trials on one machine. */
static bool open_fits(const struct face *face, struct error *error) {
    for (size_t i = 0; face->options.open && i < face->listener_count; i++)
        if (!face->listeners[i].near)
            return error_set(error, ERROR_USAGE,
                             "--open: \"%s\" is reached from other machines (expected addresses of "
                             "this one alone)",
                             face->listeners[i].name);
    return true;
}

static bool hire_readers(struct face *face, struct error *error) {
    const struct crew_options options = {.threads = READERS,
                                         .keep_alive = TIME_NEVER,
                                         .open = open_reader,
                                         .renew = renew,
                                         .work = work,
                                         .arg = face};
    return (face->crews[BY_READER] = crew_new(&options, error)) != NULL;
}

/* Those with the folder loaded: threads are begun as they are needed. */
static bool hire_walkers(struct face *face, enum worker_kind kind, struct error *error) {
    const struct settings *settings = face->options.settings;
    const struct crew_options options = {.threads = settings->workers_max,
                                         .keep_alive = settings->keep_alive,
                                         .open = open_walker,
                                         .renew = renew,
                                         .work = work,
                                         .joins = kind == BY_SETTLER ? work_joins : NULL,
                                         .arg = face};
    return (face->crews[kind] = crew_new(&options, error)) != NULL;
}

/* Its engine is opened now, so that a store that cannot be opened is told of here. */
static bool hire_clerk(struct face *face, struct error *error) {
    const struct crew_options options = {.threads = 1,
                                         .keep_alive = TIME_NEVER,
                                         .engine = open_clerk(face, error),
                                         .open = open_clerk,
                                         .renew = renew_clerk,
                                         .work = clerk_work,
                                         .gathers = true,
                                         .arg = face};
    return options.engine && (face->crews[BY_CLERK] = crew_new(&options, error));
}

static bool hire(struct face *face, struct error *error) {
    bool done = hire_clerk(face, error) && hire_readers(face, error);
    for (int kind = BY_WALKER; done && kind < WORKER_KINDS; kind++)
        done = hire_walkers(face, (enum worker_kind)kind, error);
    return done;
}

static bool open_door(struct face *face, struct error *error) {
    struct door_options options = {.listeners = face->listeners,
                                   .listener_count = face->listener_count,
                                   .body_max = (size_t)face->options.settings->body_max,
                                   .connections = face->options.settings->connections,
                                   .asked = asked,
                                   .awaits = awaits,
                                   .arg = face,
                                   .metrics = face->requests};
    face->door = door_new(&options, error);
    return face->door && door_start(face->door, error);
}

static void tell(const struct face *face) {
    for (size_t i = 0; i < face->listener_count; i++) {
        log_event(LOG_INFO, "http listens", "address:s", face->listeners[i].name);
        if (face->options.open)
            log_event(LOG_WARN, "http is open: whoever reaches it may do everything", "address:s",
                      face->listeners[i].name);
    }
}

static bool begin(struct face *face, struct error *error) {
    if (!listen_at(face, error) || !open_fits(face, error))
        return false;
    return hire(face, error) && open_door(face, error);
}

struct face *face_new(const struct face_options *options, struct error *error) {
    struct face *face = calloc(1, sizeof *face);
    struct callers_options callers = {.open = options->open, .settings = options->settings};
    if (!face) {
        error_no_memory(error);
        return NULL;
    }
    face->options = *options;
    face->options.clock = clock_retain(options->clock);
    json_incref(json_unchanged(options->paths));
    const struct scripts_options scripts = {.settings = options->settings,
                                            .clock = options->clock,
                                            .folder = options->folder,
                                            .read = options->read,
                                            .paths = options->paths,
                                            .read_ended = read_ended,
                                            .arg = face};
    face->scripts = scripts_new(&scripts);
    face->callers = callers_new(&callers);
    const struct events_options events = {face->callers, open_reader, face};
    face->events = events_new(&events);
    face->requests = request_metrics_new();
    face->figures = figures_new(options->durations, face->requests);
    const struct waker_options waker = {open_waker, face};
    face->waker = waker_new(&waker);
    bool whole = face->scripts && face->callers && face->events && face->requests &&
                 face->figures && face->waker;
    if (whole ? begin(face, error) : error_no_memory(error)) {
        tell(face);
        return face;
    }
    face_free(face);
    return NULL;
}

/* ---- later ---- */

bool face_key(struct face *face, char key[FACE_KEY_SIZE]) {
    return sessions_key(callers_sessions(face->callers), key);
}

const char *face_address(const struct face *face, size_t at) {
    return at < face->listener_count ? face->listeners[at].name : NULL;
}

void face_reload(struct face *face) {
    callers_forget(face->callers);
    if (!scripts_reload(face->scripts) && face->options.reloaded)
        face->options.reloaded();
}

void face_close(struct face *face) {
    door_close(face->door);
}

void face_free(struct face *face) {
    if (!face)
        return;
    if (face->door)
        door_stop(face->door);
    for (size_t i = 0; i < face->listener_count; i++)
        listener_close(&face->listeners[i]);
    scripts_end(face->scripts);
    for (int kind = 0; kind < WORKER_KINDS; kind++)
        if (kind != BY_CLERK)
            crew_free(face->crews[kind]);
    crew_free(face->crews[BY_CLERK]); /* the others send it on errands */
    events_free(face->events);
    waker_free(face->waker);
    create_list_clear(&face->room);
    door_free(face->door);
    figures_free(face->figures);
    request_metrics_free(face->requests);
    callers_free(face->callers);
    scripts_free(face->scripts);
    json_decref(json_unchanged(face->options.paths));
    clock_release(face->options.clock);
    free(face);
}
