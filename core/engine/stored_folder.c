#include "engine/stored_folder.h"
#include "base/text.h"
#include "process/models.h"
#include "store/folder_kept.h"
#include "store/store.h"
#include <string.h>

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

static bool has_models(const struct folder *folder) {
    static const char processes[] = "processes/";
    for (size_t i = 0; i < folder->count; i++) {
        const char *path = folder->files[i].path;
        if (strncmp(path, processes, sizeof processes - 1) == 0 && !strstr(path, ".lua"))
            return true;
    }
    return false;
}

/* The files of the deployment `id`; none if it is the same, which its hash says. */
static struct folder *files_of(struct store *store, const char *name, const struct folder *folder,
                               int64_t id) {
    const struct store_deployment content = {.name = name, .hash = folder->hash};
    bool same = store_deployed(store, &content, &id, NULL) == YES;
    json_t *files = same ? json_array() : store_deployment_files(store, id, NULL);
    struct folder *before = files ? folder_from_texts(files, name, id, NULL) : NULL;
    if (before && same)
        memcpy(before->hash, folder->hash, sizeof before->hash);
    json_decref(files);
    return before;
}

static struct folder *check_of(struct store *store, const struct settings *settings,
                               const struct folder *folder) {
    const char *name = settings->deployment ? settings->deployment : folder->name;
    char program[MODELS_PROGRAM];
    int64_t id = 0;
    models_program(settings, program);
    json_t *found = store_deployment_current(store, name, &id, NULL) == YES
                        ? store_models_found(store, id, program, NULL)
                        : NULL;
    struct folder *before = found ? files_of(store, name, folder, id) : NULL;
    if (before && !models_take(before, found)) {
        folder_release(before);
        before = NULL;
    }
    json_decref(found);
    return before;
}

struct folder *stored_check(const struct settings *settings, const struct folder *folder) {
    if (!has_models(folder))
        return NULL;
    struct store *store = store_open(settings->store, STORE_READ, settings, NULL);
    struct folder *before = store ? check_of(store, settings, folder) : NULL;
    store_close(store);
    return before;
}
