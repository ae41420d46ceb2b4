#include "cli/shown/progress.h"
#include "cli/shown/display.h"
#include <stdio.h>

#define SHOW_EVERY 100 /* ms */

void progress_show(struct progress *progress, const char *doing, int64_t done, int64_t of) {
    time_ms now = progress->on ? clock_monotonic() : 0;
    if (!progress->on || now - progress->shown < SHOW_EVERY)
        return;
    char line[160];
    if (of > 0)
        snprintf(line, sizeof line, "%s %lld of %lld (%d %%)", doing, (long long)done,
                 (long long)of, (int)(100.0 * (double)done / (double)of));
    else
        snprintf(line, sizeof line, "%s %lld", doing, (long long)done);
    display_line(line);
    progress->shown = now;
}

void progress_end(struct progress *progress) {
    if (progress->on && progress->shown)
        display_line("");
    progress->shown = 0;
}
