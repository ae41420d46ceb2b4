#include "store/store.h"
#include "job/store_url.h"
#include "store/provision.h"
#include <string.h>

static const char *behind(const char *url, const char *scheme) {
    size_t size = strlen(scheme);
    return strncmp(url, scheme, size) == 0 ? url + size : NULL;
}

struct store *store_open(const char *url, enum store_mode mode, const struct settings *settings,
                         struct error *error) {
    if (store_url_server(url))
        return postgres_opener.open(url, mode, settings, error);
    const char *path = behind(url, "sqlite:");
    char shown[STORE_SHOWN];
    if (path && *path)
        return sqlite_opener.open(strcmp(path, ":memory:") == 0 ? NULL : path, mode, settings,
                                  error);
    error_set(error, ERROR_CONFIG,
              path ? "store \"%s\": no path (expected sqlite:PATH)"
                   : "store \"%s\": unknown scheme (expected sqlite: or postgres://)",
              store_url_show(url, shown));
    return NULL;
}

static bool refuse_file(const struct settings *settings, struct error *error) {
    char shown[STORE_SHOWN];
    return error_set(
        error, ERROR_CONFIG,
        "store \"%s\": a file has no roles (expected a store on a server, postgres://…)",
        store_url_show(settings->store, shown));
}

bool store_grants(const struct settings *settings, const struct store_roles *roles,
                  struct text *text, struct error *error) {
    return store_url_server(settings->store)
               ? postgres_opener.grants(settings->store, roles, text, error)
               : refuse_file(settings, error);
}

bool store_functions(const struct settings *settings, const struct store_roles *roles,
                     struct text *text, struct error *error) {
    return store_url_server(settings->store)
               ? postgres_opener.functions(settings->store, roles, text, error)
               : refuse_file(settings, error);
}

time_ms store_lag(struct store *store) {
    return store_ops(store)->lag ? store_ops(store)->lag(store) : TIME_NONE;
}

bool store_drop(struct store *store, struct error *error) {
    bool done = !store_ops(store)->drop || store_ops(store)->drop(store, error);
    store_ops(store)->close(store);
    return done;
}

int64_t store_backend(struct store *store) {
    return store_ops(store)->backend ? store_ops(store)->backend(store) : 0;
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
        [METRIC_REMOVED_INSTANCES] = "removed_instances",
        [METRIC_CONFLICTS] = "conflicts",
        [METRIC_SKIPPED] = "skipped",
    };
    return (unsigned)metric < METRIC_COUNT ? names[metric] : "unknown";
}
