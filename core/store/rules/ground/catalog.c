#include "store/rules/ground/catalog.h"
#include "base/embedded.h"
#include "base/json.h"
#include "base/list.h"
#include "job/command.h"
#include "job/definition.h"
#include "job/hook.h"
#include "store/rules/ground/state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void catalog_clear(struct catalog *catalog) {
    for (size_t i = 0; i < catalog->definition_count; i++) {
        free(catalog->definitions[i].name);
        free(catalog->definitions[i].process);
    }
    for (size_t i = 0; i < catalog->stream_count; i++) {
        free(catalog->streams[i].category);
        free(catalog->streams[i].topic);
    }
    free(catalog->definitions);
    free(catalog->streams);
    free(catalog->by_key);
    *catalog = (struct catalog){0};
}

/* Types of batches come from folders, too: those have no file of ours. */
static bool catalog_is_stock(const char *name) {
    char path[JOB_NAME_MAX + 32];
    size_t batch = strlen(BATCH_HANDLERS);
    if (strncmp(name, BATCH_HANDLERS, batch) != 0)
        return strncmp(name, COMMAND_RESERVED, strlen(COMMAND_RESERVED)) == 0;
    snprintf(path, sizeof path, "scripts/batches/%.*s.lua", JOB_NAME_MAX, name + batch);
    return embedded_find(path) != NULL;
}

/* What an operator has set goes before what its file says. */
static void catalog_read_overrides(struct catalog_definition *definition, struct row *row) {
    if (!row_null(row, 6)) {
        int64_t limit = row_int(row, 6);
        definition->limit = limit > 0 ? limit : 0;
        definition->cluster_limit = limit < 0 ? -limit : 0;
    }
    if (!row_null(row, 7)) /* what is no rate is "none" */
        rate_parse(row_text(row, 7), &definition->rate, NULL);
}

/* True if the properties say nothing that the catalog has: each of these keys is there, with null
 * wherever it is. Most definitions are so, and to parse one takes 55 000 instructions. */
static bool catalog_is_silent(const char *name, const char *properties) {
    static const char *const keys[] = {
        "\"backlog\":", "\"lane_backlog\":", "\"limit\":", "\"rate\":"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *at = strstr(properties, keys[i]);
        if (!at)
            return false;
        for (; at; at = strstr(at + 1, keys[i]))
            if (strncmp(at + strlen(keys[i]), "null", 4) != 0)
                return false;
    }
    return strcmp(name, HOOK_HANDLER) != 0;
}

/* What a definition says of all its jobs. */
static bool catalog_read_properties(struct catalog *catalog, struct catalog_definition *definition,
                                    const json_t *properties) {
    const json_t *limit = json_object_get(properties, "limit");
    const char *rate = json_string_value(json_object_get(properties, "rate"));
    definition->limit = json_integer_value(limit);
    definition->cluster_limit = json_integer_value(json_object_get(limit, "cluster"));
    definition->backlog = json_integer_value(json_object_get(properties, "backlog"));
    definition->lane_backlog = json_integer_value(json_object_get(properties, "lane_backlog"));
    definition->cluster = definition->cluster_limit != 0;
    catalog->backlogs = catalog->backlogs || definition->backlog || definition->lane_backlog;
    if (rate)
        rate_parse(rate, &definition->rate, NULL);
    if (definition->name && strcmp(definition->name, HOOK_HANDLER) == 0)
        catalog->hooks |= hook_events_read(json_object_get(properties, "hooks"));
    return definition->name != NULL;
}

/* One whose properties are no JSON, and say something, is left out, and its streams with it: their
 * jobs are found where nothing takes them (clean/strays.c). */
