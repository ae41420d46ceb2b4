/* gather.h - how long a commit waits for creators (rules §1): a pure rule, for a thread that serves
 * many.
 *
 * A creator whose job was just written mostly comes back with the next one at once. So a
 * transaction waits until as many creators ask for it as lately, for half the time that the last
 * one took at most. It never waits while none is expected. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the last transaction says about the next one; zeroed before the first. */
struct gather {
    size_t expected;  /* creators */
    int64_t patience; /* microseconds to wait for them, from the first one on */
};

/* After a transaction that answered so many creators and took so many microseconds, while others
 * came to wait. */
struct gather gather_next(size_t answered, size_t waiting, int64_t took);
