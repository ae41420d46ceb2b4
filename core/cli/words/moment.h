/* moment.h - a time that a user types: in the zone of the shell (TZ), whatever the settings say
 * (rules §14). */
#pragma once

#include "base/clock.h"
#include "base/error.h"

/* Reads it as time/instant.h says. Where the text leaves the zone open, says on standard error what
 * it came to, with its offset: `moonshift: at 2026-12-24T18:00:00+01:00`. */
bool moment_read(const char *what, const char *text, time_ms *at, struct error *error);
