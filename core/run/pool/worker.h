/* worker.h - one thread of the pool: opens its script, runs items, hands outcomes back
 * (rules §6). */
#pragma once

/* Body of a worker's thread; `arg` is its struct worker (threads.h). */
void *worker_run(void *arg);
/* SIGURG's handler: interrupts the script that runs on this thread. */
void worker_interrupted(int signal);
