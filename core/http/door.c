#include "http/door.h"
#include "base/log.h"
#include "base/reactor.h"
#include "base/thread.h"
#include "http/wire/connection.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    EACH_ADDRESS = 64, /* connections of one address that is not of this machine */
    AGAIN = 200,       /* ms until connections are taken again after the system had no descriptor */
    LOOK_EVERY = 1000, /* ms until those that look are asked again */
    FAREWELL = 10000   /* ms for clients to read what is written for them as the door closes */
};

/* Exchanges in the order they came. */
struct line {
    struct exchange *first, **end;
};

/* A ring that the door has not heard yet. */
struct ring {
    struct ring *next;
    char *topic;
    int count;
};

struct door {
    struct door_options options;
    struct connection_owner owner;
    struct watch **watches; /* of the listeners */
    struct thread thread;
    struct connection *connections;
    int count;
    struct line parked;
    time_ms looks_at;    /* those that look are asked again; TIME_NEVER: none does */
    uint64_t rung;       /* rings heard */
    time_ms listens_at;  /* TIME_NEVER: it listens */
    time_ms farewell_at; /* TIME_NEVER: it is not closing */
    bool closing;        /* the listeners are closed */
    _Atomic bool stops;
    _Atomic bool pours; /* more has come for streams */
    struct mutex mutex; /* guards what follows */
    struct line answered;
    struct ring *rings; /* newest first */
};

/* ---- lists ---- */

static void line_add(struct line *line, struct exchange *exchange) {
    if (!line->first)
        line->end = &line->first;
    exchange->next = NULL;
    *line->end = exchange;
    line->end = &exchange->next;
}

static void line_remove(struct line *line, struct exchange *exchange) {
    struct exchange **at = &line->first;
    while (*at != exchange)
        at = &(*at)->next;
    *at = exchange->next;
    if (line->end == &exchange->next)
        line->end = at;
}

/* ---- connections come and go ---- */

static void listen_for(struct door *door, int events) {
    for (size_t i = 0; i < door->options.listener_count; i++)
        watch_for(door->watches[i], events);
}

static bool has_room(const struct door *door, const struct socket_peer *peer) {
    int same = 0;
    if (door->count >= door->options.connections)
        return false;
    if (peer->near)
        return true;
    for (struct connection *one = door->connections; one; one = *connection_next(one))
        same += strcmp(connection_peer(one)->address, peer->address) == 0;
    return same < EACH_ADDRESS;
}

