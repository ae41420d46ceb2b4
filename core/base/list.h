/* list.h - an array that grows by one at a time. */
#pragma once

#include <stddef.h>
#include <stdlib.h>

/* The array of `count` elements with room for one more. It doubles where `count` is a power of two,
 * so only this function may make it grow. NULL: no memory, the array is as it was. */
static inline void *list_room(void *list, size_t count, size_t size) {
    return count & (count - 1) ? list : realloc(list, (count ? count * 2 : 1) * size);
}
