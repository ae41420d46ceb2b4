/* reactor.h - waits for descriptors, signals, other threads and the time: the only part that
 * includes ev.h.
 *
 * A reactor belongs to one thread; reactor_wake and watch_new are for all. Its owner works in
 * rounds: reactor_wait calls what has been watched for, and returns. */
#pragma once

#include "base/clock.h"
#include "base/error.h"

struct reactor;
struct watch;

/* NULL: error. */
struct reactor *reactor_new(struct error *error);
/* Its watches have been freed. NULL is fine. */
void reactor_free(struct reactor *reactor);

/* Waits until something watched has happened, another thread wakes it, or so many ms have passed;
 * TIME_NEVER: they do not pass. With 0 or less it only looks. */
void reactor_wait(struct reactor *reactor, time_ms ms);
/* Any thread, and signals: ends the wait, or the next one. */
void reactor_wake(struct reactor *reactor);

/* ---- descriptors ---- */

enum { WATCH_NOTHING = 0, WATCH_READ = 1, WATCH_WRITE = 2 };

/* Watches nothing yet. `call` may free the watch. Any thread. NULL: no memory. */
struct watch *watch_new(struct reactor *reactor, int file, void (*call)(void *arg, int events),
                        void *arg);
/* What is watched for from now on. */
void watch_for(struct watch *watch, int events);
void watch_free(struct watch *watch); /* the descriptor stays open; NULL is fine */

/* ---- signals, of one reactor in the program ---- */

enum { REACTOR_SIGNALS = 4 };

/* Calls `call` in the reactor's thread after each such signal; at most REACTOR_SIGNALS. */
void reactor_signal(struct reactor *reactor, int signal, void (*call)(void *arg), void *arg);
/* Watches for them no more: their action is the system's default again. */
void reactor_signals_end(struct reactor *reactor);
/* Inside a signal handler: has the same effect as the signal. */
void reactor_signal_came(int signal);
