/* gaps.h - the gap watch: once a minute at most, in a thread of its own, it asks the store what no
 * live executor would ever take, and warns once about each (rules §3). */
#ifndef MOONSHIFT_RUN_GAPS_H
#define MOONSHIFT_RUN_GAPS_H

#include "base/settings.h"

struct gaps;

/* What is borrowed must outlive the watch. NULL: no memory. */
struct gaps *gaps_new(const char *store_url, const struct settings *settings, struct clock *clock);
/* Waits for a question that is under way. NULL is fine. */
void gaps_free(struct gaps *gaps);

/* Asks if it is time, and says whether; never waits. Call when something may have changed. `now` is
 * monotonic. */
bool gaps_look(struct gaps *gaps, time_ms now);

#endif
