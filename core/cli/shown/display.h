/* display.h - what `run` shows on a terminal: one line, refreshed in place. */
#pragma once

#include "run/runner.h"

struct display {
    time_ms began, at; /* monotonic; of the last line */
    int64_t ended;
    double rate; /* runs ended a second */
};

/* From now on log lines appear above the line. */
void display_start(struct display *display);
void display_tick(struct display *display, const struct runner_status *status);
/* Leaves a last line with the sums and the average rate standing. */
void display_end(struct display *display, const struct runner_status *status);

/* One line on standard error in place of the last one, cut to the terminal's width. */
void display_line(const char *text);
