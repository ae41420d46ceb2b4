#include "api/config.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct folder *config_folder(const json_t *paths, struct error *error) {
    size_t count = json_array_size(paths);
    const char **list = calloc(count + 1, sizeof *list);
    if (!list) {
        error_set(error, ERROR_FAILED, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        list[i] = json_string_value(json_array_get(paths, i));
    struct folder *folder = folder_read(list, count, error);
    free(list);
    return folder;
}

/* The first folder that holds a moonshift.lua: the one whose file counts. */
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

/* "sqlite:shop.db" in shop/moonshift.lua is "sqlite:shop/shop.db" here. */
static void place_store(json_t *values, const json_t *paths) {
    const char *store = json_string_value(json_object_get(values, "store"));
    const char *home = home_of(paths);
    if (!store || !home || strcmp(home, ".") == 0 || strncmp(store, "sqlite:", 7) != 0 ||
        store[7] == '/' || store[7] == ':')
        return;
    struct text url = {0};
    text_add(&url, "sqlite:%s/%s", home, store + 7);
    if (url.data)
        json_object_set_new(values, "store", json_string(url.data));
    text_clear(&url);
}

bool config_apply(struct settings *settings, const struct folder *folder, const json_t *paths,
                  struct error *error) {
    if (!folder)
        return true;
    json_t *values = folder_settings(folder, error);
    if (!values)
        return false;
    place_store(values, paths);
    bool ok = settings_apply(settings, ORIGIN_FILE, values, "moonshift.lua", error);
    json_decref(values);
    return ok;
}

static bool apply_options(struct settings *settings, const json_t *options, struct error *error) {
    return !options || settings_apply(settings, ORIGIN_OPTION, options, NULL, error);
}

bool config_settings(struct settings *settings, const struct folder *folder, const json_t *paths,
                     const json_t *opened, const json_t *used, struct error *error) {
    return settings_init(settings, error) && config_apply(settings, folder, paths, error) &&
           apply_options(settings, opened, error) && apply_options(settings, used, error) &&
           settings_check(settings, error);
}
