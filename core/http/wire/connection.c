#include "http/wire/connection.h"
#include "http/wire/reply.h"
#include "http/wire/request.h"
#include "http/wire/stream.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum state {
    IDLE,   /* nothing of a request has come */
    HEAD,   /* a part of its head */
    BODY,   /* its head, and a part of its body */
    ASKED,  /* it is worked on: nothing is read */
    PARKED, /* it waits: read on, for the client may go */
    WRITE,  /* its answer */
    STREAM, /* all of it that has come is written: read on, as above */
    LINGER, /* all is written: what still comes is thrown away, so that the answer arrives */
    ENDED
};

struct connection {
    struct connection *next; /* the owner's */
    struct connection_owner *owner;
    struct watch *watch;
    int file;
    enum state state;
    time_ms deadline; /* monotonic */
    struct socket_peer peer;
    struct text in; /* what has come and is not yet understood */
    struct head_scan scan;
    int64_t began;           /* of the request that comes, in microseconds */
    struct request *request; /* from its whole head to its last written byte */
    struct text out;         /* the head of the answer */
    size_t written;          /* of head and content */
    bool closes;             /* behind the present answer */
    bool leaves;             /* before the end of a stream */
    bool stepping;           /* `advance` is at work */
};

/* ---- beginning and end ---- */

static void on_event(void *arg, int events);

/* Monotonic. */
static void due(struct connection *connection, time_ms at) {
    struct connection_owner *owner = connection->owner;
    connection->deadline = at;
    owner->look_at = at < owner->look_at ? at : owner->look_at;
}

static void stay(struct connection *connection, enum state state, time_ms wait) {
    connection->state = state;
    due(connection, wait == TIME_NEVER ? TIME_NEVER : clock_monotonic() + wait);
}

struct connection *connection_new(struct connection_owner *owner, int file,
                                  const struct socket_peer *peer) {
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection)
        connection->watch = watch_new(owner->reactor, file, on_event, connection);
    if (!connection || !connection->watch) {
        free(connection);
        close(file);
        return NULL;
    }
    connection->owner = owner;
    connection->file = file;
    connection->peer = *peer;
    stay(connection, IDLE, CONNECTION_IDLE);
    watch_for(connection->watch, WATCH_READ);
    return connection;
}

/* The state that a client's leaving, an error or a deadline leads to. */
static void end(struct connection *connection) {
    if (connection->state == PARKED)
        connection->owner->unparked(connection->owner->arg, &connection->request->exchange);
    connection->state = ENDED;
}

static void release(struct connection *connection) {
    connection->owner->ended(connection->owner->arg, connection);
    watch_free(connection->watch);
    close(connection->file);
    request_free(connection->request);
    text_clear(&connection->in);
    text_clear(&connection->out);
    free(connection);
}

/* ---- a request comes ---- */

static void ask(struct connection *connection) {
    struct request *request = connection->request;
    request_complete(request);
    stay(connection, ASKED, TIME_NEVER);
    watch_for(connection->watch, WATCH_NOTHING);
    connection->owner->asked(connection->owner->arg, connection, &request->exchange);
}

/* Takes so many bytes off what has come. */
static void consume(struct connection *connection, size_t size) {
    struct text *in = &connection->in;
    in->size -= size;
    memmove(in->data, in->data + size, in->size + 1);
    if (in->size == 0)
        text_clear(in);
}

static void answer(struct connection *connection);

/* Answers by itself what is no request, and closes: where the next one begins is not known. */
static void refuse(struct connection *connection, int status, const char *why) {
    struct request *request = connection->request;
    if (!request) /* its head is not whole */
        request = connection->request = calloc(1, sizeof *request);
    if (!request) {
        end(connection);
        return;
    }
    request->exchange.began = connection->began;
    reply_problem(&request->exchange, status, why);
    connection->closes = true;
    answer(connection);
}

/* The interim answer is a few bytes behind answers that are written: it fits. */
static void say_continue(struct connection *connection) {
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    if (send(connection->file, text, sizeof text - 1, MSG_NOSIGNAL) != (ssize_t)sizeof text - 1)
        end(connection);
}

static void take_body(struct connection *connection, const char *bytes, size_t size);

