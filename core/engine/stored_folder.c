#include "engine/stored_folder.h"
#include "base/text.h"
#include "store/store.h"

/* The names that there are; false, always. */
static bool unknown(struct store *store, const char *name, struct error *error) {
    struct text list = {0};
    json_t *names = store_deployment_names(store, error);
    if (!names)
        return false;
    for (size_t i = 0; i < json_array_size(names); i++)
        text_add(&list, "%s\"%s\"", i ? ", " : "", json_string_value(json_array_get(names, i)));
    if (list.data)
        error_set(error, ERROR_NOT_FOUND, "no deployment \"%s\" (expected %s)", name, list.data);
    else
        error_set(error, ERROR_NOT_FOUND,
                  "no deployment \"%s\": the store has none (moonshift deploy DIR makes one)",
                  name);
    text_clear(&list);
    json_decref(names);
    return false;
}

static struct folder *read_folder(struct store *store, const char *name, struct error *error) {
    int64_t id = 0;
    enum answer found = store_deployment_current(store, name, &id, error);
    if (found == NO)
        unknown(store, name, error);
    json_t *files = found == YES ? store_deployment_files(store, id, error) : NULL;
    struct folder *folder = files ? folder_from_json(files, name, id, error) : NULL;
    json_decref(files);
    return folder;
}

struct folder *stored_folder(const struct settings *settings, const char *name,
                             struct error *error) {
    struct store *store = store_open(settings->store, STORE_READ, settings, error);
    struct folder *folder = store ? read_folder(store, name, error) : NULL;
    store_close(store);
    return folder;
}
