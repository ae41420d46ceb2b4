/* clamp.h - keeps a number between two bounds. */
#ifndef MOONSHIFT_BASE_CLAMP_H
#define MOONSHIFT_BASE_CLAMP_H

#include <stdint.h>

/* The number nearest to `value` from `least` to `most`. */
static inline int64_t clamp(int64_t value, int64_t least, int64_t most) {
    if (value < least)
        return least;
    return value > most ? most : value;
}

#endif
