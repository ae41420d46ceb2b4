/* gap_watch.h - looks for jobs that no live executor would ever take, and warns once about each
 * missing range, category or handler (rules §3). It asks the store once a minute at most, in a
 * thread of its own. */
#pragma once

#include "job/settings.h"

struct gap_watch;

/* The arguments are borrowed and must outlive the watch. NULL: no memory. */
struct gap_watch *gap_watch_new(const char *store_url, const struct settings *settings,
                                struct clock *clock);
/* Waits for a question that is under way. NULL is fine. */
void gap_watch_free(struct gap_watch *watch);

/* Begins a question if it is time. Never waits. Call it when something may have changed. `now` is
 * monotonic. True: a question was begun. */
bool gap_watch_look(struct gap_watch *watch, time_ms now);
