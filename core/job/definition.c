#include "job/definition.h"
#include "base/clamp.h"
#include "base/json.h"
#include "job/hook.h"
#include "time/span.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct definition *)a)->name, ((const struct definition *)b)->name);
}

const struct definition *definitions_find(const struct definitions *definitions, const char *name) {
    size_t low = 0, high = definitions->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, definitions->list[middle].name);
        if (order == 0)
            return &definitions->list[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

json_t *definitions_names(const struct definitions *definitions) {
    json_t *names = json_array();
    for (size_t i = 0; names && i < definitions->count; i++)
        if (!definitions->list[i].outside)
            json_array_append_new(names, json_string(definitions->list[i].name));
    return names;
}

/* A text member: absent is fine (NULL), another kind is not. */
static bool read_text(const json_t *object, const char *key, char **text) {
    const json_t *value = json_object_get(object, key);
    if (!value || json_is_null(value))
        return true;
    return json_is_string(value) && (*text = strdup(json_string_value(value)));
}

static bool read_priority(const json_t *object, struct definition *definition) {
    const json_t *value = json_object_get(object, "priority");
    if (!json_is_integer(value)) {
        definition->priority_function = json_is_string(value);
        return read_text(object, "priority", &definition->priority_text);
    }
    definition->has_priority = true;
    definition->priority = json_integer_value(value);
    return asprintf(&definition->priority_text, "%lld", (long long)definition->priority) > 0;
}

static int32_t read_count(const json_t *value) {
    return (int32_t)clamp(json_integer_value(value), 0, INT32_MAX);
}

static bool read_rate(const json_t *object, struct definition *definition) {
    return read_text(object, "rate", &definition->rate_text) &&
           (!definition->rate_text || rate_parse(definition->rate_text, &definition->rate, NULL));
}

static bool read_limits(const json_t *object, struct definition *definition) {
    const json_t *retries = json_object_get(object, "retries");
    const json_t *timeout = json_object_get(object, "timeout");
    const json_t *limit = json_object_get(object, "limit");
    definition->retries = read_count(retries);
    definition->limit = read_count(limit);
    definition->invocations = read_count(json_object_get(object, "invocations"));
    definition->cluster_limit = read_count(json_object_get(limit, "cluster"));
    definition->hooks = hook_events_read(json_object_get(object, "hooks"));
    definition->retries_asked = json_is_true(json_object_get(object, "retries_asked"));
    if (json_is_string(timeout))
        return span_parse_ms(json_string_value(timeout), &definition->timeout, NULL);
    double ms = json_number_value(timeout) * 1000;
    if (!(ms >= 0 && ms < 9e15))
        return false;
    definition->timeout = llround(ms);
    return true;
}

static int64_t read_backlog(const json_t *object, const char *key) {
    json_int_t count = json_integer_value(json_object_get(object, key));
    return count > 0 ? count : 0;
}

static bool read_unique(const json_t *object, struct definition *definition) {
    const char *text = json_string_value(json_object_get(object, "on_conflict"));
    double ms = json_number_value(json_object_get(object, "unique_for")) * 1000;
    if (!(ms >= 0 && ms < 9e15))
        return false;
    definition->unique_function = json_is_true(json_object_get(object, "unique"));
    definition->unique_for = llround(ms);
    return !text || on_conflict_parse(text, &definition->on_conflict, NULL);
}

static bool definition_read(struct definition *definition, const json_t *object) {
    const json_t *properties = json_object_get(object, "properties");
    definition->properties =
        json_is_object(properties) ? json_deep_copy(properties) : json_object();
    definition->outside = json_is_true(json_object_get(object, "outside"));
    definition->backlog = read_backlog(object, "backlog");
    definition->lane_backlog = read_backlog(object, "lane_backlog");
    return definition->properties && read_text(object, "name", &definition->name) &&
           definition->name && read_text(object, "file", &definition->file) &&
           read_text(object, "category", &definition->category) &&
           read_text(object, "retry", &definition->retry_text) &&
           read_priority(object, definition) && read_limits(object, definition) &&
           read_unique(object, definition) && read_rate(object, definition) &&
           (definition->text = definition_text(definition));
}

static bool have_twins(const struct definitions *definitions) {
    for (size_t i = 1; i < definitions->count; i++)
        if (by_name(&definitions->list[i - 1], &definitions->list[i]) == 0)
            return true;
    return false;
}

const char *process_key(const char *handler, size_t *size) {
    static const char prefix[] = "process/";
    if (strncmp(handler, prefix, sizeof prefix - 1) != 0)
        return NULL;
    const char *key = handler + sizeof prefix - 1, *end = strrchr(key, '/'), *colon;
    colon = strchr(end ? end : key, ':');
    if (!end || (colon && strcmp(colon, ":command") == 0)) /* of the process itself */
        end = colon;
    *size = end ? (size_t)(end - key) : strlen(key);
    return *size ? key : NULL;
}

static bool add_process(struct definitions *definitions, const char *key, size_t size) {
    if (!definitions->processes && !(definitions->processes = json_object()))
        return false;
    return json_object_setn_new(definitions->processes, key, size, json_null()) == 0;
}

bool definitions_add_processes(struct definitions *definitions, const json_t *keys) {
    size_t i;
    json_t *key;
    json_array_foreach(keys, i, key)
        if (json_is_string(key) &&
            !add_process(definitions, json_string_value(key), json_string_length(key)))
            return false;
    return true;
}

bool definitions_find_processes(struct definitions *definitions) {
    for (size_t i = 0; i < definitions->count; i++) {
        size_t size = 0;
        const char *key = process_key(definitions->list[i].name, &size);
        if (key && !add_process(definitions, key, size))
            return false;
    }
    return true;
}

bool definitions_serve(const struct definitions *definitions, const char *handler) {
    size_t size = 0;
    const char *key = process_key(handler, &size);
    return key ? json_object_getn(definitions->processes, key, size) != NULL
               : definitions_find(definitions, handler) != NULL;
}

json_t *definitions_processes(const struct definitions *definitions) {
    json_t *keys = json_array();
    const char *key;
    json_t *nothing;
    json_object_foreach(definitions->processes, key, nothing)
        if (!keys || json_array_append_new(keys, json_string(key)) != 0)
            return json_kept(keys, false);
    return keys;
}

bool definitions_read(struct definitions *definitions, const json_t *array) {
    size_t count = json_array_size(array);
    *definitions = (struct definitions){.list = calloc(count + 1, sizeof *definitions->list)};
    if (!definitions->list)
        return false;
    for (size_t i = 0; i < count; i++) {
        definitions->count = i + 1;
        if (!definition_read(&definitions->list[i], json_array_get(array, i))) {
            definitions_clear(definitions);
            return false;
        }
    }
    qsort(definitions->list, count, sizeof *definitions->list, by_name);
    if (!have_twins(definitions) && definitions_find_processes(definitions))
        return true;
    definitions_clear(definitions);
    return false;
}

void definitions_clear(struct definitions *definitions) {
    for (size_t i = 0; i < definitions->count; i++) {
        struct definition *definition = &definitions->list[i];
        free(definition->name);
        free(definition->category);
        free(definition->priority_text);
        free(definition->retry_text);
        free(definition->rate_text);
        free(definition->file);
        free(definition->text);
        json_decref(definition->properties);
    }
    free(definitions->list);
    json_decref(definitions->processes);
    *definitions = (struct definitions){0};
}

static json_t *priority_to_json(const struct definition *definition) {
    if (definition->has_priority)
        return json_integer(definition->priority);
    return definition->priority_text ? json_string(definition->priority_text) : NULL;
}

static json_t *limit_to_json(const struct definition *definition) {
    if (definition->cluster_limit)
        return json_pack("{si}", "cluster", (int)definition->cluster_limit);
    return definition->limit ? json_integer(definition->limit) : NULL;
}

static bool put_unique(json_t *object, const struct definition *definition) {
    static const char *const names[] = {NULL, "replace", "refuse"};
    char span[TIME_TEXT_SIZE];
    span_format(definition->unique_for, span);
    return json_put_text(object, "unique", definition->unique_function ? "function" : NULL) &&
           json_put_text(object, "on_conflict", names[definition->on_conflict]) &&
           json_put_text(object, "unique_for", definition->unique_for ? span : NULL);
}

static json_t *count_to_json(int64_t count) {
    return count ? json_integer(count) : NULL;
}

json_t *definition_to_json(const struct definition *definition) {
    char timeout[TIME_TEXT_SIZE];
    span_format(definition->timeout, timeout);
    json_t *object = json_object();
    if (object && json_put(object, "id", definition->id ? json_integer(definition->id) : NULL) &&
        json_put_text(object, "name", definition->name) &&
        json_put_text(object, "file", definition->file) &&
        json_put_text(object, "category", definition->category) &&
        json_put(object, "priority", priority_to_json(definition)) &&
        json_put_text(object, "retry", definition->retry_text) &&
        json_put(object, "retries",
                 definition->retries ? json_integer(definition->retries) : NULL) &&
        json_put_text(object, "timeout", timeout) && put_unique(object, definition) &&
        json_put(object, "limit", limit_to_json(definition)) &&
        (!definition->invocations ||
         json_put(object, "invocations", json_integer(definition->invocations))) &&
        json_put(object, "backlog", count_to_json(definition->backlog)) &&
        json_put(object, "lane_backlog", count_to_json(definition->lane_backlog)) &&
        json_put_text(object, "rate", definition->rate_text) &&
        (!definition->hooks || json_put(object, "hooks", hook_events_names(definition->hooks))) &&
        json_put(object, "properties", json_incref(definition->properties)))
        return object;
    json_decref(object);
    return NULL;
}

char *definition_text(const struct definition *definition) {
    json_t *object = definition_to_json(definition);
    if (!object)
        return NULL;
    json_object_del(object, "id");
    char *text = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(object);
    return text;
}