static bool catalog_read_definition(struct catalog *catalog, struct row *row) {
    const char *text = row_text(row, 5);
    bool silent = catalog_is_silent(row_text(row, 1), text);
    json_t *properties = silent ? NULL : json_read(text, strlen(text), "properties", NULL);
    if (!silent && !json_is_object(properties)) {
        json_decref(properties);
        return true;
    }
    struct catalog_definition *list =
        list_room(catalog->definitions, catalog->definition_count, sizeof *list);
    if (!list) {
        json_decref(properties);
        return false;
    }
    catalog->definitions = list;
    list[catalog->definition_count] = (struct catalog_definition){
        .id = row_int(row, 0),
        .name = strdup(row_text(row, 1)),
        .deployment = row_int(row, 2),
        .overridden = !row_null(row, 3),
        .override_priority = row_int(row, 3),
        .suspended = row_int32(row, 4) != 0,
        .reserved = catalog_is_stock(row_text(row, 1)),
    };
    struct catalog_definition *read = &list[catalog->definition_count++];
    size_t size = 0;
    const char *key = process_key(row_text(row, 1), &size);
    bool fine = catalog_read_properties(catalog, read, properties);
    json_decref(properties);
    catalog_read_overrides(read, row);
    catalog->limited = catalog->limited || read->limit || read->cluster_limit;
    catalog->paced = catalog->paced || read->rate.count;
    return fine && (!key || (read->process = strndup(key, size)));
}

static const struct catalog_definition *catalog_definition_id(const struct catalog *catalog,
                                                              int64_t id) {
    for (size_t i = 0; i < catalog->definition_count; i++)
        if (catalog->definitions[i].id == id)
            return &catalog->definitions[i];
    return NULL;
}

/* A copy of a text that is not empty into *copy, else NULL. False: no memory. */
static bool text_read(const char *text, char **copy) {
    *copy = text && *text ? strdup(text) : NULL;
    return *copy || !text || !*text;
}

static bool catalog_read_stream(struct catalog *catalog, struct row *row) {
    struct catalog_stream *list = list_room(catalog->streams, catalog->stream_count, sizeof *list);
    if (!list)
        return false;
    catalog->streams = list;
    struct catalog_stream *stream = &list[catalog->stream_count];
    *stream = (struct catalog_stream){
        .id = row_int(row, 0),
        .definition = catalog_definition_id(catalog, row_int(row, 1)),
        .deployment = row_int(row, 2),
        .type = row_int32(row, 4) == JOB_TIMER ? JOB_TIMER : JOB_MESSAGE,
    };
    if (!stream->definition) /* only in a damaged store: verify says so */
        return true;
    catalog->stream_count++;
    return text_read(row_text(row, 3), &stream->category) &&
           text_read(row_text(row, 5), &stream->topic);
}

static bool catalog_read(struct catalog *catalog, struct db *db, struct row *rows,
                         bool (*read)(struct catalog *, struct row *), struct error *error) {
    enum answer step = NO;
    while ((step = db_step(db, rows, error)) == YES)
        if (!read(catalog, rows))
            return row_stop(rows) || db_no_memory(db, error);
    return step == NO;
}

/* What a stream is found by. */
struct stream_key {
    const char *name, *category, *topic; /* the last two may be NULL */
    int64_t deployment;
    enum job_type type;
};

static int text_order(const char *left, const char *right) {
    return strcmp(left ? left : "", right ? right : "");
}

static int catalog_order(const struct catalog_stream *stream, const struct stream_key *key) {
    int order = strcmp(stream->definition->name, key->name);
    if (order == 0)
        order = (stream->deployment > key->deployment) - (stream->deployment < key->deployment);
    if (order == 0)
        order = text_order(stream->category, key->category);
    if (order == 0)
        order = (stream->type > key->type) - (stream->type < key->type);
    return order ? order : text_order(stream->topic, key->topic);
}

static int catalog_compare(const void *left, const void *right) {
    const struct catalog_stream *a = *(const struct catalog_stream *const *)left;
    const struct catalog_stream *b = *(const struct catalog_stream *const *)right;
    const struct stream_key key = {b->definition->name, b->category, b->topic, b->deployment,
                                   b->type};
    return catalog_order(a, &key);
}

static bool catalog_sort(struct catalog *catalog) {
    catalog->by_key = malloc((catalog->stream_count + 1) * sizeof *catalog->by_key);
    if (!catalog->by_key)
        return false;
    for (size_t i = 0; i < catalog->stream_count; i++)
        catalog->by_key[i] = &catalog->streams[i];
    qsort(catalog->by_key, catalog->stream_count, sizeof *catalog->by_key, catalog_compare);
    return true;
}

