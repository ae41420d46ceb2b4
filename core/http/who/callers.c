#include "http/who/callers.h"
#include "base/json.h"
#include "base/thread.h"
#include "engine/command/token.h"
#include "http/who/credential.h"
#include "http/who/forwarded.h"
#include "http/who/sessions.h"
#include "job/reach.h"
#include "time/rate.h"
#include <pwd.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KEPT = 256,            /* tokens that count, of which the meaning is known */
    ADDRESSES = 512,       /* that have shown unknown tokens */
    MISSES_MOST = 20,      /* unknown ones of an address in a window */
    MISSES_WINDOW = 60000, /* ms */
    FRESH = 1000,          /* ms for which a meaning is kept */
    USED_EVERY = 60000     /* ms between two writes of when a token was used */
};

/* What a token stands for. One that does not count is never kept: anybody may invent some. */
struct kept {
    uint8_t hash[SHA256_DIGEST_LENGTH];
    time_ms read;         /* when the store said so, of the monotonic clock; 0: to be asked */
    struct caller caller; /* `token` 0: the place is empty */
    struct rate rate;
    time_ms window;  /* the present window of its rate began */
    int32_t counted; /* requests in it */
    time_ms written; /* when its use was written */
    bool used;       /* since then */
};

struct address {
    char name[sizeof((struct socket_peer *)0)->address];
    time_ms window;
    int32_t misses;
};

struct callers {
    struct mutex mutex;
    struct sessions *sessions;
    bool open;
    const struct settings *settings;
    uid_t owner;
    char owner_who[CALLER_WHO_SIZE]; /* asking the system takes long */
    bool due;                        /* the use of a token is to be written */
    struct kept kept[KEPT];
    struct address addresses[ADDRESSES];
};

static void owner_name(struct callers *callers) {
    struct passwd room, *user = NULL;
    char names[1024];
    callers->owner = getuid();
    if (getpwuid_r(callers->owner, &room, names, sizeof names, &user) == 0 && user)
        snprintf(callers->owner_who, sizeof callers->owner_who, "unix:%.100s", user->pw_name);
    else
        snprintf(callers->owner_who, sizeof callers->owner_who, "unix:%u",
                 (unsigned)callers->owner);
}

struct callers *callers_new(const struct callers_options *options) {
    struct callers *callers = calloc(1, sizeof *callers);
    if (!callers)
        return NULL;
    callers->sessions = sessions_new();
    if (!callers->sessions) {
        free(callers);
        return NULL;
    }
    mutex_init(&callers->mutex);
    callers->open = options->open;
    callers->settings = options->settings;
    owner_name(callers);
    return callers;
}

void callers_free(struct callers *callers) {
    if (!callers)
        return;
    for (int i = 0; i < KEPT; i++)
        caller_clear(&callers->kept[i].caller);
    sessions_free(callers->sessions);
    mutex_free(&callers->mutex);
    free(callers);
}

struct sessions *callers_sessions(struct callers *callers) {
    return callers->sessions;
}

void callers_forget(struct callers *callers) {
    mutex_lock(&callers->mutex);
    for (int i = 0; i < KEPT; i++)
        callers->kept[i].read = 0;
    mutex_unlock(&callers->mutex);
}

/* ---- the owner of the machine's account ---- */

static enum caller_verdict everything(struct caller *caller, const char *who) {
    *caller = (struct caller){.scopes = SCOPE_ALL};
    snprintf(caller->who, sizeof caller->who, "%s", who);
    return CALLER_KNOWN;
}

static enum caller_verdict local_find(const struct callers *callers, const struct socket_peer *peer,
                                      struct caller *caller) {
    if (peer->user == callers->owner)
        return everything(caller, callers->owner_who);
    return peer->user == 0 ? everything(caller, "unix:root") : CALLER_UNKNOWN;
}

/* ---- addresses that show unknown tokens; under the mutex ---- */

static struct address *address_of(struct callers *callers, const char *name) {
    size_t hash = 5381;
    for (const char *at = name; *at; at++)
        hash = hash * 33 + (unsigned char)*at;
    return &callers->addresses[hash % ADDRESSES];
}

/* Two addresses of one place take turns: each begins anew. */
static struct address *address_now(struct callers *callers, const struct socket_peer *peer,
                                   time_ms now) {
    struct address *address = address_of(callers, peer->address);
    if (strcmp(address->name, peer->address) != 0 || now - address->window >= MISSES_WINDOW) {
        snprintf(address->name, sizeof address->name, "%s", peer->address);
        address->window = now;
        address->misses = 0;
    }
    return address;
}

static int seconds_left(time_ms since, time_ms window, time_ms now) {
    return (int)((since + window - now + 999) / 1000);
}

