#include "store/store.h"
#include "store/batch.h"
#include "store/sqlite/sqlite.h"
#include <string.h>

struct store *store_open(const char *url, enum store_mode mode, const struct settings *settings,
                         struct error *error) {
    static const char scheme[] = "sqlite:";
    if (strncmp(url, scheme, sizeof scheme - 1) != 0) {
        error_set(error, ERROR_CONFIG, "store \"%s\": unknown scheme (expected sqlite:)", url);
        return NULL;
    }
    if (!url[sizeof scheme - 1]) {
        error_set(error, ERROR_CONFIG, "store \"%s\": no path (expected sqlite:PATH)", url);
        return NULL;
    }
    const char *path = url + sizeof scheme - 1;
    return sqlite_open(strcmp(path, ":memory:") == 0 ? NULL : path, mode, settings, error);
}

const char *metric_name(enum metric metric) {
    static const char *const names[METRIC_COUNT] = {
        [METRIC_ACQUISITIONS] = "acquisitions",
        [METRIC_ACQUIRED] = "acquired",
        [METRIC_LOCK_FAILURES] = "lock_failures",
        [METRIC_REJECTED] = "rejected",
        [METRIC_SUCCESSFUL] = "successful",
        [METRIC_FAILED] = "failed",
        [METRIC_LOCKED_EXCLUSIVE] = "locked_exclusive",
        [METRIC_STALE_COMMITS] = "stale_commits",
        [METRIC_REMOVED_JOBS] = "removed_jobs",
        [METRIC_REMOVED_INCIDENTS] = "removed_incidents",
        [METRIC_REMOVED_BATCHES] = "removed_batches",
        [METRIC_REMOVED_OPERATIONS] = "removed_operations",
        [METRIC_CONFLICTS] = "conflicts",
    };
    return (unsigned)metric < METRIC_COUNT ? names[metric] : "unknown";
}

static int64_t whole(const json_t *question, const char *key) {
    return json_integer_value(json_object_get(question, key));
}

static json_t *ask_count(struct store *store, const json_t *filters, time_ms now,
                         struct error *error) {
    int64_t count = 0;
    return store_jobs_count(store, filters, now, &count, error) ? json_integer(count) : NULL;
}

json_t *store_ask(struct store *store, const char *kind, const json_t *question, time_ms now,
                  struct error *error) {
    if (strcmp(kind, "job") == 0)
        return store_job(store, whole(question, "id"), now, error);
    if (strcmp(kind, "why") == 0)
        return store_why(store, whole(question, "id"), now, error);
    if (strcmp(kind, "batch") == 0)
        return store_batch(store, whole(question, "id"), error);
    if (strcmp(kind, "count") == 0)
        return ask_count(store, question, now, error);
    struct store_page page = {
        .sort = json_string_value(json_object_get(question, "sort")),
        .descending = json_is_true(json_object_get(question, "descending")),
        .after = whole(question, "after"),
        .offset = whole(question, "offset"),
        .limit = (int)whole(question, "limit"),
    };
    return store_jobs(store, json_object_get(question, "filters"), &page, now, error);
}
