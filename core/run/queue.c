#include "run/queue.h"
#include <stddef.h>

void queue_init(struct queue *queue) {
    queue->first = NULL;
    queue->last = &queue->first;
}

void queue_push(struct queue *queue, struct item *item) {
    item->next = NULL;
    *queue->last = item;
    queue->last = &item->next;
}

void queue_unshift(struct queue *queue, struct item *item) {
    item->next = queue->first;
    queue->first = item;
    if (!item->next)
        queue->last = &item->next;
}

struct item *queue_shift(struct queue *queue) {
    struct item *item = queue->first;
    if (!item)
        return NULL;
    queue->first = item->next;
    if (!queue->first)
        queue->last = &queue->first;
    item->next = NULL;
    return item;
}

void queue_append(struct queue *queue, struct queue *from) {
    if (!from->first)
        return;
    *queue->last = from->first;
    queue->last = from->last;
    queue_init(from);
}

struct item *queue_take(struct queue *queue) {
    struct item *items = queue->first;
    queue_init(queue);
    return items;
}
