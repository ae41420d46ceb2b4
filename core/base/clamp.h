/* clamp.h - keeps a number between two bounds. */
#pragma once

#include <stdint.h>

/* The number nearest to `value` from `least` to `most`. */
static inline int64_t clamp(int64_t value, int64_t least, int64_t most) {
    if (value < least)
        return least;
    return value > most ? most : value;
}