/* The head is whole and fine: its body may have come with it. */
static void begin_body(struct connection *connection) {
    struct request *request = connection->request;
    size_t length = request->length, here = connection->in.size;
    stay(connection, BODY, CONNECTION_BODY + (time_ms)(length >> 16) * 1000);
    here = here < length ? here : length;
    if (request->expects && here < length)
        say_continue(connection);
    if (connection->state != BODY)
        return;
    take_body(connection, connection->in.data, here);
    if (here > 0)
        consume(connection, here);
    if (request->body.size == length)
        ask(connection);
}

static void take_body(struct connection *connection, const char *bytes, size_t size) {
    struct text *body = &connection->request->body;
    if (size > 0)
        text_append(body, bytes, size);
    if (body->failed)
        end(connection);
}

static void take_head(struct connection *connection) {
    int status = 0;
    const char *why = NULL;
    size_t size = connection->scan.at;
    struct request *request = request_new(connection->in.data, size, &status, &why);
    connection->request = request;
    if (!request) {
        end(connection);
        return;
    }
    request->exchange.connection = connection;
    request->exchange.socket = connection->file;
    request->exchange.peer = connection->peer;
    request->exchange.began = connection->began;
    consume(connection, size);
    connection->scan = (struct head_scan){0};
    connection->closes = connection->closes || request->closes;
    if (status)
        refuse(connection, status, why);
    else if (request->length > connection->owner->body_max)
        refuse(connection, 413, "the body is larger than the setting body_max allows");
    else
        begin_body(connection);
}

/* Looks at the bytes that have come. False: more are needed. */
static bool read_head(struct connection *connection) {
    struct text *in = &connection->in;
    if (connection->closes) {
        end(connection);
        return true;
    }
    if (in->size == 0)
        return false;
    if (connection->state == IDLE) {
        stay(connection, HEAD, CONNECTION_HEAD);
        connection->began = clock_monotonic_us();
    }
    int state = head_scan(&connection->scan, in->data, in->size);
    if (state == HEAD_MORE)
        return false;
    if (state == HEAD_WHOLE)
        take_head(connection);
    else
        refuse(connection, state, connection->scan.why);
    return true;
}

/* ---- the answer goes ---- */

/* What is left of head and content. */
static int pieces(const struct connection *connection, struct iovec *piece) {
    const struct exchange *exchange = &connection->request->exchange;
    size_t head = connection->out.size, at = connection->written;
    int count = 0;
    if (at < head)
        piece[count++] = (struct iovec){connection->out.data + at, head - at};
    at = at > head ? at - head : 0;
    if (reply_has_content(exchange) && at < exchange->text_length)
        piece[count++] = (struct iovec){exchange->text + at, exchange->text_length - at};
    return count;
}

/* What has come of the content goes on. False: the answer ends here. */
static bool stream_on(struct connection *connection) {
    struct stream *stream = connection->request->exchange.stream;
    bool ended = !stream || connection->leaves;
    text_clear(&connection->out);
    connection->written = 0;
    if (!ended && stream_take(stream, &connection->out, &ended))
        stay(connection, WRITE, CONNECTION_WRITE);
    else if (!ended)
        stay(connection, STREAM, TIME_NEVER);
    if (connection->state == STREAM)
        watch_for(connection->watch, WATCH_READ);
    return !ended || connection->out.size > 0;
}

static void written(struct connection *connection) {
    if (stream_on(connection))
        return;
    request_free(connection->request);
    connection->request = NULL;
    if (connection->closes) {
        shutdown(connection->file, SHUT_WR);
        stay(connection, LINGER, CONNECTION_LINGER);
    } else
        stay(connection, IDLE, CONNECTION_IDLE);
    watch_for(connection->watch, WATCH_READ);
}

/* Writes what the socket takes. False: it takes no more now. */
static bool write_on(struct connection *connection) {
    struct iovec piece[2];
    struct msghdr message = {.msg_iov = piece, .msg_iovlen = pieces(connection, piece)};
    if (message.msg_iovlen == 0) {
        written(connection);
        return true;
    }
    ssize_t size = sendmsg(connection->file, &message, MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR)
        return true;
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        watch_for(connection->watch, WATCH_WRITE);
        return false;
    }
    if (size < 0) {
        end(connection);
        return true;
    }
    connection->written += (size_t)size;
    stay(connection, WRITE, CONNECTION_WRITE);
    return true;
}

