#include "cli/shown/overview.h"
#include "base/json.h"
#include "cli/shown/counts.h"
#include "cli/shown/output.h"
#include "cli/shown/table.h"
#include "job/ask.h"
#include "time/span.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKS = 6, EXECUTORS_SHOWN = 4, INCIDENTS_SHOWN = 5 };

/* What the store said once. */
struct look {
    time_ms at; /* monotonic; 0: never */
    json_t *stats;
};

struct overview {
    struct look looks[LOOKS]; /* the newest first */
    json_t *incidents;
};

struct overview *overview_new(void) {
    return calloc(1, sizeof(struct overview));
}

void overview_free(struct overview *overview) {
    for (int i = 0; overview && i < LOOKS; i++)
        json_decref(overview->looks[i].stats);
    if (overview)
        json_decref(overview->incidents);
    free(overview);
}

/* ---- delays and runs ---- */

/* Sums of what the log says of a handler, in ms. */
struct pace {
    const char *handler;
    double run, delay;
    int runs, delays;
};

static bool time_of(const json_t *entry, const char *key, time_ms *time) {
    const char *text = json_text(entry, key);
    return text && time_parse(text, time, NULL);
}

/* When each job was created, as far as the entries have it: { id as text = instant }. */
static json_t *creations_of(const json_t *log) {
    size_t i;
    const json_t *entry;
    char key[24];
    json_t *all = json_object();
    json_array_foreach(log, i, entry) {
        const char *outcome = json_text(entry, "outcome");
        snprintf(key, sizeof key, "%lld", (long long)json_int(entry, "job"));
        if (outcome && strcmp(outcome, "created") == 0)
            json_object_set(all, key, json_object_get(entry, "at"));
    }
    return all;
}

/* From the due date or, of a first attempt, from the creation. */
static bool delay_of(const json_t *entry, const json_t *creations, double *delay) {
    time_ms due, started;
    char key[24];
    const char *outcome = json_text(entry, "outcome");
    bool failed = outcome && strcmp(outcome, "failed") == 0; /* its date is that of the retry */
    snprintf(key, sizeof key, "%lld", (long long)json_int(entry, "job"));
    bool first = json_int(entry, "attempt") == 1;
    if (!time_of(entry, "started", &started) || (failed && !first))
        return false;
    if ((failed || !time_of(entry, "due", &due)) && !(first && time_of(creations, key, &due)))
        return false;
    *delay = started > due ? (double)(started - due) : 0;
    return true;
}

static void pace_read(struct pace *pace, const json_t *log, const json_t *creations) {
    size_t i;
    double delay;
    const json_t *entry;
    json_array_foreach(log, i, entry) {
        const char *handler = json_text(entry, "handler");
        const json_t *duration = json_object_get(entry, "duration");
        if (!handler || strcmp(handler, pace->handler) != 0 || !json_is_number(duration))
            continue;
        pace->run += json_number_value(duration) * 1000;
        pace->runs++;
        if (delay_of(entry, creations, &delay)) {
            pace->delay += delay;
            pace->delays++;
        }
    }
}

static json_t *mean_seconds(double sum, int count) {
    return count > 0 ? json_real(sum / count / 1000) : json_null();
}

static bool paces_put(json_t *stats, const json_t *log) {
    size_t i;
    json_t *definition, *creations = creations_of(log);
    bool fine = creations != NULL;
    json_array_foreach(json_object_get(stats, "definitions"), i, definition) {
        struct pace pace = {.handler = json_text(definition, "name")};
        pace_read(&pace, log, creations);
        fine = fine && json_put(definition, "delay", mean_seconds(pace.delay, pace.delays)) &&
               json_put(definition, "run", mean_seconds(pace.run, pace.runs));
    }
    json_decref(creations);
    return fine;
}

