/* crash_point.h - named places at which a build with -DTESTING dies on demand: CRASH_AT="name:3" in
 * the environment kills the process as it passes the place for the third time. The file CRASH_LOG
 * gets a line with the process and the place for that death; without CRASH_AT, for every pass. In
 * other builds they are nothing: not even the names are there. */
#pragma once

#include <stdbool.h>

#ifdef TESTING

/* True, or the end of the process by SIGKILL. */
bool crash_point(const char *name);
#define CRASH_POINT(name) crash_point(name)

#else

static inline bool crash_point_none(void) {
    return true;
}
/* A statement of its own, or a link of a chain: `one() && CRASH_POINT("between") && two()`. */
#define CRASH_POINT(name) crash_point_none()

#endif
