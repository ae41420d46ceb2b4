#include "http/wire/request.h"
#include "http/wire/stream.h"
#include "http/wire/target.h"
#include <stdlib.h>
#include <string.h>

/* The path and the query again, each with its NUL, at `at`. */
static int decode(struct request *request, char *at, const char **why) {
    const struct head *head = &request->head;
    size_t size = strlen(head->path) + 1;
    char *query = head->query ? at + size : NULL;
    memcpy(at, head->path, size);
    if (query)
        memcpy(query, head->query, strlen(head->query) + 1);
    return target_read(&request->exchange, at, query, why);
}

static int fill(struct request *request, size_t size, const char **why) {
    struct exchange *exchange = &request->exchange;
    int status = head_read(&request->head, request->bytes, size);
    exchange->method = request->head.method;
    if (status != HEAD_WHOLE) {
        *why = request->head.why;
        return status;
    }
    exchange->path = request->head.path;
    exchange->headers = request->head.headers;
    exchange->header_count = request->head.header_count;
    return decode(request, request->bytes + size, why);
}

struct request *request_new(const char *head, size_t size, int *status, const char **why) {
    size_t first = strcspn(head, "\r"); /* path and query are in the first line */
    struct request *request = malloc(sizeof *request + size + first + 1);
    if (!request)
        return NULL;
    memset(request, 0, sizeof *request);
    memcpy(request->bytes, head, size);
    *status = fill(request, size, why);
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
