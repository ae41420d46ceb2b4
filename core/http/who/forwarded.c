#include "http/who/forwarded.h"
#include "base/text.h"
#include "job/caller/user_scopes.h"
#include "job/reach.h"
#include <sha2.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 100 /* bytes; it stands in the operation log */ };

static const char *user_of(const struct exchange *exchange) {
    const char *user = exchange_header(exchange, "x-forwarded-user");
    return user && *user ? user : NULL;
}

bool forwarded_by_proxy(const struct exchange *exchange, const struct settings *settings) {
    return reach_has_peer(settings->trust_proxy, exchange->peer.address);
}

const char *forwarded_wrong(const struct exchange *exchange, const struct settings *settings) {
    const char *user = user_of(exchange);
    const bool named = exchange_header(exchange, "x-forwarded-user") ||
                       exchange_header(exchange, "x-forwarded-groups");
    if (!named)
        return NULL;
    if (!forwarded_by_proxy(exchange, settings))
        return "X-Forwarded-User and X-Forwarded-Groups come from a proxy alone (expected none, or "
               "a peer of the setting trust_proxy)";
    if (user && (strlen(user) > NAME_MOST || *user == '@' || utf8_has_hidden(user)))
        return "X-Forwarded-User: expected a name of 1 to 100 bytes that does not begin with @";
    return NULL;
}

/* A token's keys are its id, which is positive; the owner's are 0. */
static int64_t keys_of(const char *user) {
    uint8_t hash[SHA256_DIGEST_LENGTH];
    int64_t keys;
    SHA2_CTX context;
    SHA256Init(&context);
    SHA256Update(&context, (const uint8_t *)user, strlen(user));
    SHA256Final(hash, &context);
    memcpy(&keys, hash, sizeof keys);
    return keys | INT64_MIN;
}

enum forwarded forwarded_find(const struct exchange *exchange, const struct settings *settings,
                              struct caller *caller) {
    const char *user = user_of(exchange);
    if (!user || !forwarded_by_proxy(exchange, settings))
        return FORWARDED_NONE;
    const char *groups = exchange_header(exchange, "x-forwarded-groups");
    const struct user_rights rights = user_scopes_of(settings->user_scopes, user, groups);
    struct caller found = {.keys = keys_of(user),
                           .scopes = rights.scopes,
                           .tenant = (char *)(uintptr_t)rights.tenant,
                           .handlers = (json_t *)(uintptr_t)rights.handlers};
    snprintf(found.who, sizeof found.who, "user:%s", user);
    return caller_copy(caller, &found) ? FORWARDED_USER : FORWARDED_FAILED;
}