bool overview_take(struct overview *overview, json_t *stats, json_t *log, json_t *incidents,
                   struct error *error) {
    bool fine = stats && log && incidents && paces_put(stats, log);
    json_decref(log);
    if (!fine) {
        json_decref(stats);
        json_decref(incidents);
        return error_no_memory(error);
    }
    json_decref(overview->looks[LOOKS - 1].stats);
    memmove(overview->looks + 1, overview->looks, (LOOKS - 1) * sizeof *overview->looks);
    overview->looks[0] = (struct look){clock_monotonic(), stats};
    json_decref(overview->incidents);
    overview->incidents = incidents;
    return true;
}

json_t *overview_document(const struct overview *overview) {
    return json_pack("{sO sO}", "stats", overview->looks[0].stats, "incidents",
                     overview->incidents);
}

/* ---- rates ---- */

static const struct look *first_look(const struct overview *overview) {
    int last = LOOKS - 1;
    while (last > 0 && !overview->looks[last].stats)
        last--;
    return &overview->looks[last];
}

static int64_t metric_of(const json_t *thing, const char *name) {
    return json_int(json_object_get(thing, "metrics"), name);
}

/* A second; below 0: not known yet. `now`, `then`: what the counter said. */
static double rate_of(const struct overview *overview, int64_t now, int64_t then) {
    time_ms span = overview->looks[0].at - first_look(overview)->at;
    return span > 0 ? (double)(now - then) * 1000 / (double)span : -1;
}

static const json_t *definition_of(const json_t *stats, const char *name) {
    size_t i;
    const json_t *definition;
    json_array_foreach(json_object_get(stats, "definitions"), i, definition) {
        if (strcmp(json_text(definition, "name"), name) == 0)
            return definition;
    }
    return NULL;
}

/* ---- sections ---- */

static bool has_part(const char *text, const char *filter) {
    return !*filter || (text && strcasestr(text, filter));
}

/* "12 ms" or "3 min" of seconds. */
static json_t *span_text(const json_t *seconds) {
    char text[TIME_TEXT_SIZE];
    double ms = json_number_value(seconds) * 1000;
    if (!json_is_number(seconds))
        return json_null();
    if (ms < 1)
        return json_string("<1 ms");
    span_say((time_ms)ms, text);
    return json_string(text);
}

static bool row_dress(const struct overview *overview, json_t *row) {
    const char *name = json_text(row, "name");
    const json_t *now = definition_of(overview->looks[0].stats, name);
    const json_t *then = definition_of(first_look(overview)->stats, name);
    double rate = rate_of(overview, metric_of(now, "successful"), metric_of(then, "successful"));
    return json_put(row, "delay", span_text(json_object_get(now, "delay"))) &&
           json_put(row, "run", span_text(json_object_get(now, "run"))) &&
           json_put(row, "rate", rate < 0 ? NULL : json_sprintf("%.0f", rate));
}

/* What waits or runs, and then what has run most. */
static int busier(const void *left, const void *right) {
    static const char *const keys[] = {"locked", "ready", "successful", "failed"};
    const json_t *a = *(json_t *const *)left, *b = *(json_t *const *)right;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int64_t first = json_int(a, keys[i]), second = json_int(b, keys[i]);
        if (first != second)
            return first < second ? 1 : -1;
    }
    return strcmp(json_text(a, "name"), json_text(b, "name"));
}

static bool rows_sort(json_t *rows) {
    size_t i, count = json_array_size(rows);
    json_t *row, **list = calloc(count + 1, sizeof *list);
    json_array_foreach(rows, i, row) {
        if (list)
            list[i] = json_incref(row);
    }
    if (!list)
        return false;
    qsort(list, count, sizeof *list, busier);
    for (i = 0; i < count; i++)
        json_array_set_new(rows, i, list[i]);
    free(list);
    return true;
}

/* NULL: no memory. */
static json_t *handlers_of(const struct overview *overview, const struct overview_view *view) {
    json_t *rows = counts_flat(json_object_get(overview->looks[0].stats, "definitions"));
    bool fine = rows != NULL;
    for (size_t i = json_array_size(rows); fine && i-- > 0;) {
        json_t *row = json_array_get(rows, i);
        if (has_part(json_text(row, "name"), view->filter))
            fine = row_dress(overview, row);
        else
            json_array_remove(rows, i);
    }
    return json_kept(rows, fine && rows_sort(rows));
}

