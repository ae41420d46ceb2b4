/* window.h - stretches of the local day in which something may go on: "22:00-06:00" on every day,
 * "sat 20:00-10:00" on one, "sun off" on none (rules §18). Pure. */
#pragma once

#include "time/zone.h"
#include <jansson.h>

enum { WINDOW_MAX = 16 };

/* One entry. It begins on its days; a `to` that is not after `from` is on the next day. */
struct stretch {
    unsigned days; /* bit 0: Monday; 0: every day that no other entry names */
    int from, to;  /* minutes of the day */
    bool off;      /* its days have none */
};

struct window {
    const struct zone *zone;
    int count; /* 0: there is none */
    struct stretch list[WINDOW_MAX];
};

/* From a list of texts (NULL: no window) and the name of a zone (NULL: UTC). Errors name the text
 * and what was expected. */
bool window_read(struct window *window, const json_t *texts, const char *zone, struct error *error);

/* The end of the stretch that is open at `now` (from its start on, until before its end);
 * TIME_NONE: none is. */
time_ms window_closes(const struct window *window, time_ms now);

/* The first start after `now`; TIME_NEVER: there is none. */
time_ms window_opens(const struct window *window, time_ms now);
