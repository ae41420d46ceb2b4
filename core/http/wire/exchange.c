#include "http/wire/exchange.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

static const char *find(const struct named_text *list, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return list[i].value;
    return NULL;
}

const char *exchange_header(const struct exchange *exchange, const char *name) {
    return find(exchange->headers, exchange->header_count, name);
}

const char *exchange_parameter(const struct exchange *exchange, const char *name) {
    return find(exchange->query, exchange->query_count, name);
}

bool exchange_gone(const struct exchange *exchange) {
    char byte;
    ssize_t size = recv(exchange->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR);
}
