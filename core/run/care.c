#include "run/care.h"
#include <string.h>

enum { TRIES = 3, MANY = 4096, LEVEL = 1000 }; /* LEVEL: ms */

/* If all rows fail, it is no row's fault: then so many are set aside at most. */
enum { ASIDES = 16 };

/* What lies outside of all rows passes, or is final. */
static bool care_is_row(const struct error *error) {
    switch (error->code) {
    case ERROR_FAILED:
        return !strstr(error->text, "out of memory");
    case ERROR_INVALID:
    case ERROR_NOT_FOUND:
    case ERROR_CONFLICT:
    case ERROR_BACKLOG:
    case ERROR_DAMAGED:
        return true;
    case ERROR_NONE:
    case ERROR_USAGE:
    case ERROR_BUSY:
    case ERROR_CLOSED:
    case ERROR_FULL:
    case ERROR_IO:
    case ERROR_CONFIG:
    case ERROR_UNAVAILABLE:
    case ERROR_STUCK:
    case ERROR_INTERRUPTED:
    case ERROR_UNAUTHORIZED:
    case ERROR_FORBIDDEN:
    case ERROR_METHOD:
    case ERROR_TYPE:
    case ERROR_CHANGED:
    case ERROR_TOO_LARGE:
    case ERROR_RATE:
        break;
    }
    return false;
}

static int half(int rows) {
    return rows > 1 ? rows / 2 : 1;
}

enum care_verdict care_failed(struct care *care, int rows, int64_t touched,
                              const struct error *error) {
    if (!care_is_row(error))
        return CARE_NONE;
    care->grows = 0;
    if (care->most != 1) {
        care->most = half(rows);
        return CARE_HALF;
    }
    if (!touched || care->asides >= ASIDES)
        return CARE_NONE;
    care->fails = touched == care->row ? care->fails + 1 : 1;
    care->row = touched;
    if (care->fails < TRIES)
        return CARE_LATER;
    care->fails = 0;
    care->asides++;
    return CARE_ASIDE;
}

void care_worked(struct care *care, bool rows, time_ms at) {
    if (!care->most)
        return;
    care->fails = 0;
    care->asides = rows ? 0 : care->asides;
    if (!rows || at < care->grows)
        return;
    care->grows = care->grows ? at + LEVEL : 0;
    care->most = care->most < MANY ? care->most * 2 : 0;
}

void care_inherit(struct care *care, int rows, time_ms at) {
    int most = half(rows);
    care->most = care->most && care->most < most ? care->most : most;
    care->grows = at + LEVEL;
}