static void answer(struct connection *connection) {
    connection->owner->answered(connection->owner->arg, &connection->request->exchange);
    connection->closes = connection->closes || connection->request->exchange.stream;
    reply_head(&connection->out, &connection->request->exchange, connection->closes,
               clock_now(clock_system()));
    stay(connection, WRITE, CONNECTION_WRITE);
    if (connection->out.failed)
        end(connection);
}

/* ---- one step after the other ---- */

/* False: nothing can be done until more comes. */
static bool step(struct connection *connection) {
    switch (connection->state) {
    case IDLE:
    case HEAD:
        return read_head(connection);
    case WRITE:
        return write_on(connection);
    case BODY:
    case ASKED:
    case PARKED:
    case STREAM:
    case LINGER:
    case ENDED:
        return false;
    }
    return false;
}

/* A step may be answered inside it: then the outer call goes on. */
static void advance(struct connection *connection) {
    if (connection->stepping)
        return;
    connection->stepping = true;
    while (step(connection)) {
    }
    connection->stepping = false;
    if (connection->state == ENDED)
        release(connection);
}

/* ---- what comes ---- */

static void received(struct connection *connection, const char *bytes, size_t size) {
    struct request *request = connection->request;
    if (connection->state == LINGER)
        return;
    if (connection->state == BODY) {
        size_t wanted = request->length - request->body.size;
        size_t taken = size < wanted ? size : wanted;
        take_body(connection, bytes, taken);
        bytes += taken;
        size -= taken;
    }
    if (size > 0)
        text_append(&connection->in, bytes, size);
    bool waits = connection->state == PARKED || connection->state == STREAM;
    if (connection->in.failed || (waits && connection->in.size > HEAD_MAX))
        end(connection);
    if (connection->state == BODY && request->body.size == request->length)
        ask(connection);
}

static void read_on(struct connection *connection) {
    char *room = connection->owner->room;
    ssize_t size = recv(connection->file, room, CONNECTION_ROOM, 0);
    if (size > 0)
        received(connection, room, (size_t)size);
    else if (size == 0 || (errno != EAGAIN && errno != EINTR))
        end(connection);
}

static void on_event(void *arg, int events) {
    struct connection *connection = arg;
    connection->stepping = true; /* an answer at once does not free it yet */
    if (events & WATCH_READ)
        read_on(connection);
    connection->stepping = false;
    advance(connection);
}

/* ---- the owner's calls ---- */

void connection_answer(struct connection *connection) {
    answer(connection);
    advance(connection);
}

void connection_park(struct connection *connection) {
    connection->state = PARKED;
    due(connection, connection->request->exchange.parks_until);
    watch_for(connection->watch, WATCH_READ);
}

void connection_resume(struct connection *connection) {
    stay(connection, ASKED, TIME_NEVER);
    watch_for(connection->watch, WATCH_NOTHING);
}

void connection_pour(struct connection *connection) {
    if (connection->state != STREAM)
        return;
    written(connection);
    advance(connection);
}

static void answer_parked(struct connection *connection) {
    connection->owner->unparked(connection->owner->arg, &connection->request->exchange);
    answer(connection);
}

void connection_tend(struct connection *connection, time_ms now) {
    if (now < connection->deadline) {
        due(connection, connection->deadline);
        return;
    }
    if (connection->state == PARKED)
        answer_parked(connection);
    else if (connection->state == HEAD || connection->state == BODY)
        refuse(connection, 408, "the request did not come in time");
    else
        end(connection);
    advance(connection);
}

void connection_close(struct connection *connection) {
    connection->closes = connection->leaves = true;
    if (connection->state == PARKED)
        answer_parked(connection);
    else if (connection->state == IDLE || connection->state == HEAD)
        end(connection);
    else if (connection->state == STREAM)
        written(connection);
    advance(connection);
}

const struct socket_peer *connection_peer(const struct connection *connection) {
    return &connection->peer;
}

struct connection **connection_next(struct connection *connection) {
    return &connection->next;
}

struct connection *connection_of(const struct exchange *exchange) {
    return exchange->connection;
}
