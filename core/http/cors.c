#include "http/cors.h"
#include "job/caller/origin.h"
#include <string.h>

/* A page of our own sends its origin, too. */
static bool is_own(const struct exchange *exchange, const char *origin) {
    const char *site = exchange_header(exchange, "sec-fetch-site");
    if (site)
        return strcmp(site, "same-origin") == 0;
    return origin_host_is(origin, exchange_header(exchange, "host"));
}

void cors_admit(struct exchange *exchange, const json_t *origins) {
    const char *origin = exchange_header(exchange, "origin");
    if (origin && origins_have(origins, origin) && !is_own(exchange, origin))
        exchange->allow_origin = origin;
}

bool cors_answer(struct exchange *exchange) {
    if (!exchange->allow_origin || strcmp(exchange->method, "OPTIONS") != 0 ||
        !exchange_header(exchange, "access-control-request-method"))
        return false;
    exchange->allow_methods = "GET, POST, PUT, PATCH, DELETE";
    exchange->status = 204;
    return true;
}
