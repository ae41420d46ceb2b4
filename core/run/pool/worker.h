/* worker.h - one thread of the pool: opens its script, runs items, hands outcomes back
 * (rules §6). */
#ifndef MOONSHIFT_RUN_POOL_WORKER_H
#define MOONSHIFT_RUN_POOL_WORKER_H

/* Body of a worker's thread; `arg` is its struct worker (threads.h). */
void *worker_run(void *arg);
/* SIGURG's handler: interrupts the script that runs on this thread. */
void worker_interrupted(int signal);

#endif
