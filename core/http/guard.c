#include "http/guard.h"
#include "http/cors.h"
#include "http/who/forwarded.h"
#include "http/who/sign_in.h"
#include "http/wire/reply.h"
#include "job/caller/origin.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool refuse(struct exchange *exchange, int status, const char *detail) {
    reply_problem(exchange, status, detail);
    return false;
}

/* ---- the Host ---- */

/* The bytes of its name, without the port; brackets of an address are no part of it. */
static const char *host_name(const char *host, size_t *size) {
    if (host[0] == '[') {
        *size = strcspn(host + 1, "]");
        return host + 1;
    }
    *size = strcspn(host, ":");
    return host;
}

static bool is_name(const char *text, size_t size, const char *name) {
    return strlen(name) == size && strncasecmp(text, name, size) == 0;
}

/* A page whose name was made to point here (DNS rebinding) has a name that is not ours. */
static bool host_is_ours(const struct exchange *exchange, const json_t *hosts) {
    size_t size, i;
    json_t *one;
    const char *name = host_name(exchange_header(exchange, "host"), &size);
    if (is_name(name, size, "localhost") || is_name(name, size, exchange->peer.here))
        return true;
    json_array_foreach(hosts, i, one) {
        if (is_name(name, size, json_string_value(one)))
            return true;
    }
    return false;
}

/* ---- browsers ---- */

static bool changes(const char *method) {
    return strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0 &&
           strcmp(method, "OPTIONS") != 0;
}

/* Browsers say from which site a page asks; older ones its origin alone. */
static bool same_site(const struct exchange *exchange) {
    const char *site = exchange_header(exchange, "sec-fetch-site");
    const char *origin = exchange_header(exchange, "origin");
    if (site)
        return strcmp(site, "same-origin") == 0;
    if (!origin)
        return true;
    return origin_host_is(origin, exchange_header(exchange, "host"));
}

/* A form of another site cannot send these kinds. */
static bool kind_fits(const struct exchange *exchange) {
    static const char *const kinds[] = {"application/json", "application/x-ndjson"};
    const char *type = exchange_header(exchange, "content-type");
    if (!type)
        return exchange->length == 0;
    size_t size = strcspn(type, "; ");
    return is_name(type, size, kinds[0]) || is_name(type, size, kinds[1]);
}

/* Nothing is unpacked here. */
static bool is_coded(const struct exchange *exchange) {
    const char *coding = exchange_header(exchange, "content-encoding");
    return coding && strcasecmp(coding, "identity") != 0;
}

/* The routes of the folder take what their senders have. */
static bool is_hook(const struct exchange *exchange) {
    static const char hooks[] = "/hooks/";
    return strncmp(exchange->path, hooks, sizeof hooks - 1) == 0;
}

/* A page of elsewhere may ask what it has a token for; sessions are not for it. */
static bool page_fits(const struct exchange *exchange) {
    return same_site(exchange) || (exchange->allow_origin && !sign_in_is(exchange));
}

bool guard_pass(struct exchange *exchange, const struct settings *settings) {
    if (!host_is_ours(exchange, settings->hosts))
        return refuse(exchange, 421,
                      "the Host is no name of this server (expected its address, localhost, or one "
                      "of the setting hosts)");
    const char *wrong = forwarded_wrong(exchange, settings);
    if (wrong)
        return refuse(exchange, 400, wrong);
    cors_admit(exchange, settings->cors_origins);
    if (cors_answer(exchange))
        return false;
    if (!changes(exchange->method) && !is_hook(exchange))
        return true; /* a route may do something whatever its method is */
    if (!page_fits(exchange))
        return refuse(exchange, 403, "the request comes from a page of another site");
    if (!is_hook(exchange) && is_coded(exchange))
        return refuse(exchange, 415, "the body has a Content-Encoding (expected it as it is)");
    return is_hook(exchange) || kind_fits(exchange) ||
           refuse(exchange, 415,
                  "the Content-Type is not application/json (or application/x-ndjson)");
}
