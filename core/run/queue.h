/* queue.h - items in line. No lock of its own (rules §6). */
#ifndef MOONSHIFT_RUN_QUEUE_H
#define MOONSHIFT_RUN_QUEUE_H

#include "run/item.h"

struct queue {
    struct item *first, *last;
};

void queue_init(struct queue *queue);
/* At the end. */
void queue_push(struct queue *queue, struct item *item);
/* Where it stands in the order of rules §3, so that what is acquired late but is to run early waits
 * for nobody's page: behind what stands before it or as well, and behind follow-ups. */
void queue_insert(struct queue *queue, const struct acquire *order, struct item *item);
/* Before all others. */
void queue_unshift(struct queue *queue, struct item *item);
/* The first one, or NULL. */
struct item *queue_shift(struct queue *queue);
/* Moves everything in `from` to the end of `queue`. */
void queue_append(struct queue *queue, struct queue *from);
/* Moves the items for which `test` says true, asked from the first to the last, to the end of `to`.
 */
void queue_pull(struct queue *queue, bool (*test)(void *arg, const struct item *item), void *arg,
                struct queue *to);
/* Everything, as a list. */
struct item *queue_take(struct queue *queue);

#endif
