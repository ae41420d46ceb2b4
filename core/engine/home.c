#include "engine/home.h"
#include "base/text.h"
#include "store/store.h"
#include <string.h>
#include <unistd.h>

#define SCHEME "sqlite:"
#define DEFAULT_FILE "moonshift.db"

/* Finds the first folder that holds a moonshift.lua. That file counts. */
static const char *home_of(const json_t *paths) {
    const char *home = NULL;
    for (size_t i = 0; !home && i < json_array_size(paths); i++) {
        const char *path = json_string_value(json_array_get(paths, i));
        struct text file = {0};
        text_add(&file, "%s/moonshift.lua", path);
        if (file.data && access(file.data, R_OK) == 0)
            home = path;
        text_clear(&file);
    }
    return home;
}

/* "shop/jobs.db" of "shop/" and "jobs.db". */
static void path_add(struct text *path, const char *home, const char *file) {
    size_t size = strlen(home);
    while (size > 1 && home[size - 1] == '/')
        size--;
    text_add(path, "%.*s%s%s", (int)size, home, size > 0 && home[size - 1] == '/' ? "" : "/", file);
}

static void url_add(struct text *url, const char *home, const char *file) {
    text_add(url, SCHEME);
    path_add(url, home, file);
}

static void place_state(json_t *values, const char *home) {
    const char *given = json_string_value(json_object_get(values, "state_dir"));
    struct text path = {0};
    if (!given || *given == '/')
        return;
    path_add(&path, home, given);
    if (path.data)
        json_object_set_new(values, "state_dir", json_string(path.data));
    text_clear(&path);
}

static void place_store(json_t *values, const char *home) {
    const char *store = json_string_value(json_object_get(values, "store"));
    if (!store)
        return;
    const char *path = strncmp(store, SCHEME, strlen(SCHEME)) == 0 ? store + strlen(SCHEME) : NULL;
    if (!path && !strchr(store, ':'))
        path = store;
    if (!path || *path == '/' || *path == ':')
        return;
    struct text url = {0};
    url_add(&url, home, path);
    if (url.data)
        json_object_set_new(values, "store", json_string(url.data));
    text_clear(&url);
}

void home_place(json_t *values, const json_t *paths) {
    const char *home = home_of(paths);
    if (!home || strcmp(home, ".") == 0)
        return;
    place_store(values, home);
    place_state(values, home);
}

static bool default_store(struct settings *settings, const char *home, struct error *error) {
    if (settings_given(settings, "store"))
        return true;
    struct text url = {0};
    url_add(&url, home, DEFAULT_FILE);
    bool fine = url.failed
                    ? error_no_memory(error)
                    : settings_apply_text(settings, ORIGIN_DEFAULT, "store", url.data, error);
    text_clear(&url);
    return fine;
}

bool home_default(struct settings *settings, const json_t *paths, struct error *error) {
    const char *home = home_of(paths);
    if (!home)
        home = json_string_value(json_array_get(paths, 0));
    if (!home || strcmp(home, ".") == 0)
        return true;
    return default_store(settings, home, error) &&
           (settings_given(settings, "state_dir") ||
            settings_apply_text(settings, ORIGIN_DEFAULT, "state_dir", home, error));
}

/* Refuses if the store of the working directory holds jobs or cannot be read. */
static bool left_check(const struct settings *settings, struct store *left, struct error *error) {
    const char *path = settings->store + strlen(SCHEME);
    int64_t count = 0;
    bool fine = left && store_jobs_count(left, NULL, clock_now(clock_system()), &count, error);
    if (!fine) {
        char why[sizeof error->text];
        memcpy(why, error->text, sizeof why);
        return error_set(
            error, ERROR_CONFIG,
            "store \"%s\" is not there yet, and \"" DEFAULT_FILE
            "\" in the working directory cannot be read: %.300s (name one with --store)",
            path, why);
    }
    return count == 0 || error_set(error, ERROR_CONFIG,
                                   "store \"%s\" is not there yet, but \"" DEFAULT_FILE
                                   "\" in the working directory holds %lld %s (move it there, or "
                                   "use it with --store " SCHEME DEFAULT_FILE ")",
                                   path, (long long)count, count == 1 ? "job" : "jobs");
}

bool home_check(const struct settings *settings, struct error *error) {
    const char *store = settings->store;
    bool own = strncmp(store, SCHEME, strlen(SCHEME)) == 0 && strcmp(store, SCHEME DEFAULT_FILE);
    if (settings_given(settings, "store") || !own || access(store + strlen(SCHEME), F_OK) == 0 ||
        access(DEFAULT_FILE, F_OK) != 0)
        return true;
    struct store *left = store_open(SCHEME DEFAULT_FILE, STORE_READ, settings, error);
    bool fine = left_check(settings, left, error);
    store_close(left);
    return fine;
}
