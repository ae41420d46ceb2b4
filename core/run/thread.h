/* thread.h - the only file that includes pthread.h: threads that block all signals, a mutex, a
 * condition. */
#ifndef MOONSHIFT_RUN_THREAD_H
#define MOONSHIFT_RUN_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct thread {
    pthread_t handle;
    bool running;
};
struct mutex {
    pthread_mutex_t handle;
};
struct condition {
    pthread_cond_t handle;
};

/* Starts `run(arg)` with every signal blocked except SIGURG (the deadline's). False: no thread. */
bool thread_start(struct thread *thread, void *(*run)(void *arg), void *arg);
void thread_join(struct thread *thread);
/* Sends the deadline's signal to a running thread. */
void thread_interrupt(struct thread *thread);

#endif
