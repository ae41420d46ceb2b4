/* crew.h - threads that work on requests, each with an engine of its own: the clerk, the readers,
 * the walkers. */
#pragma once

#include "engine/engine.h"
#include "http/wire/exchange.h"

struct crew;

enum { CREW_MOST = 1024 }; /* threads */

struct crew_options {
    int threads;           /* at most; each is begun when all others are busy */
    time_ms keep_alive;    /* one that has nothing to do for so long ends; TIME_NEVER: none does */
    struct engine *engine; /* of the first thread, which takes it over; NULL: it opens one */
    /* In the thread. An engine; NULL: error. */
    struct engine *(*open)(void *arg, struct error *error);
    /* Called before a request if the files may have changed; false: error, the old ones stay. */
    bool (*renew)(void *arg, struct engine *engine, struct error *error);
    /* Fills in the answer and hands it back. Without an engine, `error` says why. */
    void (*work)(void *arg, struct engine *engine, struct exchange *exchange,
                 const struct error *error);
    /* `work` gets all that is asked, a list by `next`. It waits for those who come again, see
     * engine/gather.h. */
    bool gathers;
    /* Of a crew that does not gather: what is asked and may be worked on with others comes with
     * them, in a list; a thread takes its share of what waits. NULL: each comes alone. */
    bool (*joins)(const struct exchange *exchange);
    void *arg;
};

/* Starts no thread yet; takes the engine in any case. NULL: error. */
struct crew *crew_new(const struct crew_options *options, struct error *error);

/* Any thread: somebody of the crew works on it soon. False: no thread can be begun. */
bool crew_ask(struct crew *crew, struct exchange *exchange);
/* Any thread: each engine is renewed before its next request. */
void crew_renew(struct crew *crew);

/* Ends the threads once nothing is asked any more, closes the engines. NULL is fine. */
void crew_free(struct crew *crew);