json_t *overview_incidents(const struct overview *overview, const struct overview_view *view) {
    size_t i;
    json_t *incident, *rows = json_array();
    bool fine = rows != NULL;
    json_array_foreach(overview->incidents, i, incident) {
        bool shown = has_part(json_text(incident, "handler"), view->filter) ||
                     has_part(json_text(incident, "message"), view->filter);
        json_t *row = shown && fine ? json_copy(incident) : NULL;
        bool chosen = view->chosen && json_int(incident, "id") == view->chosen;
        if (shown)
            fine = fine && row && json_put_text(row, "mark", chosen ? ">" : NULL) &&
                   json_array_append(rows, row) == 0;
        json_decref(row);
    }
    return json_kept(rows, fine);
}

/* Takes the rows over, NULL: memory is out. At most so many of them, 0: all. */
static bool section_add(struct text *out, const struct overview_view *view,
                        const struct column *columns, json_t *rows, int most, struct error *error) {
    size_t count = json_array_size(rows),
           shown = most && count > (size_t)most ? (size_t)most : count;
    json_t *cut = rows ? json_copy(rows) : NULL;
    while (json_array_size(cut) > shown)
        json_array_remove(cut, json_array_size(cut) - 1);
    bool fine = cut || error_no_memory(error);
    if (fine && count > 0) {
        text_add(out, "\n");
        fine = table_add(out, columns, cut, view->width, error);
    }
    if (fine && count > shown)
        text_add(out, "… %zu more\n", count - shown);
    json_decref(cut);
    json_decref(rows);
    return fine;
}

static const struct column executor_columns[] = {
    {"name", "EXECUTOR", COLUMN_CUT},    {"id", "ID", COLUMN_RIGHT},
    {"state", "STATE", COLUMN_STATE},    {"workers", "WORKERS", COLUMN_RIGHT},
    {"running", "BUSY", COLUMN_RIGHT},   {"waiting", "QUEUE", COLUMN_RIGHT},
    {"started", "STARTED", COLUMN_TIME}, {0},
};

static const struct column handler_columns[] = {
    {"name", "HANDLER", COLUMN_CUT},
    {"ready", "READY", COLUMN_RIGHT},
    {"scheduled", "SCHEDULED", COLUMN_RIGHT},
    {"locked", "RUNNING", COLUMN_RIGHT},
    {"waiting", "WAITING", COLUMN_RIGHT},
    {"dead", "DEAD", COLUMN_RIGHT},
    {"successful", "DONE", COLUMN_RIGHT},
    {"failed", "FAILED", COLUMN_RIGHT},
    {"rate", "DONE/S", COLUMN_RIGHT | COLUMN_OPTIONAL},
    {"delay", "DELAY", COLUMN_RIGHT | COLUMN_OPTIONAL},
    {"run", "RUN", COLUMN_RIGHT | COLUMN_OPTIONAL},
    {0},
};

static const struct column incident_columns[] = {
    {"mark", " ", COLUMN_LEFT},
    {"id", "INCIDENT", COLUMN_RIGHT},
    {"job", "JOB", COLUMN_RIGHT | COLUMN_OPTIONAL},
    {"handler", "HANDLER", COLUMN_CUT | COLUMN_OPTIONAL},
    {"created", "OPENED", COLUMN_TIME},
    {"message", "MESSAGE", COLUMN_CUT | COLUMN_REST},
    {0},
};

/* ---- the head ---- */

static void rates_add(struct text *out, const struct overview *overview) {
    const json_t *now = overview->looks[0].stats, *then = first_look(overview)->stats;
    double good = rate_of(overview, metric_of(now, "successful"), metric_of(then, "successful"));
    double bad = rate_of(overview, metric_of(now, "failed"), metric_of(then, "failed"));
    if (good >= 0)
        text_add(out, "%.0f done/s  %.0f failed/s  ", good, bad);
    text_add(out, "done %lld  failed %lld", (long long)metric_of(now, "successful"),
             (long long)metric_of(now, "failed"));
}

