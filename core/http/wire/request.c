#include "http/wire/request.h"
#include "http/wire/stream.h"
#include "http/wire/target.h"
#include <stdlib.h>
#include <string.h>

/* What a head has room for, since a request that waits keeps it: of headers, and of parameters. */
struct room {
    size_t headers, parameters;
};

static struct room room_of(const char *head, size_t size) {
    struct room room = {0};
    for (const char *at = head, *end = head + size; (at = memchr(at, '\n', (size_t)(end - at)));
         at++)
        room.headers++;
    room.headers = room.headers < HEAD_LINES ? room.headers : HEAD_LINES;
    const char *query = memchr(head, '?', strcspn(head, "\r"));
    room.parameters = query ? target_parameters(query) : 0;
    return room;
}

/* The path and the query again, each with its NUL, at `at`. */
static int decode(struct exchange *exchange, const struct head *head, char *at, const char **why) {
    size_t size = strlen(head->path) + 1;
    char *query = head->query ? at + size : NULL;
    memcpy(at, head->path, size);
    if (query)
        memcpy(query, head->query, strlen(head->query) + 1);
    return target_read(exchange, at, query, why);
}

/* `bytes`: the head, and behind it room for path and query. */
static int fill(struct request *request, const struct room *room, char *bytes, size_t size,
                const char **why) {
    struct exchange *exchange = &request->exchange;
    struct head head = {0};
    int status = head_read(&head, bytes, size);
    exchange->method = head.method;
    request->length = head.length;
    request->expects = head.expects;
    request->closes = head.closes;
    if (status != HEAD_WHOLE) {
        *why = head.why;
        return status;
    }
    exchange->path = head.path;
    exchange->headers = request->texts;
    exchange->header_count = head.header_count;
    memcpy(request->texts, head.headers, head.header_count * sizeof *request->texts);
    exchange->query = request->texts + room->headers;
    return decode(exchange, &head, bytes + size, why);
}

struct request *request_new(const char *head, size_t size, int *status, const char **why) {
    const struct room room = room_of(head, size);
    const size_t texts = (room.headers + room.parameters) * sizeof(struct named_text);
    size_t first = strcspn(head, "\r"); /* path and query are in the first line */
    struct request *request = malloc(sizeof *request + texts + size + first + 1);
    if (!request)
        return NULL;
    memset(request, 0, sizeof *request + texts);
    char *bytes = (char *)request + sizeof *request + texts;
    memcpy(bytes, head, size);
    *status = fill(request, &room, bytes, size, why);
    return request;
}

void request_complete(struct request *request) {
    request->exchange.body = request->body.data ? request->body.data : "";
    request->exchange.length = request->body.size;
}

void request_free(struct request *request) {
    if (!request)
        return;
    free(request->exchange.text);
    free(request->exchange.location);
    free(request->exchange.cookie);
    free(request->exchange.etag);
    stream_leave(request->exchange.stream);
    json_decref(request->exchange.topics);
    free(request->exchange.wants);
    text_clear(&request->body);
    free(request);
}
