/* clock.h - the only place where time enters. No other file asks the system for the time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* An instant in UTC milliseconds since 1970, or a span in milliseconds: the name says which. */
typedef int64_t time_ms;

/* "No such instant": an absent due date, a lock without expiry of its own. */
#define TIME_NONE INT64_MIN
/* "Never" / "for ever", when a wait has no end. */
#define TIME_NEVER INT64_MAX

/* A clock is the system's, one that may follow another machine's, or a virtual one that moves only
 * when it is told to (specs). The last two may be read and moved from any thread. */
struct clock;

/* The system's clock; shared, never freed. */
struct clock *clock_system(void);

/* A virtual clock standing at `start`. The caller releases it with clock_release. NULL: no memory.
 */
struct clock *clock_virtual_new(time_ms start);

/* A clock that is as the system's until clock_follow. Released like a virtual one. NULL: no memory.
 */
struct clock *clock_real_new(void);
/* From now on `clock` is so many ms ahead of clock_since_boot, whatever the system's clock says.
 * The other machine's may be later than that by up to `lag` ms, but not earlier. */
void clock_follow(struct clock *clock, time_ms ahead, time_ms lag);

/* One owner more / less of a clock; no effect on the system's. */
struct clock *clock_retain(struct clock *clock);
void clock_release(struct clock *clock);

bool clock_is_virtual(const struct clock *clock);

/* The wall-clock instant: due dates, lock expiry, history. */
time_ms clock_now(const struct clock *clock);
/* By so many ms clock_now may be late; 0, but of a clock that follows another machine's. */
time_ms clock_lag(const struct clock *clock);

/* Moves a virtual clock by `span` ms (may be negative; saturates). */
void clock_advance(struct clock *clock, time_ms span);
void clock_set(struct clock *clock, time_ms now);

#define CLOCK_BOOT 40 /* bytes of a boot's name */

/* The name of the machine's present boot; "": not known. */
void clock_boot(char boot[CLOCK_BOOT]);
/* Milliseconds since then, sleep included. They never jump, and mean the same to every process of
 * that boot, so they may be stored beside its name. */
time_ms clock_since_boot(void);

/* Milliseconds that never jump: handler deadlines, back-off, display. Never stored. */
time_ms clock_monotonic(void);
/* The same in microseconds, for measuring. */
int64_t clock_monotonic_us(void);
