/* batch_bar.c - waiting for a batch, with a bar on a terminal (rules §17). */
#include "cli/shown/batch_bar.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/shown/display.h"
#include "job/ask.h"
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define LOOK_EVERY 100 /* ms */
#define ALIVE_EVERY 10 /* looks between two questions for executors */
#define RATE_SPAN 1000 /* ms that the rate is measured over at least */
#define BAR_CELLS 24

struct watch {
    struct engine *engine;
    int64_t id;
    time_ms at; /* monotonic; when the rate was measured */
    int64_t done;
    double rate; /* jobs a second */
    bool bar, shown, said_suspended;
};

static bool is_state(const json_t *batch, const char *state) {
    const char *is = json_text(batch, "state");
    return is && strcmp(is, state) == 0;
}

/* ---- who runs it ---- */

/* -1: error */
static int is_served(struct engine *engine, struct error *error) {
    json_t *rows = engine_ask(engine, ASK_EXECUTORS, NULL, error), *row;
    int served = rows ? 0 : -1;
    size_t i;
    json_array_foreach(rows, i, row)
        served = served || ask_is_executor(row, "live");
    json_decref(rows);
    return served;
}

static void bar_note(const struct watch *watch, const char *why) {
    if (watch->shown)
        display_line("");
    fprintf(stderr, "moonshift: batch %lld %s\n", (long long)watch->id, why);
}

void batch_note(struct engine *engine, int64_t id) {
    struct watch watch = {.engine = engine, .id = id};
    if (is_served(engine, NULL) == 0)
        bar_note(&watch, "waits: no executor runs");
}

/* ---- the bar ---- */

static void measure(struct watch *watch, int64_t done) {
    time_ms now = clock_monotonic(), span = now - watch->at;
    if (watch->at && span < RATE_SPAN)
        return;
    if (watch->at)
        watch->rate = (double)(done - watch->done) * 1000 / (double)span;
    watch->at = now;
    watch->done = done;
}

static void show(struct watch *watch, const json_t *batch) {
    struct text line = {0};
    int64_t done = json_int(batch, "completed"), total = json_int(batch, "total");
    int64_t failed = json_int(batch, "failed");
    int cells = (int)json_int(batch, "percent") * BAR_CELLS / 100;
    measure(watch, done);
    text_add(&line, "batch %lld [%.*s%*s] %d %%  %lld of %lld jobs", (long long)watch->id, cells,
             "########################", BAR_CELLS - cells, "", (int)json_int(batch, "percent"),
             (long long)done, (long long)total);
    if (failed > 0)
        text_add(&line, ", %lld failed", (long long)failed);
    if (is_state(batch, "suspended"))
        text_add(&line, ", suspended");
    else if (watch->rate >= 1)
        text_add(&line, ", %.0f/s, %.0f s left", watch->rate,
                 (double)(total - done - failed) / watch->rate);
    if (line.data)
        display_line(line.data);
    watch->shown = true;
    text_clear(&line);
}

/* ---- waiting ---- */

static bool all_failed(const json_t *batch) {
    int64_t failed = json_int(batch, "failed");
    return failed > 0 && failed == json_int(batch, "remaining");
}

static bool has_ended(const json_t *batch) {
    return is_state(batch, "completed") || is_state(batch, "deleted") ||
           is_state(batch, "deleting");
}

/* 1 it is over, 0 not, -1 error. */
static int look(struct watch *watch, bool *failed, struct error *error) {
    json_t *batch = engine_ask_id(watch->engine, ASK_BATCH, watch->id, error);
    if (!batch)
        return -1;
    if (watch->bar)
        show(watch, batch);
    else if (is_state(batch, "suspended") && !watch->said_suspended)
        bar_note(watch, "is suspended");
    watch->said_suspended = watch->said_suspended || is_state(batch, "suspended");
    *failed = all_failed(batch);
    int over = *failed || has_ended(batch);
    if (*failed)
        error_set(error, ERROR_FAILED,
                  "batch %lld: %lld of %lld jobs failed (see batch failed %lld)",
                  (long long)watch->id, (long long)json_int(batch, "failed"),
                  (long long)json_int(batch, "total"), (long long)watch->id);
    json_decref(batch);
    return over;
}

bool batch_wait(struct engine *engine, int64_t id, bool bar, struct error *error) {
    struct watch watch = {.engine = engine, .id = id, .bar = bar};
    int over, served = 1;
    bool failed = false;
    for (unsigned looks = 0; (over = look(&watch, &failed, error)) == 0; looks++) {
        if (looks % ALIVE_EVERY == 0 && (served = is_served(engine, error)) <= 0)
            break;
        poll(NULL, 0, LOOK_EVERY);
    }
    if (over == 0 && served == 0)
        bar_note(&watch, "waits: no executor runs");
    else if (watch.shown)
        display_line("");
    return over >= 0 && served >= 0 && !failed;
}
