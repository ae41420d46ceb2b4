#include "cli/shown/display.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/shown/output.h"
#include "cli/shown/table.h"
#include <stdlib.h>
#include <unistd.h>

#define RATE_SPAN 500 /* ms that a rate is measured over at least */

static void display_put(const struct text *text) {
    if (text->data && write(STDERR_FILENO, text->data, text->size) < 0)
        return; /* nobody looks on any more */
}

void display_line(const char *text) {
    struct text line = {0};
    char *clean = output_clean(text, false);
    size_t size = clean ? table_text_fit(clean, output_error_width() - 1) : 0;
    text_add(&line, "\r%.*s\033[K", (int)size, clean ? clean : "");
    display_put(&line);
    text_clear(&line);
    free(clean);
}

/* Any thread: the log's line takes the place of ours, which comes back with the next tick. */
static void display_log(void *arg, const char *log) {
    (void)arg;
    struct text line = {0};
    text_add(&line, "\r%s\033[K\n", log);
    display_put(&line);
    text_clear(&line);
}

void display_start(struct display *display) {
    display->began = display->at = clock_monotonic();
    log_sink(display_log, NULL);
}

static void display_rate(struct display *display, int64_t ended) {
    time_ms now = clock_monotonic(), span = now - display->at;
    if (span < RATE_SPAN && display->ended > 0)
        return;
    display->rate = (double)(ended - display->ended) * 1000 / (double)(span > 0 ? span : 1);
    display->at = now;
    display->ended = ended;
}

void display_tick(struct display *display, const struct runner_status *status) {
    display_rate(display, status->done + status->failed);
    struct text line = {0};
    text_add(&line, "%s  done %lld  failed %lld  waiting %d  running %d  %.0f/s", status->name,
             (long long)status->done, (long long)status->failed, status->waiting, status->running,
             display->rate);
    if (status->stuck > 0)
        text_add(&line, "  stuck %d", status->stuck);
    if (status->paused)
        text_add(&line, "  store full, paused");
    if (status->away)
        text_add(&line, "  server away");
    if (status->draining)
        text_add(&line, "  draining until it is stopped");
    if (status->stopping)
        text_add(&line, "  stopping");
    if (line.data)
        display_line(line.data);
    text_clear(&line);
}

void display_end(struct display *display, const struct runner_status *status) {
    double seconds = (double)(clock_monotonic() - display->began + 1) / 1000;
    log_sink(NULL, NULL);
    struct text line = {0};
    char *name = output_clean(status->name, false);
    text_add(&line, "\r%s  done %lld  failed %lld  in %.1f s  %.0f/s\033[K\n", name ? name : "",
             (long long)status->done, (long long)status->failed, seconds,
             (double)(status->done + status->failed) / seconds);
    display_put(&line);
    text_clear(&line);
    free(name);
}
