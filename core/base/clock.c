#include "base/clock.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct clock {
    bool is_virtual;
    _Atomic int owners;
    _Atomic time_ms now;   /* of a virtual clock */
    _Atomic time_ms ahead; /* of clock_since_boot; 0: it is as the system's */
    _Atomic time_ms lag;   /* the clock that it follows may be later */
};

static struct clock system_clock;

struct clock *clock_system(void) {
    return &system_clock;
}

struct clock *clock_real_new(void) {
    struct clock *clock = calloc(1, sizeof *clock);
    if (clock)
        atomic_init(&clock->owners, 1);
    return clock;
}

struct clock *clock_virtual_new(time_ms start) {
    struct clock *clock = clock_real_new();
    if (!clock)
        return NULL;
    clock->is_virtual = true;
    atomic_init(&clock->now, start);
    return clock;
}

void clock_follow(struct clock *clock, time_ms ahead, time_ms lag) {
    if (clock == &system_clock)
        return;
    atomic_store(&clock->ahead, ahead);
    atomic_store(&clock->lag, lag);
}

struct clock *clock_retain(struct clock *clock) {
    if (clock != &system_clock)
        atomic_fetch_add(&clock->owners, 1);
    return clock;
}

void clock_release(struct clock *clock) {
    if (clock && clock != &system_clock && atomic_fetch_sub(&clock->owners, 1) == 1)
        free(clock);
}

bool clock_is_virtual(const struct clock *clock) {
    return clock->is_virtual;
}

static int64_t read_us(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

time_ms clock_now(const struct clock *clock) {
    if (clock->is_virtual)
        return atomic_load(&clock->now);
    time_ms ahead = atomic_load(&clock->ahead);
    return ahead ? clock_since_boot() + ahead : read_us(CLOCK_REALTIME) / 1000;
}

time_ms clock_lag(const struct clock *clock) {
    return clock->is_virtual ? 0 : atomic_load(&clock->lag);
}

void clock_advance(struct clock *clock, time_ms span) {
    if (!clock->is_virtual)
        return;
    time_ms now = atomic_load(&clock->now), then;
    do {
        if (__builtin_add_overflow(now, span, &then))
            then = span < 0 ? TIME_NONE + 1 : TIME_NEVER - 1;
    } while (!atomic_compare_exchange_weak(&clock->now, &now, then));
}

void clock_set(struct clock *clock, time_ms now) {
    if (clock->is_virtual)
        atomic_store(&clock->now, now);
}

void clock_boot(char boot[CLOCK_BOOT]) {
    memset(boot, 0, CLOCK_BOOT);
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    if (read(file, boot, 36) != 36)
        boot[0] = 0;
    close(file);
}

time_ms clock_since_boot(void) {
    return read_us(CLOCK_BOOTTIME) / 1000;
}

time_ms clock_monotonic(void) {
    return clock_monotonic_us() / 1000;
}

int64_t clock_monotonic_us(void) {
    return read_us(CLOCK_MONOTONIC);
}