/* As much of an answer as goes without waiting. */
static void turn_away(int file) {
    static const char text[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n"
                               "Retry-After: 1\r\nConnection: close\r\n\r\n";
    char seen[4096];
    ssize_t read = recv(file, seen, sizeof seen, 0),
            sent = send(file, text, sizeof text - 1, MSG_NOSIGNAL);
    (void)read, (void)sent;
    close(file);
}

static void welcome(struct door *door, int file, const struct socket_peer *peer) {
    struct connection *connection = connection_new(&door->owner, file, peer);
    if (!connection)
        return;
    *connection_next(connection) = door->connections;
    door->connections = connection;
    door->count++;
}

/* The descriptors of the process are used up: those who come wait, and nothing spins. */
static void pause_listening(struct door *door) {
    log_event(LOG_WARN, "http takes no connections for now", "error:s", strerror(errno));
    listen_for(door, WATCH_NOTHING);
    door->listens_at = clock_monotonic() + AGAIN;
}

static void on_knock(void *arg, int events) {
    struct door *door = arg;
    (void)events;
    for (size_t i = 0; i < door->options.listener_count; i++) {
        struct socket_peer peer;
        int file = listener_accept(&door->options.listeners[i], &peer);
        if (file < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
            pause_listening(door);
        else if (file >= 0 && has_room(door, &peer))
            welcome(door, file, &peer);
        else if (file >= 0)
            turn_away(file);
    }
}

static void on_ended(void *arg, struct connection *connection) {
    struct door *door = arg;
    struct connection **at = &door->connections;
    while (*at != connection)
        at = connection_next(*at);
    *at = *connection_next(connection);
    door->count--;
}

/* It waits no more. */
static void unpark(struct door *door, struct exchange *exchange) {
    line_remove(&door->parked, exchange);
    if (!exchange->topics)
        return;
    request_metrics_parked(door->options.metrics, exchange->topics, -1);
    door->options.awaits(door->options.arg, exchange->topics, false);
}

static void on_unparked(void *arg, struct exchange *exchange) {
    unpark(arg, exchange);
}

/* ---- requests and answers ---- */

static void on_answered(void *arg, const struct exchange *exchange) {
    struct door *door = arg;
    request_metrics_answered(door->options.metrics, exchange);
}

static void on_asked(void *arg, struct connection *connection, struct exchange *exchange) {
    struct door *door = arg;
    exchange->rings = door->rung;
    if (door->options.asked(door->options.arg, exchange))
        connection_answer(connection);
}

/* ---- rings ---- */

static bool waits_for(const struct exchange *exchange, const char *topic) {
    size_t i;
    json_t *one;
    json_array_foreach(exchange->topics, i, one) {
        if (strcmp(json_string_value(one), topic) == 0)
            return true;
    }
    return false;
}

/* The answer that it was parked with is for the case that nothing comes. */
static void ask_again(struct door *door, struct exchange *exchange) {
    unpark(door, exchange);
    connection_resume(connection_of(exchange));
    exchange->parks_until = 0;
    json_decref(exchange->topics);
    exchange->topics = NULL;
    free(exchange->wants);
    exchange->wants = NULL;
    free(exchange->text);
    free(exchange->etag);
    exchange->text = exchange->etag = NULL;
    exchange->text_length = 0;
    exchange->status = 0;
    exchange->looks = false;
    exchange->again = true;
    on_asked(door, connection_of(exchange), exchange);
}

/* A ring that was heard while the store was asked may have been for what it had not seen. */
static void park(struct door *door, struct exchange *exchange) {
    line_add(&door->parked, exchange);
    if (exchange->topics) {
        request_metrics_parked(door->options.metrics, exchange->topics, 1);
        door->options.awaits(door->options.arg, exchange->topics, true);
    }
    if (exchange->looks && door->looks_at == TIME_NEVER)
        door->looks_at = clock_monotonic() + LOOK_EVERY;
    connection_park(connection_of(exchange));
    if (exchange->topics && exchange->rings != door->rung)
        ask_again(door, exchange);
}

static void look_again(struct door *door) {
    door->looks_at = TIME_NEVER;
    for (struct exchange *one = door->parked.first, *next; one; one = next) {
        next = one->next;
        if (one->looks)
            ask_again(door, one);
    }
}

/* One more with the same question; true: there are not too many yet. */
static bool has_turn(json_t *asked, const struct exchange *exchange, int most) {
    const json_int_t before = json_integer_value(json_object_get(asked, exchange->wants));
    return before < most &&
           json_object_set_new(asked, exchange->wants, json_integer(before + 1)) == 0;
}

static void hear(struct door *door, const struct ring *ring) {
    json_t *asked = json_object();
    door->rung++;
    for (struct exchange *one = door->parked.first, *next; one; one = next) {
        next = one->next;
        if (waits_for(one, ring->topic) && has_turn(asked, one, ring->count))
            ask_again(door, one);
    }
    json_decref(asked);
}

/* The oldest first. */
static struct ring *take_rings(struct door *door) {
    mutex_lock(&door->mutex);
    struct ring *ring = door->rings, *list = NULL;
    door->rings = NULL;
    mutex_unlock(&door->mutex);
    for (struct ring *next; ring; ring = next) {
        next = ring->next;
        ring->next = list;
        list = ring;
    }
    return list;
}

static void hear_rings(struct door *door) {
    for (struct ring *ring = take_rings(door), *next; ring; ring = next) {
        next = ring->next;
        hear(door, ring);
        free(ring->topic);
        free(ring);
    }
}

/* ---- the thread ---- */

static void write_answers(struct door *door) {
    mutex_lock(&door->mutex);
    struct exchange *one = door->answered.first, *next;
    door->answered.first = NULL;
    mutex_unlock(&door->mutex);
    for (; one; one = next) {
        next = one->next;
        if (one->parks_until && !atomic_load(&door->stops))
            park(door, one);
        else
            connection_answer(connection_of(one));
    }
}

static void pour(struct door *door) {
    if (!atomic_exchange(&door->pours, false))
        return;
    for (struct connection *one = door->connections, *next; one; one = next) {
        next = *connection_next(one);
        connection_pour(one);
    }
}

static void tend_all(struct door *door, time_ms now) {
    for (struct connection *one = door->connections, *next; one; one = next) {
        next = *connection_next(one);
        connection_tend(one, now);
    }
}

static void tend(struct door *door) {
    time_ms now = clock_monotonic();
    if (now >= door->listens_at && !atomic_load(&door->stops)) {
        door->listens_at = TIME_NEVER;
        listen_for(door, WATCH_READ);
    }
    if (now >= door->looks_at)
        look_again(door);
    if (now < door->owner.look_at)
        return;
    door->owner.look_at = TIME_NEVER;
    tend_all(door, now);
}

static void close_all(struct door *door) {
    listen_for(door, WATCH_NOTHING);
    for (size_t i = 0; i < door->options.listener_count; i++)
        listener_close(&door->options.listeners[i]);
    for (struct connection *one = door->connections, *next; one; one = next) {
        next = *connection_next(one);
        connection_close(one);
    }
}

static time_ms wait_of(const struct door *door) {
    time_ms at = door->owner.look_at;
    at = door->listens_at < at ? door->listens_at : at;
    at = door->looks_at < at ? door->looks_at : at;
    at = door->farewell_at < at ? door->farewell_at : at;
    if (at == TIME_NEVER)
        return TIME_NEVER;
    time_ms wait = at - clock_monotonic();
    return wait > 0 ? wait : 0;
}

/* The listeners are closed once; later all deadlines count as passed. */
static void part(struct door *door) {
    if (!atomic_load(&door->stops))
        return;
    if (!door->closing)
        close_all(door);
    else if (clock_monotonic() >= door->farewell_at)
        tend_all(door, TIME_NEVER - 1);
    else
        return;
    door->closing = true;
    door->farewell_at = clock_monotonic() + FAREWELL;
}

static void *run(void *arg) {
    struct door *door = arg;
    while (!door->closing || door->connections) {
        reactor_wait(door->owner.reactor, wait_of(door));
        write_answers(door);
        hear_rings(door);
        pour(door);
        part(door);
        tend(door);
    }
    return NULL;
}

/* ---- beginning and end ---- */

static bool watch_listeners(struct door *door) {
    size_t count = door->options.listener_count;
    door->watches = calloc(count, sizeof *door->watches);
    for (size_t i = 0; door->watches && i < count; i++) {
        int file = door->options.listeners[i].file;
        door->watches[i] = watch_new(door->owner.reactor, file, on_knock, door);
        if (!door->watches[i])
            return false;
        watch_for(door->watches[i], WATCH_READ);
    }
    return door->watches != NULL;
}

static bool fill(struct door *door, struct error *error) {
    door->owner.reactor = reactor_new(error);
    if (!door->owner.reactor)
        return false;
    door->owner.room = malloc(CONNECTION_ROOM);
    return (door->owner.room && watch_listeners(door)) || error_no_memory(error);
}

struct door *door_new(const struct door_options *options, struct error *error) {
    struct door *door = calloc(1, sizeof *door);
    if (!door) {
        error_no_memory(error);
        return NULL;
    }
    door->options = *options;
    door->owner = (struct connection_owner){.body_max = options->body_max,
                                            .asked = on_asked,
                                            .answered = on_answered,
                                            .unparked = on_unparked,
                                            .ended = on_ended,
                                            .arg = door,
                                            .look_at = TIME_NEVER};
    door->listens_at = door->farewell_at = TIME_NEVER;
    door->looks_at = TIME_NEVER;
    mutex_init(&door->mutex);
    if (fill(door, error))
        return door;
    door_free(door);
    return NULL;
}

bool door_start(struct door *door, struct error *error) {
    return thread_start(&door->thread, run, door) ||
           error_set(error, ERROR_FAILED, "the system gives no thread for http");
}

void door_answer(struct door *door, struct exchange *exchange) {
    mutex_lock(&door->mutex);
    bool first = !door->answered.first;
    line_add(&door->answered, exchange);
    mutex_unlock(&door->mutex);
    if (first)
        reactor_wake(door->owner.reactor);
}

void door_ring(struct door *door, const char *topic, int count) {
    struct ring *ring = calloc(1, sizeof *ring);
    if (ring && !(ring->topic = strdup(topic))) {
        free(ring);
        ring = NULL;
    }
    if (!ring) /* who waits is answered when its time has passed */
        return;
    ring->count = count;
    mutex_lock(&door->mutex);
    ring->next = door->rings;
    door->rings = ring;
    mutex_unlock(&door->mutex);
    reactor_wake(door->owner.reactor);
}

void door_pour(struct door *door) {
    atomic_store(&door->pours, true);
    reactor_wake(door->owner.reactor);
}

void door_close(struct door *door) {
    atomic_store(&door->stops, true);
    reactor_wake(door->owner.reactor);
}

void door_stop(struct door *door) {
    door_close(door);
    thread_join(&door->thread);
}

void door_free(struct door *door) {
    if (!door)
        return;
    for (size_t i = 0; door->watches && i < door->options.listener_count; i++)
        watch_free(door->watches[i]);
    free(door->watches);
    for (struct ring *ring = door->rings, *next; ring; ring = next) {
        next = ring->next;
        free(ring->topic);
        free(ring);
    }
    reactor_free(door->owner.reactor);
    free(door->owner.room);
    mutex_free(&door->mutex);
    free(door);
}
