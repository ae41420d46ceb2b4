#include "cli/verb/processes/process_from.h"
#include "base/json.h"
#include "cli/shown/progress.h"
#include "cli/words/lines.h"
#include <string.h>

enum { LINE_MAX_BYTES = 32 << 20, CHUNK_BYTES = 16 << 20 };

struct reading {
    struct process_from *from;
    struct engine *engine;
    struct engine_order *order;
    struct lines lines;
    struct progress progress;
    int64_t total;                    /* commands in the file */
    json_t *chunk;                    /* commands to be given together, */
    int64_t numbers[ENGINE_LIST_MAX]; /* and the numbers of their lines */
    size_t bytes;                     /* of these lines */
};

/* ---- lines ---- */

static bool is_known(const struct process_from *from, const char *key) {
    bool known = strcmp(key, "variables") == 0;
    for (const char *const *at = from->keys; !known && *at; at++)
        known = strcmp(*at, key) == 0;
    return known;
}

static bool value_check(const char *key, const json_t *value, struct error *error) {
    if (strcmp(key, "variables") == 0 || strcmp(key, "local_variables") == 0)
        return json_is_object(value) || json_refuse(key, value, "an object", error);
    return strcmp(key, "version") == 0 || json_is_string(value) ||
           json_refuse(key, value, "a text", error);
}

static bool check(const struct process_from *from, json_t *line, struct error *error) {
    const char *key;
    json_t *value;
    json_object_foreach(line, key, value) {
        if (!is_known(from, key))
            return error_set(error, ERROR_INVALID, "unknown key \"%s\"", key);
        if (!value_check(key, value, error))
            return false;
    }
    return true;
}

/* The present line as an object; NULL: error. */
static json_t *line_object(const struct reading *reading, struct error *error) {
    const struct lines *lines = &reading->lines;
    json_t *object = NULL;
    if (lines->too_long)
        error_set(error, ERROR_INVALID, "longer than %zu bytes", lines->max);
    else
        object = json_read(lines->text, lines->size, "JSON", error);
    bool fine =
        object && (json_is_object(object) || json_refuse("the line", object, "an object", error));
    return json_kept(object, fine && check(reading->from, object, error));
}

static bool is_blank(const char *text) {
    return text[strspn(text, " \t\r")] == '\0';
}

/* Calls `take` with the object of each line that is not blank; it takes the object over. */
static bool each_line(struct reading *reading,
                      bool (*take)(struct reading *reading, json_t *object, struct error *error),
                      struct error *error) {
    struct error why = {0};
    struct lines *lines = &reading->lines;
    bool fine = true;
    while (fine && lines_next(lines, error)) {
        if (!lines->too_long && is_blank(lines->text))
            continue;
        json_t *object = line_object(reading, &why);
        if (!object)
            return error_set(error, why.code, "%s:%lld: %s", lines->name, (long long)lines->number,
                             why.text);
        fine = take(reading, object, error);
    }
    return fine && error->code == 0;
}

static bool count(struct reading *reading, json_t *object, struct error *error) {
    (void)error;
    reading->total++;
    progress_show(&reading->progress, "checking", reading->total, 0);
    json_decref(object);
    return true;
}

/* ---- commands ---- */

static bool from_refuse(const struct reading *reading, size_t entry, const struct error *why,
                        struct error *error) {
    const char *name = reading->lines.name;
    long long number = entry < json_array_size(reading->chunk) ? reading->numbers[entry] : 0;
    if (reading->from->count)
        return error_set(error, why->code, "%s:%lld: %s (%lld before it are written)", name, number,
                         why->text, (long long)reading->from->count);
    return error_set(error, why->code, "%s:%lld: %s (nothing written)", name, number, why->text);
}

static bool give(struct reading *reading, struct error *error) {
    struct process_from *from = reading->from;
    struct error why = {0};
    json_t *ids = NULL;
    size_t entry = 0;
    if (json_array_size(reading->chunk) == 0)
        return true;
    if (!engine_process_list(reading->engine, reading->chunk, reading->order, &ids, &entry, &why))
        return from_refuse(reading, entry, &why, error);
    from->count += (int64_t)json_array_size(reading->chunk);
    bool fine = json_array_extend(from->ids, ids) == 0 && json_array_clear(reading->chunk) == 0;
    json_decref(ids);
    reading->bytes = 0;
    progress_show(&reading->progress, "writing", from->count, reading->total);
    return fine || error_no_memory(error);
}

static bool add(struct reading *reading, json_t *object, struct error *error) {
    json_t *command = json_copy(json_unchanged(reading->from->command));
    size_t at = json_array_size(reading->chunk);
    bool fine = command && json_object_update(command, object) == 0 &&
                json_array_append(reading->chunk, command) == 0;
    json_decref(object);
    json_decref(command);
    if (!fine)
        return error_no_memory(error);
    reading->numbers[at] = reading->lines.number;
    reading->bytes += reading->lines.size;
    return (at + 1 < ENGINE_LIST_MAX && reading->bytes < CHUNK_BYTES) || give(reading, error);
}

static bool read_twice(struct reading *reading, struct error *error) {
    return each_line(reading, count, error) &&
           lines_again(&reading->lines, (struct lines_mark){0}, error) &&
           each_line(reading, add, error) && give(reading, error);
}

bool process_from(struct process_from *from, struct engine *engine, struct engine_order *order,
                  struct error *error) {
    struct reading reading = {.from = from,
                              .engine = engine,
                              .order = order,
                              .progress = {.on = from->interactive},
                              .chunk = json_array()};
    from->ids = json_array();
    bool fine = reading.chunk && from->ids ? true : error_no_memory(error);
    fine = fine && lines_open(&reading.lines, from->path, LINE_MAX_BYTES, error);
    bool opened = fine;
    fine = fine && read_twice(&reading, error);
    progress_end(&reading.progress);
    if (opened)
        lines_close(&reading.lines);
    json_decref(reading.chunk);
    return fine;
}
