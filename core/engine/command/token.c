#include "engine/command/token.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/engine_state.h"
#include "store/token.h"
#include "time/instant.h"
#include "time/span.h"
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define PREFIX "ms_"

enum {
    RANDOM = 32,                  /* bytes of a token */
    HINT = sizeof PREFIX - 1 + 6, /* characters that are kept */
    NAME_MOST = 100               /* bytes of a name, which stands in the operation log */
};

static const char *const keys[] = {"name", "scopes", "tenant", "handlers", "rate", "expires", NULL};

/* A description taken apart. */
struct described {
    struct store_token token;
    char scopes[SCOPES_TEXT_SIZE], rate[RATE_TEXT_SIZE];
    char hash[SHA256_DIGEST_STRING_LENGTH], hint[HINT + 1];
    char *handlers;
};

static void hash_of(const char *token, char hash[SHA256_DIGEST_STRING_LENGTH]) {
    SHA256Data((const uint8_t *)token, strlen(token), hash);
}

static bool draw(char token[TOKEN_SIZE], struct error *error) {
    unsigned char drawn[RANDOM];
    if (getrandom(drawn, sizeof drawn, 0) != sizeof drawn)
        return error_set(error, ERROR_FAILED, "no random numbers for a token");
    char *end = stpcpy(token, PREFIX);
    for (size_t i = 0; i < sizeof drawn; i++)
        end += sprintf(end, "%02x", drawn[i]);
    return true;
}

/* ---- a description ---- */

static bool read_text(const json_t *object, const char *key, size_t most, const char **text,
                      struct error *error) {
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value))
        return true;
    *text = json_string_value(value);
    const size_t size = json_string_length(value);
    if (*text && size > 0 && size <= most && !utf8_has_hidden(*text))
        return true;
    char expected[64];
    snprintf(expected, sizeof expected, "a text of 1 to %zu bytes", most);
    return json_refuse(key, value, expected, error);
}

static bool handlers_read(struct described *described, const json_t *handlers,
                          struct error *error) {
    if (!handlers || json_is_null(handlers))
        return true;
    if (!handlers_check(handlers, error))
        return false;
    described->token.handlers = described->handlers = json_write(handlers, NULL);
    return described->handlers || error_no_memory(error);
}

static bool rate_read(struct described *described, const char *text, struct error *error) {
    struct rate rate;
    if (!text)
        return true;
    if (!rate_parse(text, &rate, error))
        return false;
    rate_format(&rate, described->rate);
    described->token.rate = described->rate;
    return true;
}

/* A span counts from now. */
static bool expires_read(struct engine *engine, const char *text, time_ms *expires,
                         struct error *error) {
    struct span span;
    time_ms now = engine_now(engine);
    *expires = TIME_NONE;
    if (!text)
        return true;
    if (span_parse(text, &span, NULL)) {
        *expires = span_add(now, &span);
    } else {
        const struct zone *zone = zone_find(engine->options.settings->zone, error);
        struct wall wall = wall_of_zone(zone);
        if (!zone || !instant_parse(text, &wall, now, expires, NULL, error))
            return false;
    }
    return *expires > now || error_set(error, ERROR_INVALID,
                                       "expires \"%s\": expected a time that is not over", text);
}

static bool keys_check(const json_t *object, struct error *error) {
    return json_is_object(object)
               ? json_keys(object, keys, "unknown key", "expected", error)
               : json_refuse("token", object, "an object with name and scopes", error);
}

static bool description_read(struct engine *engine, const json_t *object,
                             struct described *described, struct error *error) {
    unsigned scopes = 0;
    const char *rate = NULL, *expires = NULL;
    struct store_token *token = &described->token;
    if (!keys_check(object, error) || !read_text(object, "name", NAME_MOST, &token->name, error) ||
        !scopes_read(json_object_get(object, "scopes"), &scopes, error) ||
        !read_text(object, "tenant", JOB_NAME_MAX, &token->tenant, error) ||
        !read_text(object, "rate", RATE_TEXT_SIZE, &rate, error) ||
        !read_text(object, "expires", TIME_TEXT_SIZE * 2, &expires, error))
        return false;
    scopes_write(scopes, described->scopes);
    token->scopes = described->scopes;
    return (token->name || error_set(error, ERROR_INVALID, "token: expected a name")) &&
           rate_read(described, rate, error) &&
           expires_read(engine, expires, &token->expires, error) &&
           handlers_read(described, json_object_get(object, "handlers"), error);
}

/* ---- tokens ---- */

static bool token_write(struct engine *engine, struct described *described, char token[TOKEN_SIZE],
                        struct error *error) {
    int64_t id;
    if (!draw(token, error))
        return false;
    hash_of(token, described->hash);
    snprintf(described->hint, sizeof described->hint, "%s", token);
    described->token.hash = described->hash;
    described->token.hint = described->hint;
    if (!store_begin(engine->store, STORE_COMMAND, error))
        return false;
    bool done =
        store_token_create(engine->store, &described->token, engine_now(engine), &id, error);
    return engine_end(engine, done, error);
}

bool engine_token_create(struct engine *engine, const json_t *object, char token[TOKEN_SIZE],
                         struct error *error) {
    struct described described = {0};
    bool done = engine_idle(engine, error) && description_read(engine, object, &described, error) &&
                token_write(engine, &described, token, error);
    free(described.handlers);
    return done;
}

bool engine_token_revoke(struct engine *engine, const char *name, struct error *error) {
    if (!engine_idle(engine, error) || !store_begin(engine->store, STORE_COMMAND, error))
        return false;
    bool done = store_token_revoke(engine->store, name, engine_now(engine), error);
    return engine_end(engine, done, error);
}

json_t *engine_token_find(struct engine *engine, const char *token, struct error *error) {
    char hash[SHA256_DIGEST_STRING_LENGTH];
    hash_of(token, hash);
    return store_token_find(engine->store, hash, engine_now(engine), error);
}

bool engine_token_used(struct engine *engine, int64_t id, struct error *error) {
    if (!store_begin(engine->store, STORE_CREATION, error))
        return false;
    bool done = store_token_used(engine->store, id, engine_now(engine), error);
    return engine_end(engine, done, error);
}
