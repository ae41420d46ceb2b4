/* thread.h - the only file that includes pthread.h: threads that block all signals, a mutex, a
 * condition, a semaphore. */
#pragma once

#include "base/clock.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>

struct thread {
    pthread_t handle;
    bool running; /* started and not yet joined; touched by its owner only */
};
struct mutex {
    pthread_mutex_t handle;
};
struct condition {
    pthread_cond_t handle;
};
struct semaphore {
    sem_t handle;
};

/* Starts `run(arg)` with every signal blocked. False: no thread. */
bool thread_start(struct thread *thread, void *(*run)(void *arg), void *arg);
/* Waits for its end; no effect if it does not run. */
void thread_join(struct thread *thread);
/* Nobody will join it: it ends on its own. */
void thread_detach(struct thread *thread);

/* The deadline's signal (SIGURG), in the program only: what every interrupted thread does. */
void thread_on_interrupt(void (*handler)(int signal));
/* Called in a thread: from now on it can be interrupted. */
void thread_take_interrupts(void);
/* Sends the deadline's signal to a running thread. */
void thread_interrupt(struct thread *thread);
/* A hang-up that comes while it is held waits; without that it would end a program that is not
 * ready for it. Returns whether it was held before. */
bool thread_hold_hang_up(bool hold);
/* The program that runs jobs, before anything else: TERM and INT are remembered until somebody acts
 * on them, a second one ends the process at once, with 0; HUP waits; USR1 and USR2 do nothing. */
void thread_mind_signals(void);
/* A TERM, INT or USR2 that comes while they are held waits. */
void thread_hold_stops(bool hold);
/* TERM and INT (rules §15), in the program only: `then` is called inside the signal, and now if one
 * has come already. What the signal says is true from that instant on, however long the thread that
 * acts on it is busy. NULL: the program ends, they do nothing any more. */
void thread_on_stop(void (*then)(int signal));
int thread_told_to_stop(void); /* so many times */
/* USR2, in the program only: `then` is called inside the signal; NULL: it does nothing. */
void thread_on_question(void (*then)(int signal));
/* Writing to a closed pipe is an error, not the end of the program. An empty handler rather than
 * SIG_IGN, which programs started by handlers would inherit. */
void thread_survive_pipes(void);
/* The same for what this thread writes until the release, in a program that is not ours. Returns
 * whether they were held before, for the release. */
bool thread_hold_pipes(void);
void thread_release_pipes(bool held);

void mutex_init(struct mutex *mutex);
void mutex_free(struct mutex *mutex);
void mutex_lock(struct mutex *mutex);
void mutex_unlock(struct mutex *mutex);

void condition_init(struct condition *condition);
void condition_free(struct condition *condition);
/* As usual: the mutex is let go while waiting, and waking up proves nothing. */
void condition_wait(struct condition *condition, struct mutex *mutex);
/* False: the monotonic instant `until` has passed. */
bool condition_wait_until(struct condition *condition, struct mutex *mutex, time_ms until);
/* The same in microseconds. */
bool condition_wait_until_us(struct condition *condition, struct mutex *mutex, int64_t until);
void condition_signal(struct condition *condition);
void condition_broadcast(struct condition *condition);

/* At 0. Who waits for it may free it as soon as it is posted. */
void semaphore_init(struct semaphore *semaphore);
void semaphore_free(struct semaphore *semaphore);
void semaphore_wait(struct semaphore *semaphore);
/* False: it was not posted for so many microseconds. */
bool semaphore_wait_for(struct semaphore *semaphore, int64_t microseconds);
void semaphore_post(struct semaphore *semaphore);
