#include "store/rules/fleet/executor_list.h"
#include "base/json.h"
#include "store/rules/fleet/remote.h"
#include <stdlib.h>
#include <string.h>

const char *standing_name(enum standing standing) {
    static const char *const names[] = {"live", "draining", "overdue", "gone"};
    return names[standing];
}

char *executor_list_settings(const struct acquire *serves, int workers) {
    json_t *settings =
        json_pack("{sb sb sb sb sI si}", "by_priority", serves->by_priority, "prefer_timers",
                  serves->prefer_timers, "by_due_date", serves->by_due_date, "ensure_due_date",
                  serves->ensure_due_date, "aging", (json_int_t)serves->aging, "workers", workers);
    char *text = settings ? json_write(settings, NULL) : NULL;
    json_decref(settings);
    return text;
}

/* ---- one executor ---- */

/* A worker outside is heard of when it fetches. */
static enum standing remote_standing(struct row *row, time_ms now) {
    if (row_int32(row, 5) == EXECUTOR_GONE)
        return STANDING_GONE;
    if (row_int(row, 3) < now - REMOTE_KEPT)
        return STANDING_OVERDUE;
    return row_int32(row, 11) ? STANDING_DRAINING : STANDING_LIVE;
}

static bool executor_info_died(struct store *store, int64_t id) {
    return store->kind != STORE_MEMORY && id != store->self.id &&
           store->engine->has_died(store, id);
}

static enum standing executor_info_standing(struct store *store, int64_t id, struct row *row,
                                            time_ms now) {
    enum executor_state state = (enum executor_state)row_int32(row, 5);
    if (state == EXECUTOR_GONE || executor_info_died(store, id))
        return STANDING_GONE;
    time_ms left = lease_left(row_int(row, 4), row_time(row, 15), now);
    if (state == EXECUTOR_OVERDUE || left <= 0)
        return STANDING_OVERDUE;
    return row_int32(row, 11) ? STANDING_DRAINING : STANDING_LIVE;
}

static json_t *executor_info_json(struct row *row, int column) {
    const char *text = row_text(row, column);
    return text ? json_read(text, strlen(text), "executor", NULL) : NULL;
}

static bool executor_info_flag(const struct executor_info *info, const char *name, bool otherwise) {
    const json_t *value = json_object_get(info->settings, name);
    return value ? json_is_true(value) : otherwise;
}

static int names_order(const void *left, const void *right) {
    return strcmp(((const struct definition *)left)->name,
                  ((const struct definition *)right)->name);
}

/* The names of the handlers as a set that serves.c can search. */
static bool executor_info_handlers(struct executor_info *info) {
    size_t index = 0;
    json_t *name = NULL, *names = json_object_get(info->settings, "handlers");
    if (!(info->knows_handlers = json_is_array(names)))
        return true;
    struct definitions *named = &info->named;
    named->list = calloc(json_array_size(names) + 1, sizeof *named->list);
    if (!named->list)
        return false;
    json_array_foreach(names, index, name) {
        if (json_is_string(name))
            named->list[named->count++].name = (char *)(uintptr_t)json_string_value(name);
    }
    qsort(named->list, named->count, sizeof *named->list, names_order);
    return definitions_add_processes(named, json_object_get(info->settings, "processes"));
}

static struct acquire executor_info_acquire(const struct executor_info *info, struct row *row) {
    return (struct acquire){
        .priority_min = row_int(row, 6),
        .priority_max = row_int(row, 7),
        .deployment_aware = row_int32(row, 9) != 0,
        .by_priority = executor_info_flag(info, "by_priority", true),
        .prefer_timers = executor_info_flag(info, "prefer_timers", false),
        .by_due_date = executor_info_flag(info, "by_due_date", true),
        .ensure_due_date = executor_info_flag(info, "ensure_due_date", false),
        .aging = json_integer_value(json_object_get(info->settings, "aging")),
        .categories = info->categories,
        .topics = info->topics,
        .handlers = info->knows_handlers ? &info->named : NULL,
        .executor_name = info->name,
    };
}

