#include "base/thread.h"
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

static atomic_int told_to_stop;
static void (*volatile stop_then)(int signal); /* NULL: nobody acts on it yet */

bool thread_start(struct thread *thread, void *(*run)(void *arg), void *arg) {
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* of the thread itself: what is blocked would kill without a word */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread->running = pthread_create(&thread->handle, NULL, run, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return thread->running;
}

void thread_join(struct thread *thread) {
    if (thread->running)
        pthread_join(thread->handle, NULL);
    thread->running = false;
}

void thread_detach(struct thread *thread) {
    if (thread->running)
        pthread_detach(thread->handle);
    thread->running = false;
}

static void handle(int signal, void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, NULL);
}

void thread_on_interrupt(void (*handler)(int signal)) {
    handle(SIGURG, handler);
}

void thread_take_interrupts(void) {
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    sigaddset(&urgent, SIGSEGV); /* a fault that is blocked cannot be caught */
    sigaddset(&urgent, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &urgent, NULL);
}

void thread_interrupt(struct thread *thread) {
    if (thread->running)
        pthread_kill(thread->handle, SIGURG);
}

bool thread_hold_hang_up(bool hold) {
    sigset_t hang_up, before;
    sigemptyset(&hang_up);
    sigaddset(&hang_up, SIGHUP);
    pthread_sigmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &hang_up, &before);
    return sigismember(&before, SIGHUP) == 1;
}

void thread_hold_stops(bool hold) {
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGINT);
    sigaddset(&stops, SIGUSR2);
    pthread_sigmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &stops, NULL);
}

static void nothing(int signal) {
    (void)signal;
}

static void on_stop(int signal) {
    bool again = atomic_fetch_add(&told_to_stop, 1) > 0;
    void (*then)(int) = stop_then;
    if (then)
        then(signal);
    else if (again)
        _exit(0); /* it starts, and has been told twice */
}

/* Empty handlers rather than SIG_IGN, which programs started by handlers would inherit. */
void thread_mind_signals(void) {
    handle(SIGTERM, on_stop);
    handle(SIGINT, on_stop);
    handle(SIGUSR1, nothing);
    handle(SIGUSR2, nothing);
    thread_hold_hang_up(true);
}

void thread_on_stop(void (*then)(int signal)) {
    stop_then = then ? then : nothing;
    handle(SIGTERM, on_stop);
    handle(SIGINT, on_stop);
    if (atomic_load(&told_to_stop))
        stop_then(SIGTERM);
}

void thread_on_question(void (*then)(int signal)) {
    handle(SIGUSR2, then ? then : nothing);
}

int thread_told_to_stop(void) {
    return atomic_load(&told_to_stop);
}

void thread_survive_pipes(void) {
    handle(SIGPIPE, nothing);
}

static sigset_t pipes(void) {
    sigset_t broken;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    return broken;
}

bool thread_hold_pipes(void) {
    sigset_t broken = pipes(), before;
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    return sigismember(&before, SIGPIPE) == 1;
}

void thread_release_pipes(bool held) {
    const struct timespec at_once = {0, 0};
    sigset_t broken = pipes();
    int failure = errno;
    if (!held) {
        sigtimedwait(&broken, NULL, &at_once);
        pthread_sigmask(SIG_UNBLOCK, &broken, NULL);
    }
    errno = failure;
}

/* Sections are a few instructions long: spinning for a moment is cheaper than sleeping. */
void mutex_init(struct mutex *mutex) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(&mutex->handle, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

void mutex_free(struct mutex *mutex) {
    pthread_mutex_destroy(&mutex->handle);
}

void mutex_lock(struct mutex *mutex) {
    pthread_mutex_lock(&mutex->handle);
}

void mutex_unlock(struct mutex *mutex) {
    pthread_mutex_unlock(&mutex->handle);
}

void condition_init(struct condition *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&condition->handle, &attributes);
    pthread_condattr_destroy(&attributes);
}

void condition_free(struct condition *condition) {
    pthread_cond_destroy(&condition->handle);
}

void condition_wait(struct condition *condition, struct mutex *mutex) {
    pthread_cond_wait(&condition->handle, &mutex->handle);
}

bool condition_wait_until(struct condition *condition, struct mutex *mutex, time_ms until) {
    struct timespec at = {.tv_sec = until / 1000, .tv_nsec = until % 1000 * 1000000};
    return pthread_cond_timedwait(&condition->handle, &mutex->handle, &at) == 0;
}

bool condition_wait_until_us(struct condition *condition, struct mutex *mutex, int64_t until) {
    struct timespec at = {.tv_sec = until / 1000000, .tv_nsec = until % 1000000 * 1000};
    return pthread_cond_timedwait(&condition->handle, &mutex->handle, &at) == 0;
}

void condition_signal(struct condition *condition) {
    pthread_cond_signal(&condition->handle);
}

void condition_broadcast(struct condition *condition) {
    pthread_cond_broadcast(&condition->handle);
}

void semaphore_init(struct semaphore *semaphore) {
    sem_init(&semaphore->handle, 0, 0);
}

void semaphore_free(struct semaphore *semaphore) {
    sem_destroy(&semaphore->handle);
}

void semaphore_wait(struct semaphore *semaphore) {
    while (sem_wait(&semaphore->handle) != 0 && errno == EINTR)
        ;
}

bool semaphore_wait_for(struct semaphore *semaphore, int64_t microseconds) {
    int64_t until = clock_monotonic_us() + microseconds;
    struct timespec at = {.tv_sec = until / 1000000, .tv_nsec = until % 1000000 * 1000};
    int code = 0;
    while ((code = sem_clockwait(&semaphore->handle, CLOCK_MONOTONIC, &at)) != 0 && errno == EINTR)
        ;
#ifdef __SANITIZE_THREAD__ /* which does not know sem_clockwait */
    if (code == 0)
        __tsan_acquire(&semaphore->handle);
#endif
    return code == 0;
}

void semaphore_post(struct semaphore *semaphore) {
    sem_post(&semaphore->handle);
}
