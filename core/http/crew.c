#include "http/crew.h"
#include "base/log.h"
#include "base/thread.h"
#include "engine/gather.h"
#include <stdlib.h>

enum { LONGEST = 20000 }; /* microseconds that count of what a writing took */

/* One of its threads. */
struct hand {
    struct crew *crew;
    struct thread thread; /* the mutex guards it, and `over` */
    bool over;            /* it ends by itself, and can be begun again */
    struct engine *engine;
    int files; /* that its engine has; the crew's number */
};

struct crew {
    struct crew_options options;
    struct mutex mutex; /* guards what follows */
    struct condition changed;
    struct exchange *first, **end; /* what is asked, in the order it came */
    int waiting, idle;             /* requests; threads */
    struct gather gather;          /* for how many one that gathers waits, and how long */
    bool gathering;                /* it does: it is called once they are there */
    int files;                     /* counts the changes of the files */
    bool ends;
    struct hand hands[];
};

struct crew *crew_new(const struct crew_options *options, struct error *error) {
    size_t threads = (size_t)options->threads;
    struct crew *crew = calloc(1, sizeof *crew + threads * sizeof *crew->hands);
    if (!crew) {
        engine_close(options->engine);
        error_no_memory(error);
        return NULL;
    }
    crew->options = *options;
    mutex_init(&crew->mutex);
    condition_init(&crew->changed);
    for (size_t i = 0; i < threads; i++)
        crew->hands[i].crew = crew;
    crew->hands[0].engine = options->engine;
    return crew;
}

/* ---- a thread ---- */

/* Nothing came for keep_alive. The mutex is held. */
static bool tired(struct crew *crew, time_ms since) {
    time_ms limit = crew->options.keep_alive;
    if (limit == TIME_NEVER) {
        condition_wait(&crew->changed, &crew->mutex);
        return false;
    }
    return !condition_wait_until(&crew->changed, &crew->mutex, since + limit) && !crew->first;
}

/* As many are there as came lately. The mutex is held. */
static bool are_there(const struct crew *crew) {
    return crew->ends || (size_t)crew->waiting >= crew->gather.expected;
}

/* Waits for the others. The mutex is held. */
static void gather(struct crew *crew) {
    int64_t until = clock_monotonic_us() + crew->gather.patience;
    crew->gathering = true;
    while (!are_there(crew) && condition_wait_until_us(&crew->changed, &crew->mutex, until))
        continue;
    crew->gathering = false;
}

static bool joins(const struct crew *crew, const struct exchange *exchange) {
    return crew->options.joins && crew->options.joins(exchange);
}

/* The first request, and those behind it that may be worked on with it. The mutex is held. */
static void take_share(struct crew *crew) {
    const int threads = crew->options.threads;
    struct exchange *last = crew->first;
    int left = (crew->waiting + threads - 1) / threads - 1;
    crew->waiting--;
    for (; left > 0 && last->next && joins(crew, last) && joins(crew, last->next); left--) {
        last = last->next;
        crew->waiting--;
    }
    crew->first = last->next;
    last->next = NULL;
}

/* The first requests, or all of them. NULL: there is none. The mutex is held. */
static struct exchange *take(struct crew *crew) {
    struct exchange *exchange = crew->first;
    if (exchange && crew->options.gathers) {
        gather(crew);
        crew->first = NULL;
        crew->gather.expected = (size_t)crew->waiting;
        crew->waiting = 0;
    } else if (exchange)
        take_share(crew);
    return exchange;
}

/* Waits for the next request. NULL: the thread ends. The mutex is held. */
static struct exchange *next_request(struct crew *crew) {
    time_ms since = clock_monotonic();
    bool over = false;
    crew->idle++;
    while (!crew->first && !crew->ends && !over)
        over = tired(crew, since);
    crew->idle--;
    return take(crew);
}