/* What is shown does not count. A request that has waited was judged when it came. */
static enum caller_verdict address_missed(struct callers *callers, struct exchange *exchange,
                                          time_ms now) {
    struct address *address = address_now(callers, &exchange->peer, now);
    const bool barred = address->misses >= MISSES_MOST;
    if (barred)
        exchange->retry_after = seconds_left(address->window, MISSES_WINDOW, now);
    else if (!exchange->again)
        address->misses++;
    return barred ? CALLER_BARRED : CALLER_UNKNOWN;
}

/* ---- tokens ---- */

/* The same time is taken whatever differs. */
static bool same_hash(const uint8_t *left, const uint8_t *right) {
    unsigned differs = 0;
    for (int i = 0; i < SHA256_DIGEST_LENGTH; i++)
        differs |= (unsigned)(left[i] ^ right[i]);
    return differs == 0;
}

static bool token_read(struct kept *kept, const json_t *token, struct error *error) {
    struct caller *caller = &kept->caller;
    const char *name = json_text(token, "name"), *tenant = json_text(token, "tenant");
    const char *handlers = json_text(token, "handlers"), *rate = json_text(token, "rate");
    json_t *scopes = json_object_get(token, "scopes");
    caller_clear(caller);
    kept->rate = (struct rate){0};
    if (!name)
        return true;
    snprintf(caller->who, sizeof caller->who, "token:%.100s", name);
    caller->token = caller->keys = json_int(token, "id");
    caller->tenant = tenant ? strdup(tenant) : NULL;
    caller->handlers = handlers ? json_read(handlers, strlen(handlers), "handlers", error) : NULL;
    return ((!tenant || caller->tenant) || error_no_memory(error)) &&
           (!handlers || caller->handlers) && scopes_read(scopes, &caller->scopes, error) &&
           (!rate || rate_parse(rate, &kept->rate, error));
}

/* NULL: it is not known to count. Under the mutex, as what follows. */
static struct kept *kept_find(struct callers *callers, const uint8_t *hash) {
    for (int i = 0; i < KEPT; i++)
        if (callers->kept[i].caller.token && same_hash(callers->kept[i].hash, hash))
            return &callers->kept[i];
    return NULL;
}

static bool rate_is_counted(const struct kept *kept, time_ms now) {
    return kept->rate.count && now - kept->window < kept->rate.window;
}

/* An empty place, or that of the one that was read longest ago. The window of a rate is counted to
 * its end where another place can be had. */
static struct kept *kept_make(struct callers *callers, const uint8_t *hash, time_ms now) {
    struct kept *oldest = &callers->kept[0];
    for (int i = 0; i < KEPT && oldest->caller.token; i++) {
        struct kept *kept = &callers->kept[i];
        const bool counted = rate_is_counted(kept, now), other = rate_is_counted(oldest, now);
        if (!kept->caller.token || (counted == other ? kept->read < oldest->read : other))
            oldest = kept;
    }
    caller_clear(&oldest->caller);
    *oldest = (struct kept){0};
    memcpy(oldest->hash, hash, sizeof oldest->hash);
    return oldest;
}

/* What the store has found: a token, or none. *kept NULL: it is none, and was not kept. */
static bool kept_note(struct callers *callers, const uint8_t *hash, const json_t *found,
                      time_ms now, struct kept **kept, struct error *error) {
    *kept = kept_find(callers, hash);
    if (!*kept && !json_text(found, "name"))
        return true;
    if (!*kept)
        *kept = kept_make(callers, hash, now);
    const bool done = token_read(*kept, found, error);
    if (!done)
        caller_clear(&(*kept)->caller);
    (*kept)->read = done ? now : 0;
    return done;
}

static bool too_fast(struct kept *kept, struct exchange *exchange, time_ms now) {
    if (!kept->rate.count)
        return false;
    if (!rate_is_counted(kept, now)) {
        kept->window = now;
        kept->counted = 0;
    }
    if (kept->counted++ < kept->rate.count)
        return false;
    exchange->retry_after = seconds_left(kept->window, kept->rate.window, now);
    return true;
}

/* Once the meaning is fresh; NULL: it does not count. */
static enum caller_verdict kept_judge(struct callers *callers, struct kept *kept,
                                      struct exchange *exchange, struct caller *caller,
                                      struct error *error) {
    const time_ms now = clock_monotonic();
    if (!kept || !kept->caller.token)
        return address_missed(callers, exchange, now);
    if (!exchange->again && too_fast(kept, exchange, now))
        return CALLER_TOO_FAST;
    kept->used = true;
    if (!kept->written || now - kept->written >= USED_EVERY)
        callers->due = true;
    if (caller_copy(caller, &kept->caller))
        return CALLER_KNOWN;
    error_no_memory(error);
    return CALLER_FAILED;
}

