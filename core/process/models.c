#include "process/models.h"
#include "base/embedded.h"
#include "base/json.h"
#include <stdio.h>
#include <string.h>

static bool same_text(const struct folder *before, const struct folder *folder, const char *path) {
    if (strcmp(before->hash, folder->hash) == 0)
        return folder_find(folder, path) != NULL;
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

void models_program(const struct settings *settings, char program[MODELS_PROGRAM]) {
    snprintf(program, MODELS_PROGRAM, "%s %s %d", MOONSHIFT_VERSION, embedded_digest,
             (int)settings->cron);
}

char *models_found(const struct folder *folder) {
    if (json_object_size(folder->models) == 0)
        return NULL;
    json_t *found = json_pack("{sOsO}", "models", folder->models, "versions", folder->versions);
    char *text = json_write(found, NULL);
    json_decref(found);
    return text;
}

static bool is_process(const json_t *process) {
    return json_is_string(json_object_get(process, "key")) &&
           json_is_string(json_object_get(process, "hash"));
}

static bool is_definition(const json_t *definition) {
    return json_is_string(json_object_get(definition, "name")) &&
           json_is_object(json_object_get(definition, "declared"));
}

static bool is_version(const json_t *version) {
    return is_process(version) && json_is_string(json_object_get(version, "path"));
}

static bool are_all(const json_t *list, bool (*is)(const json_t *one)) {
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one) {
        if (!is(one))
            return false;
    }
    return json_is_array(list);
}

static bool is_text(const json_t *text) {
    return json_is_string(text);
}

static bool is_need(const json_t *names) {
    return are_all(names, is_text);
}

static bool is_model(const json_t *model) {
    return are_all(json_object_get(model, "processes"), is_process) &&
           are_all(json_object_get(model, "definitions"), is_definition) &&
           are_all(json_object_get(model, "needs"), is_need);
}

bool models_take(struct folder *folder, const json_t *found) {
    json_t *models = json_object_get(found, "models"), *versions, *model;
    const char *path;
    versions = json_object_get(found, "versions");
    if (!json_is_object(models) || !are_all(versions, is_version))
        return false;
    json_object_foreach(models, path, model) {
        if (!is_model(model))
            return false;
    }
    folder->models = json_incref(models);
    folder->versions = json_incref(versions);
    return true;
}