static bool executor_info_read(struct executor_info *info, struct store *store, struct row *row,
                               time_ms now) {
    *info = (struct executor_info){
        .id = row_int(row, 0),
        .name = strdup(row_text(row, 1)),
        .started = row_int(row, 2),
        .seen = row_int(row, 3),
        .lease = row_int(row, 4),
        .categories = executor_info_json(row, 8),
        .settings = executor_info_json(row, 10),
        .locked = row_int(row, 12),
        .pid = row_int(row, 13),
    };
    const char *version = row_text(row, 14);
    info->version = version ? strdup(version) : NULL;
    info->remote = row_int32(row, 16) != 0;
    info->topics = executor_info_json(row, 17);
    info->standing = info->remote ? remote_standing(row, now)
                                  : executor_info_standing(store, info->id, row, now);
    info->workers = (int)json_integer_value(json_object_get(info->settings, "workers"));
    if (!info->name || !executor_info_handlers(info))
        return false;
    info->acquire = executor_info_acquire(info, row);
    if (info->remote)
        return true;
    if (!store->engine->running(store, info->id, &info->running))
        return false;
    if (info->running.alive > info->seen)
        info->seen = info->running.alive;
    return true;
}

bool executor_info_takes(const struct executor_info *info, const struct catalog_stream *stream,
                         int64_t priority) {
    return serves_stream(&info->serves, stream) && priority >= info->acquire.priority_min &&
           priority <= info->acquire.priority_max;
}

/* ---- all of them ---- */

static bool executor_list_add(struct executor_list *executors, struct store *store, struct row *row,
                              time_ms now) {
    struct executor_info *list = realloc(executors->list, (executors->count + 1) * sizeof *list);
    if (!list)
        return false;
    executors->list = list;
    return executor_info_read(&list[executors->count++], store, row, now);
}

static bool executor_list_read(struct executor_list *executors, struct store *store, bool all,
                               time_ms now, struct error *error) {
    struct row *rows = db_query(
        &store->db, error,
        "SELECT id, name, started, seen, lease, state,"
        " coalesce(range_min, -9223372036854775807 - 1), coalesce(range_max, 9223372036854775807),"
        " categories, aware, settings, draining,"
        " (SELECT count(*) FROM locks WHERE owner=executor.id), pid, version,"
        " CASE WHEN boot=?2 THEN lease_boot END, kind, topics"
        " FROM executor WHERE (state<>0 OR ?1<>0) AND kind<>2 ORDER BY id",
        "nt", (int)all, store_boot(store));
    enum answer step = NO;
    while ((step = db_step(&store->db, rows, error)) == YES)
        if (!executor_list_add(executors, store, rows, now))
            return row_stop(rows) || db_no_memory(&store->db, error);
    return step == NO;
}

bool executor_list_take(struct executor_list *executors, struct store *store, bool all, time_ms now,
                        struct error *error) {
    *executors = (struct executor_list){0};
    if (!executor_list_read(executors, store, all, now, error))
        return false;
    for (size_t i = 0; i < executors->count; i++) { /* the list has its place now: point into it */
        struct executor_info *info = &executors->list[i];
        info->acquire.handlers = info->knows_handlers ? &info->named : NULL;
        if (!serves_begin(&info->serves, store, &info->acquire, error))
            return false;
    }
    return true;
}

void executor_list_clear(struct executor_list *executors) {
    for (size_t i = 0; i < executors->count; i++) {
        struct executor_info *info = &executors->list[i];
        serves_end(&info->serves);
        running_clear(&info->running);
        free(info->named.list);
        json_decref(info->named.processes);
        json_decref(info->settings);
        json_decref(info->categories);
        json_decref(info->topics);
        free(info->version);
        free(info->name);
    }
    free(executors->list);
    *executors = (struct executor_list){0};
}

const struct executor_info *executor_list_find(const struct executor_list *executors, int64_t id) {
    for (size_t i = 0; i < executors->count; i++)
        if (executors->list[i].id == id)
            return &executors->list[i];
    return NULL;
}

size_t executor_list_count(const struct executor_list *executors, enum standing standing) {
    size_t count = 0;
    for (size_t i = 0; i < executors->count; i++)
        count += executors->list[i].standing == standing && !executors->list[i].remote;
    return count;
}

enum serves_stage executor_list_stage(const struct executor_list *executors, enum standing standing,
                                      const struct catalog_stream *stream) {
    enum serves_stage best = SERVES_NOTHING;
    for (size_t i = 0; i < executors->count; i++) {
        const struct executor_info *info = &executors->list[i];
        enum serves_stage stage = serves_stage(&info->serves, stream);
        if (info->standing == standing && stage > best)
            best = stage;
    }
    return best;
}
