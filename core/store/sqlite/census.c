#include "store/sqlite/census.h"
#include "base/json.h"
#include <stdlib.h>
#include <string.h>

const char *standing_name(enum standing standing) {
    static const char *const names[] = {"live", "draining", "overdue", "gone"};
    return names[standing];
}

char *census_settings(const struct acquire *serves, int workers) {
    json_t *settings =
        json_pack("{sb sb sb sb sI si}", "by_priority", serves->by_priority, "prefer_timers",
                  serves->prefer_timers, "by_due_date", serves->by_due_date, "ensure_due_date",
                  serves->ensure_due_date, "aging", (json_int_t)serves->aging, "workers", workers);
    char *text = settings ? json_write(settings, NULL) : NULL;
    json_decref(settings);
    return text;
}

/* ---- one executor ---- */

/* The byte of a living executor is held; a reader opens the gate only to look. */
static bool citizen_died(struct store *store, int64_t id) {
    if (!store->path || id == store->self.id)
        return false;
    gate_look(&store->gate, store->path);
    return store->gate.file >= 0 && gate_free(&store->gate, GATE_EXECUTORS + id);
}

static enum standing citizen_standing(struct store *store, int64_t id, sqlite3_stmt *row,
                                      time_ms now) {
    enum executor_state state = (enum executor_state)sqlite3_column_int(row, 5);
    if (state == EXECUTOR_GONE || citizen_died(store, id))
        return STANDING_GONE;
    time_ms left = lease_left(sqlite3_column_int64(row, 4), db_column_time(row, 15), now);
    if (state == EXECUTOR_OVERDUE || left <= 0)
        return STANDING_OVERDUE;
    return sqlite3_column_int(row, 11) ? STANDING_DRAINING : STANDING_LIVE;
}

static json_t *citizen_json(sqlite3_stmt *row, int column) {
    const char *text = db_column_text(row, column);
    return text ? json_read(text, strlen(text), "executor", NULL) : NULL;
}

static bool citizen_flag(const struct citizen *citizen, const char *name, bool otherwise) {
    const json_t *value = json_object_get(citizen->settings, name);
    return value ? json_is_true(value) : otherwise;
}

static int names_order(const void *left, const void *right) {
    return strcmp(((const struct definition *)left)->name,
                  ((const struct definition *)right)->name);
}

/* The names of the handlers as a set that serves.c can search. */
static bool citizen_handlers(struct citizen *citizen) {
    size_t index = 0;
    json_t *name = NULL, *names = json_object_get(citizen->settings, "handlers");
    if (!(citizen->knows_handlers = json_is_array(names)))
        return true;
    struct definitions *named = &citizen->named;
    named->list = calloc(json_array_size(names) + 1, sizeof *named->list);
    if (!named->list)
        return false;
    json_array_foreach(names, index, name) {
        if (json_is_string(name))
            named->list[named->count++].name = (char *)(uintptr_t)json_string_value(name);
    }
    qsort(named->list, named->count, sizeof *named->list, names_order);
    return true;
}

static struct acquire citizen_acquire(const struct citizen *citizen, sqlite3_stmt *row) {
    return (struct acquire){
        .priority_min = sqlite3_column_int64(row, 6),
        .priority_max = sqlite3_column_int64(row, 7),
        .deployment_aware = sqlite3_column_int(row, 9) != 0,
        .by_priority = citizen_flag(citizen, "by_priority", true),
        .prefer_timers = citizen_flag(citizen, "prefer_timers", false),
        .by_due_date = citizen_flag(citizen, "by_due_date", true),
        .ensure_due_date = citizen_flag(citizen, "ensure_due_date", false),
        .aging = json_integer_value(json_object_get(citizen->settings, "aging")),
        .categories = citizen->categories,
        .handlers = citizen->knows_handlers ? &citizen->named : NULL,
        .executor_name = citizen->name,
    };
}

