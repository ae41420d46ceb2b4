#include "process/models.h"
#include <string.h>

static bool same_text(const struct folder *before, const struct folder *folder, const char *path) {
    const struct folder_file *old = folder_find(before, path), *new = folder_find(folder, path);
    return old && new && old->size == new->size &&memcmp(old->text, new->text, old->size) == 0;
}

/* Something of the version was asked at the time of its check. */
static bool depends_on_time(const json_t *version) {
    const json_t *event;
    size_t i;
    json_array_foreach(json_object_get(version, "events"), i, event) {
        if (json_object_get(event, "priority"))
            return true;
    }
    return json_array_size(json_object_get(version, "timers")) > 0;
}

json_t *models_known(const struct folder *before, const struct folder *folder) {
    json_t *known = json_object(), *model;
    const json_t *version;
    const char *path;
    size_t i;
    json_object_foreach(before->models, path, model) {
        if (same_text(before, folder, path))
            json_object_set(known, path, model);
    }
    json_array_foreach(before->versions, i, version) {
        if (depends_on_time(version))
            json_object_del(known, json_string_value(json_object_get(version, "path")));
    }
    return known;
}

bool models_join(struct script_report *report, const json_t *known, const json_t *before) {
    json_t *models = json_object(), *version;
    size_t i;
    bool ok = json_object_update(models, (json_t *)known) == 0;
    json_array_foreach(before, i, version) {
        const char *path = json_string_value(json_object_get(version, "path"));
        bool unread = json_object_get(known, path) && !json_object_get(report->models, path);
        if (unread && json_array_append(report->versions, version) != 0)
            ok = false;
    }
    if (json_is_object(report->models) && json_object_update(models, report->models) != 0)
        ok = false;
    json_decref(report->models);
    report->models = models;
    return ok;
}
