/* errand.h - one piece of work on a thread of its own, while the verb goes on reading keys. */
#pragma once

#include "base/thread.h"

/* Zero-initialise, then errand_init. */
struct errand {
    struct thread thread;
    void (*run)(void *arg);
    void *arg;
    struct mutex mutex;
    struct condition over;
    bool done; /* under the mutex */
    time_ms began;
};

void errand_init(struct errand *errand);
/* None is under way. */
void errand_free(struct errand *errand);

/* Calls `run` beside the caller, or here if the system gives no thread. None is under way. */
void errand_begin(struct errand *errand, void (*run)(void *arg), void *arg);
/* Waits at most so many ms for its end, 0: not at all. True: none is under way (any more). */
bool errand_over(struct errand *errand, time_ms wait);
