/* callers.h - finds out who asks: by the process behind a unix socket, by a token, or by the name
 * that a trusted proxy says. What a token stands for is kept for a second, so that a revoked one
 * soon counts no more. Wrong tokens harm no other: they take no place, and a right one is never
 * refused for those that its address has shown.
 *
 * Any thread may ask. Tokens never reach a log or an answer. */
#pragma once

#include "engine/engine.h"
#include "http/who/caller.h"
#include "http/wire/exchange.h"

struct callers;

struct callers_options {
    bool open; /* whoever reaches the sockets may all: a trial on this machine */
    /* metrics_from, trust_proxy, user_scopes and cors_origins of it; outlives them. */
    const struct settings *settings;
};

/* NULL: no memory. */
struct callers *callers_new(const struct callers_options *options);
void callers_free(struct callers *callers);
/* The browsers that are signed in; borrowed. */
struct sessions *callers_sessions(struct callers *callers);
/* Forgets what tokens stand for: the next request of each asks the store. */
void callers_forget(struct callers *callers);

enum caller_verdict {
    CALLER_KNOWN,    /* *caller is filled; the asker's, see caller_clear */
    CALLER_UNKNOWN,  /* no token, or none that counts: 401, to be answered after a moment */
    CALLER_BARRED,   /* the same, after too many such from this address: 429, likewise after a
                        moment, with exchange->retry_after */
    CALLER_TOO_FAST, /* beyond the rate of its token: 429, as above */
    CALLER_FAILED    /* the store did not say: error */
};

/* Who asks. `engine` is that of the calling thread. */
enum caller_verdict callers_find(struct callers *callers, struct engine *engine,
                                 struct exchange *exchange, struct caller *caller,
                                 struct error *error);

/* True once when callers_write_used has something to write. */
bool callers_are_due(struct callers *callers);
/* Writes when tokens were used, of each once a minute at most. By a thread whose engine writes. */
bool callers_write_used(struct callers *callers, struct engine *engine, struct error *error);
