#include "run/queue.h"
#include <stddef.h>

void queue_init(struct queue *queue) {
    queue->first = queue->last = NULL;
}

/* Behind `before`; NULL: at the front. */
static void put(struct queue *queue, struct item *before, struct item *item) {
    struct item **at = before ? &before->next : &queue->first;
    item->next = *at;
    *at = item;
    if (!item->next)
        queue->last = item;
}

void queue_push(struct queue *queue, struct item *item) {
    put(queue, queue->last, item);
}

void queue_insert(struct queue *queue, const struct acquire *order, struct item *item) {
    struct spot own = acquire_spot(item->jobs), other = own;
    struct item *before = NULL;
    if (queue->last)
        other = acquire_spot(queue->last->jobs);
    if (!acquire_before(order, &own, &other)) {
        queue_push(queue, item);
        return;
    }
    for (struct item *next = queue->first; next; before = next, next = next->next) {
        other = acquire_spot(next->jobs);
        if (!next->followed && acquire_before(order, &own, &other))
            break;
    }
    put(queue, before, item);
}

void queue_unshift(struct queue *queue, struct item *item) {
    put(queue, NULL, item);
}

struct item *queue_shift(struct queue *queue) {
    struct item *item = queue->first;
    if (!item)
        return NULL;
    queue->first = item->next;
    if (!queue->first)
        queue->last = NULL;
    item->next = NULL;
    return item;
}

void queue_append(struct queue *queue, struct queue *from) {
    if (!from->first)
        return;
    if (queue->last)
        queue->last->next = from->first;
    else
        queue->first = from->first;
    queue->last = from->last;
    queue_init(from);
}

void queue_pull(struct queue *queue, bool (*test)(void *arg, const struct item *item), void *arg,
                struct queue *to) {
    struct item *item = queue_take(queue), *next;
    for (; item; item = next) {
        next = item->next;
        queue_push(test(arg, item) ? to : queue, item);
    }
}

struct item *queue_take(struct queue *queue) {
    struct item *items = queue->first;
    queue_init(queue);
    return items;
}