static void age_add(struct text *out, const json_t *stats) {
    json_t *age = span_text(json_object_get(stats, "oldest_ready_age"));
    if (json_is_string(age))
        text_add(out, "  oldest ready %s", json_string_value(age));
    json_decref(age);
}

static int live_executors(const json_t *stats) {
    size_t i;
    int count = 0;
    const json_t *executor;
    json_array_foreach(json_object_get(stats, "executors"), i, executor)
        count += ask_is_executor(executor, NULL) && !ask_is_executor(executor, "gone");
    return count;
}

/* A line no wider than the terminal. */
static void line_add(struct text *out, const struct overview_view *view, const char *text) {
    char *clean = output_clean(text, false);
    if (clean && view->width)
        clean[table_text_fit(clean, view->width)] = '\0';
    text_add(out, "%s\n", clean ? clean : "");
    free(clean);
}

static bool states_add(struct text *line, const json_t *stats) {
    const char *state;
    json_t *count, *jobs = json_copy(json_object_get(stats, "jobs"));
    bool fine = jobs && counts_show(jobs);
    json_object_foreach(jobs, state, count) {
        char *value = output_value(count, false);
        text_add(line, "%s%s %s", line->size ? "  " : "", state, value ? value : "");
        free(value);
    }
    json_decref(jobs);
    return fine;
}

static void head_add(struct text *out, const struct overview *overview,
                     const struct overview_view *view) {
    const json_t *stats = overview->looks[0].stats;
    struct text first = {0}, states = {0}, rates = {0};
    const char *stalled = json_text(stats, "stalled");
    text_add(&first, "executors %d  open incidents %lld  ", live_executors(stats),
             (long long)json_int(stats, "open_incidents"));
    text_add(&first, "%s%s%s%s", *view->filter ? "filter: " : "", view->filter,
             *view->filter ? "  " : "", view->store);
    line_add(out, view, first.data ? first.data : "");
    out->failed |= !states_add(&states, stats);
    line_add(out, view, states.data ? states.data : "");
    rates_add(&rates, overview);
    age_add(&rates, stats);
    line_add(out, view, rates.data ? rates.data : "");
    if (stalled)
        line_add(out, view, stalled);
    text_clear(&first);
    text_clear(&states);
    text_clear(&rates);
}

/* Lines that a section has of so many rows, of which `most` are shown. */
static int lines_of(size_t rows, int most) {
    enum { FRAME = 3 }; /* a blank line, titles, and what says how many more there are */
    if (rows == 0)
        return 0;
    return FRAME + (rows < (size_t)most ? (int)rows : most);
}

/* Rows of the terminal that are left for the handlers; at least one. */
static int room_of(const struct overview_view *view, size_t executors, size_t incidents) {
    enum { HEAD = 4, FRAME = 3 };
    int used =
        HEAD + FRAME + lines_of(executors, EXECUTORS_SHOWN) + lines_of(incidents, INCIDENTS_SHOWN);
    return view->rows - used > 1 ? view->rows - used : 1;
}

bool overview_write(const struct overview *overview, const struct overview_view *view,
                    struct text *out, struct error *error) {
    const json_t *executors = json_object_get(overview->looks[0].stats, "executors");
    json_t *incidents = overview_incidents(overview, view);
    int room =
        view->rows ? room_of(view, json_array_size(executors), json_array_size(incidents)) : 0;
    int few = view->rows ? EXECUTORS_SHOWN : 0, some = view->rows ? INCIDENTS_SHOWN : 0;
    head_add(out, overview, view);
    bool fine =
        section_add(out, view, executor_columns, json_copy(json_unchanged(executors)), few, error);
    fine = section_add(out, view, incident_columns, incidents, some, error) && fine;
    fine =
        fine && section_add(out, view, handler_columns, handlers_of(overview, view), room, error);
    return fine && (!out->failed || error_no_memory(error));
}
