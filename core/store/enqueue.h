/* enqueue.h - one job, created by one of many processes (rules §1): those that ask at the same
 * moment share a sync. */
#ifndef MOONSHIFT_STORE_ENQUEUE_H
#define MOONSHIFT_STORE_ENQUEUE_H

#include "store/store.h"

/* As store_create of one job with id 0, in a transaction of its own; on disk when it returns. Of
 * several processes that ask meanwhile one writes for all. After an error it is not there, unless
 * that was the disk's. */
bool store_enqueue(struct store *store, struct job *job, time_ms now, struct error *error);

#endif
