#include "script/folder.h"
#include "base/clock.h"
#include "base/embedded.h"
#include "base/text.h"
#include "script/files.h"
#include "script/folder_name.h"
#include <limits.h>
#include <sha2.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct shared_folder {
    struct folder folder; /* first */
    _Atomic int owners;
};

/* ---- making one ---- */

static bool add_stock(struct files *files, struct error *error) {
    static const char root[] = "scripts/";
    for (const struct embedded *file = embedded_files; file->path; file++)
        if (strncmp(file->path, root, sizeof root - 1) == 0 &&
            !files_add(files, file->path + sizeof root - 1, file->text, file->size, true, error))
            return false;
    return true;
}

static void hash_files(struct folder *folder) {
    SHA2_CTX hash;
    SHA256Init(&hash);
    for (size_t i = 0; i < folder->count; i++) {
        const struct folder_file *file = &folder->files[i];
        uint64_t size = file->size;
        if (file->stock)
            continue;
        SHA256Update(&hash, (const uint8_t *)file->path, strlen(file->path) + 1);
        SHA256Update(&hash, (const uint8_t *)&size, sizeof size);
        SHA256Update(&hash, (const uint8_t *)file->text, file->size);
    }
    SHA256End(&hash, folder->hash);
}

static struct folder *folder_new(const char *path, const char *name) {
    struct shared_folder *shared = calloc(1, sizeof *shared);
    if (!shared)
        return NULL;
    struct folder *folder = &shared->folder;
    atomic_init(&shared->owners, 1);
    folder->path = strdup(path);
    folder->name = strdup(name);
    folder->warnings = json_array();
    if (folder->path && folder->name && folder->warnings)
        return folder;
    folder_release(folder);
    return NULL;
}

/* Hands the files over to the folder; both go if `ok` is false. */
static struct folder *complete(struct folder *folder, struct files *files, bool ok,
                               struct error *error) {
    if (!ok || !add_stock(files, error) || !files_sort(files, error)) {
        files_clear(files);
        folder_release(folder);
        return NULL;
    }
    folder->files = files->list;
    folder->count = files->count;
    return folder;
}

static struct folder *refuse_memory(struct error *error) {
    error_set(error, ERROR_FAILED, "out of memory while the script folder was read");
    return NULL;
}

/* The clock of a disk may count in steps of two seconds. */
enum { MARK_AGE = 3000 };

static struct files_mark mark_begin(void) {
    struct files_mark mark = {.since = clock_now(clock_system()) - MARK_AGE};
    SHA256Init(&mark.hash);
    return mark;
}

static void mark_end(struct files_mark *mark, struct folder *folder) {
    SHA256End(&mark->hash, folder->mark);
    if (mark->young)
        folder->mark[0] = '\0';
}

/* `only`: see struct files. */
static struct folder *read_paths(const char *const *paths, size_t count, const char *only,
                                 struct error *error) {
    struct files_mark mark = mark_begin();
    struct files files = {.only = only, .mark = &mark};
    char *name = count ? folder_name_make(paths[0]) : strdup("stock");
    const char *path = count ? paths[0] : "";
    struct folder *folder = name ? folder_new(path, name) : NULL;
    free(name);
    if (!folder)
        return refuse_memory(error);
    files.warnings = folder->warnings;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = files_read(&files, paths[i], error);
    folder = complete(folder, &files, ok, error);
    if (!folder)
        return NULL;
    mark_end(&mark, folder);
    if (!only)
        hash_files(folder);
    return folder;
}

struct folder *folder_read(const char *const *paths, size_t count, struct error *error) {
    return read_paths(paths, count, NULL, error);
}

/* A part that says all that the whole would. */
static bool part_suffices(const struct folder *folder, const char *only) {
    static const char hooks[] = "hooks/";
    bool suffices = folder->mark[0] && folder_find(folder, only);
    for (size_t i = 0; suffices && i < folder->count; i++)
        suffices =
            folder->files[i].stock || strncmp(folder->files[i].path, hooks, sizeof hooks - 1) != 0;
    return suffices;
}

struct folder *folder_read_part(const char *path, const char *handler, struct error *error) {
    struct text only = {0};
    text_add(&only, "handlers/%s.lua", handler);
    struct folder *folder = only.failed ? NULL : read_paths(&path, 1, only.data, NULL);
    bool fine = folder && part_suffices(folder, only.data);
    text_clear(&only);
    if (fine) {
        folder->part = true;
        return folder;
    }
    folder_release(folder);
    return folder_read(&path, 1, error);
}

static bool add_stored(struct files *files, const json_t *stored, struct error *error) {
    const json_t *path = json_object_get(stored, "path"), *text = json_object_get(stored, "text");
    if (!json_is_string(path) || !json_is_string(text))
        return error_set(error, ERROR_DAMAGED, "a deployment's file in the store is not readable");
    return files_add(files, json_string_value(path), json_string_value(text),
                     json_string_length(text), false, error);
}

struct folder *folder_from_texts(const json_t *stored, const char *name, int64_t deployment,
                                 struct error *error) {
    struct files files = {0};
    struct folder *folder = folder_new("", name);
    if (!folder)
        return refuse_memory(error);
    folder->deployment = deployment;
    bool ok = true;
    for (size_t i = 0; ok && i < json_array_size(stored); i++)
        ok = add_stored(&files, json_array_get(stored, i), error);
    return complete(folder, &files, ok, error);
}

struct folder *folder_from_json(const json_t *stored, const char *name, int64_t deployment,
                                struct error *error) {
    struct folder *folder = folder_from_texts(stored, name, deployment, error);
    if (folder)
        hash_files(folder);
    return folder;
}

/* ---- sharing ---- */

struct folder *folder_retain(struct folder *folder) {
    atomic_fetch_add(&((struct shared_folder *)folder)->owners, 1);
    return folder;
}

void folder_release(struct folder *folder) {
    if (!folder || atomic_fetch_sub(&((struct shared_folder *)folder)->owners, 1) > 1)
        return;
    struct files files = {.list = folder->files, .count = folder->count};
    files_clear(&files);
    json_decref(folder->models);
    json_decref(folder->versions);
    json_decref(folder->warnings);
    free(folder->path);
    free(folder->name);
    free(folder);
}

static int by_path(const void *path, const void *file) {
    return strcmp(path, ((const struct folder_file *)file)->path);
}

bool folder_idle(const struct folder *folder) {
    static const char *const kinds[] = {"handlers/", "batches/", "schedules/", "processes/"};
    for (size_t i = 0; i < folder->count; i++)
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
            if (!folder->files[i].stock &&
                strncmp(folder->files[i].path, kinds[kind], strlen(kinds[kind])) == 0)
                return false;
    return true;
}

const struct folder_file *folder_find(const struct folder *folder, const char *path) {
    if (folder->count == 0)
        return NULL;
    return bsearch(path, folder->files, folder->count, sizeof *folder->files, by_path);
}