/* The store is asked outside of the mutex. */
static enum caller_verdict hash_find(struct callers *callers, struct engine *engine,
                                     struct exchange *exchange, const char *token,
                                     const uint8_t *hash, struct caller *caller,
                                     struct error *error) {
    enum caller_verdict verdict = CALLER_FAILED;
    const time_ms now = clock_monotonic();
    mutex_lock(&callers->mutex);
    struct kept *kept = kept_find(callers, hash);
    const bool fresh = kept && kept->read > now - FRESH;
    if (fresh)
        verdict = kept_judge(callers, kept, exchange, caller, error);
    mutex_unlock(&callers->mutex);
    json_t *found = fresh ? NULL : engine_token_find(engine, token, error);
    if (!found)
        return verdict;
    mutex_lock(&callers->mutex);
    if (kept_note(callers, hash, found, now, &kept, error))
        verdict = kept_judge(callers, kept, exchange, caller, error);
    mutex_unlock(&callers->mutex);
    json_decref(found);
    return verdict;
}

static enum caller_verdict token_find(struct callers *callers, struct engine *engine,
                                      struct exchange *exchange, const char *token,
                                      struct caller *caller, struct error *error) {
    uint8_t hash[SHA256_DIGEST_LENGTH];
    SHA2_CTX context;
    SHA256Init(&context);
    SHA256Update(&context, (const uint8_t *)token, strlen(token));
    SHA256Final(hash, &context);
    return hash_find(callers, engine, exchange, token, hash, caller, error);
}

/* Who shows no token may read the figures from some networks, and nothing else. */
static enum caller_verdict stranger_find(const struct callers *callers,
                                         const struct exchange *exchange, struct caller *caller) {
    const json_t *metrics_from = callers->settings->metrics_from;
    bool metrics = exchange->part_count == 1 && strcmp(exchange->parts[0], "metrics") == 0;
    if (!metrics || !reach_has_text(metrics_from, exchange->peer.address))
        return CALLER_UNKNOWN;
    *caller = (struct caller){.scopes = SCOPE_READ};
    snprintf(caller->who, sizeof caller->who, "metrics_from");
    return CALLER_KNOWN;
}

/* By where it comes from alone. What a proxy hands on comes from anywhere. */
static enum caller_verdict peer_find(const struct callers *callers, const struct exchange *exchange,
                                     struct caller *caller) {
    if (forwarded_by_proxy(exchange, callers->settings))
        return CALLER_UNKNOWN;
    if (exchange->peer.local)
        return local_find(callers, &exchange->peer, caller);
    return callers->open ? everything(caller, "open") : stranger_find(callers, exchange, caller);
}

static enum caller_verdict session_find(struct callers *callers, struct engine *engine,
                                        struct exchange *exchange, struct caller *caller,
                                        struct error *error) {
    char token[CREDENTIAL_SIZE];
    switch (sessions_find(callers->sessions, exchange_header(exchange, "cookie"), token)) {
    case SESSION_TOKEN:
        return token_find(callers, engine, exchange, token, caller, error);
    case SESSION_ALL:
        return everything(caller, "terminal");
    case SESSION_NONE:
        break;
    }
    return peer_find(callers, exchange, caller);
}

/* By a token, or by what a browser shows of itself: a page of elsewhere has no part in that. */
static enum caller_verdict shown_find(struct callers *callers, struct engine *engine,
                                      struct exchange *exchange, struct caller *caller,
                                      struct error *error) {
    char token[CREDENTIAL_SIZE];
    if (credential_read(exchange_header(exchange, "authorization"), token))
        return token_find(callers, engine, exchange, token, caller, error);
    return exchange->allow_origin ? CALLER_UNKNOWN
                                  : session_find(callers, engine, exchange, caller, error);
}

enum caller_verdict callers_find(struct callers *callers, struct engine *engine,
                                 struct exchange *exchange, struct caller *caller,
                                 struct error *error) {
    *caller = (struct caller){0};
    enum forwarded forwarded = exchange->allow_origin
                                   ? FORWARDED_NONE
                                   : forwarded_find(exchange, callers->settings, caller);
    if (forwarded == FORWARDED_USER)
        return CALLER_KNOWN;
    if (forwarded == FORWARDED_NONE)
        return shown_find(callers, engine, exchange, caller, error);
    error_no_memory(error);
    return CALLER_FAILED;
}

/* ---- when they were used ---- */

/* The id of a token whose use is to be written; 0: none. */
static int64_t used_next(struct callers *callers, time_ms now) {
    int64_t id = 0;
    mutex_lock(&callers->mutex);
    for (int i = 0; i < KEPT && !id; i++) {
        struct kept *kept = &callers->kept[i];
        if (!kept->used || (kept->written && now - kept->written < USED_EVERY))
            continue;
        id = kept->caller.token;
        kept->written = now;
        kept->used = false;
    }
    mutex_unlock(&callers->mutex);
    return id;
}

bool callers_are_due(struct callers *callers) {
    mutex_lock(&callers->mutex);
    bool due = callers->due;
    callers->due = false;
    mutex_unlock(&callers->mutex);
    return due;
}

bool callers_write_used(struct callers *callers, struct engine *engine, struct error *error) {
    int64_t id;
    while ((id = used_next(callers, clock_monotonic())))
        if (!engine_token_used(engine, id, error))
            return false;
    return true;
}