static bool citizen_read(struct citizen *citizen, struct store *store, sqlite3_stmt *row,
                         time_ms now) {
    *citizen = (struct citizen){
        .id = sqlite3_column_int64(row, 0),
        .name = strdup(db_column_text(row, 1)),
        .started = sqlite3_column_int64(row, 2),
        .seen = sqlite3_column_int64(row, 3),
        .lease = sqlite3_column_int64(row, 4),
        .categories = citizen_json(row, 8),
        .settings = citizen_json(row, 10),
        .locked = sqlite3_column_int64(row, 12),
        .pid = sqlite3_column_int64(row, 13),
    };
    const char *version = db_column_text(row, 14);
    citizen->version = version ? strdup(version) : NULL;
    citizen->standing = citizen_standing(store, citizen->id, row, now);
    citizen->workers = (int)json_integer_value(json_object_get(citizen->settings, "workers"));
    if (!citizen->name || !citizen_handlers(citizen))
        return false;
    citizen->acquire = citizen_acquire(citizen, row);
    if (store->path && !slots_read(&citizen->running, store->path, citizen->id))
        return false;
    if (citizen->running.alive > citizen->seen)
        citizen->seen = citizen->running.alive;
    return true;
}

bool citizen_takes(const struct citizen *citizen, const struct catalog_stream *stream,
                   int64_t priority) {
    return serves_stream(&citizen->serves, stream) && priority >= citizen->acquire.priority_min &&
           priority <= citizen->acquire.priority_max;
}

/* ---- all of them ---- */

static bool census_add(struct census *census, struct store *store, sqlite3_stmt *row, time_ms now) {
    struct citizen *list = realloc(census->list, (census->count + 1) * sizeof *list);
    if (!list)
        return false;
    census->list = list;
    return citizen_read(&list[census->count++], store, row, now);
}

static bool census_read(struct census *census, struct store *store, bool all, time_ms now,
                        struct error *error) {
    sqlite3_stmt *rows = db_query(
        &store->db, error,
        "SELECT id, name, started, seen, lease, state,"
        " coalesce(range_min, -9223372036854775807 - 1), coalesce(range_max, 9223372036854775807),"
        " categories, aware, settings, draining,"
        " (SELECT count(*) FROM locked WHERE owner=executor.id), pid, version,"
        " CASE WHEN boot=?2 THEN lease_boot END"
        " FROM executor WHERE state<>0 OR ?1 ORDER BY id",
        "nt", (int)all, store_boot(store));
    int step = rows ? 1 : -1;
    while (rows && (step = db_step(&store->db, rows, error)) > 0)
        if (!census_add(census, store, rows, now)) {
            sqlite3_reset(rows);
            return error_set(error, ERROR_FAILED, "store \"%s\": out of memory", store->db.name);
        }
    return step == 0;
}

bool census_take(struct census *census, struct store *store, bool all, time_ms now,
                 struct error *error) {
    *census = (struct census){0};
    if (!census_read(census, store, all, now, error))
        return false;
    for (size_t i = 0; i < census->count; i++) { /* the list has its place now: point into it */
        struct citizen *citizen = &census->list[i];
        citizen->acquire.handlers = citizen->knows_handlers ? &citizen->named : NULL;
        if (!serves_begin(&citizen->serves, store, &citizen->acquire, error))
            return false;
    }
    return true;
}

void census_clear(struct census *census) {
    for (size_t i = 0; i < census->count; i++) {
        struct citizen *citizen = &census->list[i];
        serves_end(&citizen->serves);
        slots_found_clear(&citizen->running);
        free(citizen->named.list);
        json_decref(citizen->settings);
        json_decref(citizen->categories);
        free(citizen->version);
        free(citizen->name);
    }
    free(census->list);
    *census = (struct census){0};
}

const struct citizen *census_find(const struct census *census, int64_t id) {
    for (size_t i = 0; i < census->count; i++)
        if (census->list[i].id == id)
            return &census->list[i];
    return NULL;
}

size_t census_count(const struct census *census, enum standing standing) {
    size_t count = 0;
    for (size_t i = 0; i < census->count; i++)
        count += census->list[i].standing == standing;
    return count;
}

enum serves_stage census_stage(const struct census *census, enum standing standing,
                               const struct catalog_stream *stream) {
    enum serves_stage best = SERVES_NOTHING;
    for (size_t i = 0; i < census->count; i++) {
        const struct citizen *citizen = &census->list[i];
        enum serves_stage stage = serves_stage(&citizen->serves, stream);
        if (citizen->standing == standing && stage > best)
            best = stage;
    }
    return best;
}