/* Its engine, as it is to be for the next request. NULL: error. */
static struct engine *engine_of(struct hand *hand, int files, struct error *error) {
    const struct crew_options *options = &hand->crew->options;
    struct error why = {0};
    if (!hand->engine) {
        hand->engine = options->open(options->arg, error);
        hand->files = files;
    } else if (hand->files != files) {
        hand->files = files;
        if (!options->renew(options->arg, hand->engine, &why))
            log_event(LOG_WARN, "http keeps the files it has", "error:s", why.text);
    }
    return hand->engine;
}

/* Those that were answered come again, beside those that wait by now. The mutex is held. */
static void expect(struct crew *crew, int64_t began) {
    int64_t took = clock_monotonic_us() - began;
    crew->gather =
        gather_next(crew->gather.expected, (size_t)crew->waiting, took < LONGEST ? took : LONGEST);
}

/* The mutex is held. */
static void serve(struct hand *hand) {
    struct crew *crew = hand->crew;
    struct exchange *exchange;
    while ((exchange = next_request(crew))) {
        int files = crew->files;
        int64_t began = clock_monotonic_us();
        struct error error = {0};
        mutex_unlock(&crew->mutex);
        struct engine *engine = engine_of(hand, files, &error);
        crew->options.work(crew->options.arg, engine, exchange, &error);
        mutex_lock(&crew->mutex);
        if (crew->options.gathers)
            expect(crew, began);
    }
}

/* It is over once its engine is closed: who joins it then waits for nothing. */
static void *run(void *arg) {
    struct hand *hand = arg;
    struct crew *crew = hand->crew;
    mutex_lock(&crew->mutex);
    do {
        serve(hand);
        struct engine *engine = hand->engine;
        hand->engine = NULL;
        mutex_unlock(&crew->mutex);
        engine_close(engine);
        mutex_lock(&crew->mutex);
    } while (crew->first);
    hand->over = true; /* what is asked from now on is another thread's */
    mutex_unlock(&crew->mutex);
    return NULL;
}

/* Begins one more, if there may be one. The mutex is held. */
static void begin(struct crew *crew) {
    struct hand *hand = NULL;
    for (int i = 0; i < crew->options.threads && !hand; i++)
        if (!crew->hands[i].thread.running || crew->hands[i].over)
            hand = &crew->hands[i];
    if (!hand)
        return;
    thread_join(&hand->thread);
    hand->over = false;
    thread_start(&hand->thread, run, hand);
}

static bool has_thread(const struct crew *crew) {
    for (int i = 0; i < crew->options.threads; i++)
        if (crew->hands[i].thread.running && !crew->hands[i].over)
            return true;
    return false;
}

/* ---- the calls of others ---- */

bool crew_ask(struct crew *crew, struct exchange *exchange) {
    mutex_lock(&crew->mutex);
    if (crew->waiting >= crew->idle)
        begin(crew);
    bool fine = has_thread(crew);
    if (fine) {
        if (!crew->first)
            crew->end = &crew->first;
        exchange->next = NULL;
        *crew->end = exchange;
        crew->end = &exchange->next;
        crew->waiting++;
        if (!crew->gathering || are_there(crew))
            condition_signal(&crew->changed);
    }
    mutex_unlock(&crew->mutex);
    return fine;
}

void crew_renew(struct crew *crew) {
    mutex_lock(&crew->mutex);
    crew->files++;
    mutex_unlock(&crew->mutex);
}

void crew_free(struct crew *crew) {
    if (!crew)
        return;
    mutex_lock(&crew->mutex);
    crew->ends = true;
    condition_broadcast(&crew->changed);
    mutex_unlock(&crew->mutex);
    for (int i = 0; i < crew->options.threads; i++) {
        thread_join(&crew->hands[i].thread);
        engine_close(crew->hands[i].engine);
    }
    condition_free(&crew->changed);
    mutex_free(&crew->mutex);
    free(crew);
}
