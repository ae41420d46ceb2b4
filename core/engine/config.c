#include "engine/config.h"
#include "engine/home.h"
#include <stdlib.h>

struct folder *config_folder(const json_t *paths, struct error *error) {
    size_t count = json_array_size(paths);
    const char **list = calloc(count + 1, sizeof *list);
    if (!list)
        return error_null(error_no_memory(error));
    for (size_t i = 0; i < count; i++)
        list[i] = json_string_value(json_array_get(paths, i));
    struct folder *folder = folder_read(list, count, error);
    free(list);
    return folder;
}

bool config_apply(struct settings *settings, const struct folder *folder, const json_t *paths,
                  struct error *error) {
    if (!folder)
        return true;
    json_t *values = folder_settings(folder, error);
    if (!values)
        return false;
    if (folder->deployment)
        json_object_del(values, "store");
    home_place(values, paths);
    bool ok = settings_apply(settings, ORIGIN_FILE, values, "moonshift.lua", error) &&
              (folder->deployment || home_default(settings, paths, error));
    json_decref(values);
    return ok;
}

static bool apply_options(struct settings *settings, const json_t *options, struct error *error) {
    return !options || settings_apply(settings, ORIGIN_OPTION, options, NULL, error);
}

bool config_settings(struct settings *settings, const struct folder *folder, const json_t *paths,
                     const json_t *opened, const json_t *used, struct error *error) {
    if (!settings_init(settings, error) || !config_apply(settings, folder, paths, error))
        return false;
    return apply_options(settings, opened, error) && apply_options(settings, used, error) &&
           settings_check(settings, error);
}