/* Is anything suspended: instances, and processes or their versions? */
static bool catalog_read_flags(struct catalog *catalog, struct db *db, struct row *row,
                               struct error *error) {
    if (db_step(db, row, error) != YES)
        return false;
    catalog->instances = row_int(row, 0) != 0;
    catalog->processes = row_int(row, 1) != 0;
    row_done(row);
    return true;
}

bool catalog_refresh(struct store *store, struct error *error) {
    struct catalog *catalog = &store->catalog;
    struct db *db = &store->db;
    if (catalog->version && catalog->version == store->meta.catalog)
        return true;
    catalog_clear(catalog);
    struct row *definitions =
        db_query(db, error,
                 "SELECT id, name, deployment, override_priority, suspended, properties,"
                 " override_limit, override_rate FROM definition ORDER BY name",
                 "");
    struct row *streams = db_query(
        db, error,
        "SELECT id, definition, deployment, category, type, topic FROM stream ORDER BY id", "");
    struct row *flags = db_query(db, error,
                                 "SELECT EXISTS(SELECT 1 FROM suspended_instance),"
                                 " EXISTS(SELECT 1 FROM process WHERE suspended<>0 UNION ALL"
                                 " SELECT 1 FROM process_version WHERE suspended<>0)",
                                 "");
    if (!db_ahead(definitions, error) || !db_ahead(streams, error) || !db_ahead(flags, error) ||
        !catalog_read(catalog, db, definitions, catalog_read_definition, error) ||
        !catalog_read(catalog, db, streams, catalog_read_stream, error) ||
        !catalog_read_flags(catalog, db, flags, error))
        return false;
    if (!catalog_sort(catalog))
        return db_no_memory(db, error);
    catalog->version = store->meta.catalog;
    return true;
}

const struct catalog_definition *catalog_definition(const struct catalog *catalog,
                                                    const char *name) {
    size_t low = 0, high = catalog->definition_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(catalog->definitions[middle].name, name);
        if (order == 0)
            return &catalog->definitions[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct catalog_stream *catalog_stream(const struct catalog *catalog, int64_t id) {
    size_t low = 0, high = catalog->stream_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (catalog->streams[middle].id == id)
            return &catalog->streams[middle];
        if (catalog->streams[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const struct catalog_stream *catalog_find(struct catalog *catalog, const struct job *job,
                                          int64_t deployment) {
    size_t low = 0, high = catalog->stream_count;
    const struct stream_key key = {job->handler, job->category, stream_topic(job), deployment,
                                   job->type};
    if (catalog->last && catalog_order(catalog->last, &key) == 0)
        return catalog->last;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct catalog_stream *stream = catalog->by_key[middle];
        int order = catalog_order(stream, &key);
        if (order == 0)
            return catalog->last = stream;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- versions of processes ---- */

enum answer version_suspended(struct store *store, int64_t version, struct error *error) {
    int64_t one = 0;
    if (!store->catalog.processes)
        return NO;
    return db_value(&store->db, error, &one,
                    "SELECT 1 FROM process_version v JOIN process p ON p.key=v.key WHERE v.id=?1"
                    " AND (v.suspended<>0 OR p.suspended<>0)",
                    "i", version);
}

enum answer version_halts(struct store *store, const struct job *job, struct error *error) {
    int64_t version = job->execution;
    if (!store->catalog.processes)
        return NO;
    enum answer found = job->instance_id ? db_value(&store->db, error, &version,
                                                    "SELECT version FROM instance WHERE id=?1", "i",
                                                    job->instance_id)
                                         : YES;
    return found == YES ? version_suspended(store, version, error) : found;
}

/* ---- the transaction ---- */

bool catalog_changed(struct store *store, struct error *error) {
    store->meta.catalog = store->stored.catalog + 1;
    store->catalog.version = 0;
    return catalog_refresh(store, error);
}

static void catalog_rolled_back(struct store *store) {
    if (store->meta.catalog != store->stored.catalog)
        store->catalog.version = 0;
}

static bool catalog_back(struct store *store, const void *point, struct error *error) {
    (void)point;
    store->catalog.version = 0;
    return catalog_refresh(store, error);
}

const struct txn_hook catalog_hook = {.drop = catalog_rolled_back, .back = catalog_back};
