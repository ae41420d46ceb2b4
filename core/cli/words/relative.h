/* relative.h - times as a person at a terminal reads them: "in 5 min", "3 d ago". */
#pragma once

#include "base/clock.h"
#include <stddef.h>

#define RELATIVE_SIZE 48

/* Writes how far an instant (UTC, with milliseconds, as JSON has it) is from `now`. False: the text
 * is no instant. */
bool relative_time(const char *iso, time_ms now, char *text);
