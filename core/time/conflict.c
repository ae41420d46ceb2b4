#include "time/conflict.h"

enum { FIRST = 10, LAST = 60000, DOUBLINGS = 13 };

/* 0 to 255, as if at random: neighbours have nothing in common. */
static int64_t spread(int64_t seed) {
    uint64_t mixed = (uint64_t)seed * UINT64_C(0x9E3779B97F4A7C15);
    mixed ^= mixed >> 32;
    mixed *= UINT64_C(0xD6E8FEB86659FD93);
    return (int64_t)(mixed >> 56);
}

time_ms conflict_wait(int32_t n, int64_t seed) {
    int doublings = n - 2 < DOUBLINGS ? n - 2 : DOUBLINGS;
    if (doublings < 0)
        return 0;
    time_ms wait = (time_ms)FIRST << doublings;
    wait = wait < LAST ? wait : LAST;
    return wait - wait * spread(seed) / 1024;
}
