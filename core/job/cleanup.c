#include "job/cleanup.h"
#include "base/json.h"

enum { WAIT_FIRST = 10000, WAIT_MAX = 3600000 };

const char *history_kind_name(enum history_kind kind) {
    static const char *const names[] = {"jobs", "incidents", "batches", "operations", "instances"};
    return names[kind];
}

void cleanup_ttl(const struct settings *settings, time_ms ttl[HISTORY_KINDS]) {
    const time_ms own[] = {settings->history_ttl, settings->history_ttl_incidents,
                           settings->history_ttl_batches, settings->history_ttl_operations, -1};
    for (int i = 0; i < HISTORY_KINDS; i++)
        ttl[i] = own[i] < 0 ? settings->history_ttl : own[i];
}

json_t *cleanup_plan(const struct settings *settings, bool on_demand) {
    time_ms ttl[HISTORY_KINDS];
    json_t *kept = json_object();
    cleanup_ttl(settings, ttl);
    for (int i = 0; kept && i < HISTORY_KINDS; i++)
        json_put(kept, history_kind_name((enum history_kind)i), json_integer(ttl[i]));
    return json_pack("{sb si si sI so sO? ss}", "on_demand", (int)on_demand, "parts",
                     settings->history_cleanup_parallelism, "batch_size",
                     settings->history_cleanup_batch_size, "priority",
                     (json_int_t)settings->history_cleanup_priority, "ttl", kept, "window",
                     on_demand ? NULL : settings->history_cleanup_window, "zone",
                     settings->history_cleanup_zone);
}

json_t *cleanup_part(const json_t *plan, const struct cleanup *cleanup) {
    json_t *part = json_copy(json_unchanged(plan));
    json_t *pass =
        json_pack("[I, I, I, I]", (json_int_t)cleanup->ended, (json_int_t)cleanup->attempt[0],
                  (json_int_t)cleanup->attempt[1], (json_int_t)cleanup->attempt[2]);
    return json_kept(part, part && json_put(part, "part", json_integer(cleanup->part)) &&
                               json_put(part, "empty", json_integer(cleanup->empty)) &&
                               json_put(part, "pass", pass));
}

static bool read_whole(const json_t *plan, const char *key, int64_t low, int64_t high,
                       int64_t *number, struct error *error) {
    const json_t *value = json_object_get(plan, key);
    return !value || json_whole(value, low, high, number) ||
           error_set(error, ERROR_INVALID, "clean_history: plan: bad %s", key);
}

static bool read_numbers(struct cleanup *cleanup, const json_t *plan, struct error *error) {
    int64_t part = 0, parts = 1, batch = CLEANUP_ROWS / 2, empty = 0;
    if (!read_whole(plan, "parts", 1, CLEANUP_PARTS, &parts, error) ||
        !read_whole(plan, "part", 0, parts - 1, &part, error) ||
        !read_whole(plan, "batch_size", 1, CLEANUP_ROWS, &batch, error) ||
        !read_whole(plan, "empty", 0, 64, &empty, error) ||
        !read_whole(plan, "priority", INT64_MIN, INT64_MAX, &cleanup->priority, error))
        return false;
    cleanup->part = (int)part;
    cleanup->parts = (int)parts;
    cleanup->batch_size = (int)batch;
    cleanup->empty = (int)empty;
    cleanup->on_demand = json_is_true(json_object_get(plan, "on_demand"));
    return true;
}

bool cleanup_read(struct cleanup *cleanup, const json_t *plan, struct error *error) {
    *cleanup = (struct cleanup){0};
    const json_t *ttl = json_object_get(plan, "ttl"), *pass = json_object_get(plan, "pass");
    for (int i = 0; i < HISTORY_KINDS; i++)
        if (!read_whole(ttl, history_kind_name((enum history_kind)i), 0, INT64_MAX / 2,
                        &cleanup->ttl[i], error))
            return false;
    cleanup->ended = json_integer_value(json_array_get(pass, 0));
    for (size_t i = 0; i < 3; i++)
        cleanup->attempt[i] = json_integer_value(json_array_get(pass, i + 1));
    if (!pass)
        cleanup->attempt[0] = INT64_MIN;
    return read_numbers(cleanup, plan, error) &&
           window_read(&cleanup->window, json_object_get(plan, "window"),
                       json_string_value(json_object_get(plan, "zone")), error);
}

bool cleanup_may(const struct cleanup *cleanup, time_ms now) {
    return cleanup->on_demand || window_closes(&cleanup->window, now) != TIME_NONE;
}

time_ms cleanup_next(struct cleanup *cleanup, bool more, time_ms now) {
    time_ms closes = window_closes(&cleanup->window, now), wait = WAIT_FIRST;
    if (more && cleanup_may(cleanup, now)) {
        cleanup->empty = 0;
        return now;
    }
    cleanup->ended = 0;
    cleanup->attempt[0] = INT64_MIN;
    for (int i = 0; i < cleanup->empty && wait < WAIT_MAX; i++)
        wait *= 2;
    wait = wait < WAIT_MAX ? wait : WAIT_MAX;
    if (!cleanup->on_demand && closes != TIME_NONE && now + wait < closes) {
        cleanup->empty += cleanup->empty < 64;
        return now + wait;
    }
    cleanup->empty = 0;
    return cleanup->on_demand ? TIME_NEVER : window_opens(&cleanup->window, now);
}
