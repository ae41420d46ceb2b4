#include "script/files.h"
#include "base/list.h"
#include "base/text.h"
#include "job/command.h"
#include "job/job.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEPTH_MAX 32 /* folders in folders; ends a loop of symbolic links */

static const char *const kinds[] = {"handlers", "priorities", "retries", "listeners", "schedules",
                                    "batches",  "hooks",      "lib",     "processes", "activities",
                                    "beans",    "decisions",  "routes",  NULL};
static const char processes[] = "processes/";
static const char handlers[] = "handlers/";
static const char batches[] = "handlers/" BATCH_HANDLERS; /* what batches/x.lua is defined as */
/* What jobs of one handler are created without. */
static const char *const unneeded[] = {"handlers/",   "batches/", "schedules/", "processes/",
                                       "activities/", "beans/",   "decisions/", NULL};
static const char *const others[] = {"spec", "docs", NULL};

/* ---- kinds of files ---- */

static bool ends_with(const char *name, const char *end) {
    size_t length = strlen(name), size = strlen(end);
    return length > size && strcmp(name + length - size, end) == 0;
}

static bool is_script(const char *name) {
    return ends_with(name, ".lua");
}

static bool is_model(const char *path) {
    return strncmp(path, processes, sizeof processes - 1) == 0 &&
           (ends_with(path, ".bpmn") || ends_with(path, ".bpmn20.xml"));
}

static bool is_needed(const struct files *files, const char *path) {
    if (!files->only || strcmp(path, files->only) == 0)
        return true;
    for (const char *const *kind = unneeded; *kind; kind++)
        if (strncmp(path, *kind, strlen(*kind)) == 0)
            return false;
    return true;
}

static int size_max(const char *path) {
    return is_model(path) ? MODEL_SIZE_MAX : FILE_SIZE_MAX;
}

/* ---- the list ---- */

static bool grow(struct files *files) {
    struct folder_file *list = list_room(files->list, files->count, sizeof *list);
    if (list)
        files->list = list;
    return list != NULL;
}

static char *copy_text(const char *text, size_t size) {
    char *copy = malloc(size + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

bool files_add(struct files *files, const char *path, const char *text, size_t size, bool stock,
               struct error *error) {
    if (files->count >= FILES_MAX)
        return error_set(error, ERROR_CONFIG, "%s: more than %d files in the script folder", path,
                         FILES_MAX);
    if (size > (size_t)size_max(path))
        return error_set(error, ERROR_CONFIG, "%s: %zu bytes (expected at most %d)", path, size,
                         size_max(path));
    bool handler = strncmp(path, handlers, sizeof handlers - 1) == 0;
    const char *prefix = handler && !stock ? job_reserved(path + sizeof handlers - 1) : NULL;
    if (prefix)
        return error_set(error, ERROR_CONFIG,
                         "%s: handlers under %s are reserved (expected another name)", path,
                         prefix);
    if (strncmp(path, batches, sizeof batches - 1) == 0)
        return error_set(error, ERROR_CONFIG,
                         "%s: handlers under batch/ are reserved (expected batches/%s)", path,
                         path + sizeof batches - 1);
    struct folder_file file = {strdup(path), copy_text(text, size), size, stock};
    if (file.path && file.text && grow(files)) {
        files->list[files->count++] = file;
        return true;
    }
    free(file.path);
    free(file.text);
    return error_set(error, ERROR_FAILED, "out of memory while the script folder was read");
}

static void file_clear(struct folder_file *file) {
    free(file->path);
    free(file->text);
}

/* By path; of equal paths the one added first comes first. */
static int by_path(const void *a, const void *b) {
    const struct folder_file *one = *(struct folder_file *const *)a;
    const struct folder_file *two = *(struct folder_file *const *)b;
    int order = strcmp(one->path, two->path);
    return order ? order : (one > two) - (one < two);
}

/* A type of batch that everybody has means the same everywhere. */
static bool check_twin(const struct folder_file *first, const struct folder_file *second,
                       struct error *error) {
    return first->stock || !second->stock || strncmp(first->path, "batches/", 8) != 0 ||
           error_set(error, ERROR_CONFIG,
                     "%s: there is a type of batch of that name (expected another name)",
                     first->path);
}

static bool check_twins(struct folder_file **order, size_t count, struct error *error) {
    for (size_t i = 1; i < count; i++)
        if (strcmp(order[i - 1]->path, order[i]->path) == 0 &&
            !check_twin(order[i - 1], order[i], error))
            return false;
    return true;
}

/* Moves the files of `order` to `sorted`, without twins; how many. */
static size_t keep_firsts(struct folder_file **order, size_t count, struct folder_file *sorted) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept > 0 && strcmp(sorted[kept - 1].path, order[i]->path) == 0)
            file_clear(order[i]);
        else
            sorted[kept++] = *order[i];
    return kept;
}

bool files_sort(struct files *files, struct error *error) {
    struct folder_file **order = calloc(files->count + 1, sizeof *order);
    struct folder_file *sorted = calloc(files->count + 1, sizeof *sorted);
    if (!order || !sorted) {
        free(order);
        free(sorted);
        return error_set(error, ERROR_FAILED, "out of memory while the script folder was read");
    }
    for (size_t i = 0; i < files->count; i++)
        order[i] = &files->list[i];
    qsort(order, files->count, sizeof *order, by_path);
    if (!check_twins(order, files->count, error)) {
        free(order);
        free(sorted);
        return false;
    }
    files->count = keep_firsts(order, files->count, sorted);
    free(files->list);
    free(order);
    files->list = sorted;
    return true;
}

void files_clear(struct files *files) {
    for (size_t i = 0; i < files->count; i++)
        file_clear(&files->list[i]);
    free(files->list);
    *files = (struct files){0};
}

/* ---- the disk ---- */

static bool refuse(const char *path, int failure, struct error *error) {
    if (failure == ENOMEM)
        return error_set(error, ERROR_FAILED, "%s: out of memory", path);
    return error_set(error, ERROR_CONFIG, "%s: %s", path, strerror(failure));
}

static bool read_script(struct files *files, const char *full, const char *path, off_t size,
                        struct error *error) {
    if (size > size_max(path))
        return error_set(error, ERROR_CONFIG, "%s: %lld bytes (expected at most %d)", path,
                         (long long)size, size_max(path));
    size_t length;
    char *text = file_read(full, &length);
    if (!text)
        return refuse(full, errno, error);
    bool ok = files_add(files, path, text, length, false, error);
    free(text);
    return ok;
}

static time_ms in_ms(const struct timespec *at) {
    return at->tv_sec * 1000 + at->tv_nsec / 1000000;
}

/* No program can set the time of the last change of a file's state, and another file that takes the
 * place has another number. */
static void mark_file(struct files_mark *mark, const char *path, const struct stat *status) {
    const struct timespec *text = &status->st_mtim, *state = &status->st_ctim;
    const int64_t numbers[] = {status->st_size, (int64_t)status->st_dev, (int64_t)status->st_ino,
                               text->tv_sec,    text->tv_nsec,           state->tv_sec,
                               state->tv_nsec};
    SHA256Update(&mark->hash, (const uint8_t *)path, strlen(path) + 1);
    SHA256Update(&mark->hash, (const uint8_t *)numbers, sizeof numbers);
    if (in_ms(text) > mark->since || in_ms(state) > mark->since)
        mark->young = true;
}

static bool read_file(struct files *files, const char *full, const char *path,
                      const struct stat *status, struct error *error) {
    if (files->mark)
        mark_file(files->mark, path, status);
    return !is_needed(files, path) || read_script(files, full, path, status->st_size, error);
}

static bool read_folder(struct files *files, const char *root, const char *path, int depth,
                        struct error *error);

/* `path` is relative to root. */
static bool read_entry(struct files *files, const char *root, const char *path, int depth,
                       struct error *error) {
    struct text full = {0};
    struct stat status;
    text_add(&full, "%s/%s", root, path);
    bool ok = !full.failed;
    if (!ok)
        error_set(error, ERROR_FAILED, "out of memory while the script folder was read");
    else if (stat(full.data, &status) != 0)
        ok = refuse(full.data, errno, error);
    else if (S_ISDIR(status.st_mode))
        ok = read_folder(files, root, path, depth + 1, error);
    else if ((is_script(path) || is_model(path)) && S_ISREG(status.st_mode))
        ok = read_file(files, full.data, path, &status, error);
    text_clear(&full);
    return ok;
}

static bool read_entries(struct files *files, const char *root, const char *path, DIR *folder,
                         int depth, struct error *error) {
    bool ok = true;
    struct dirent *entry;
    while (ok && (entry = readdir(folder))) {
        struct text child = {0};
        if (entry->d_name[0] == '.')
            continue;
        text_add(&child, "%s/%s", path, entry->d_name);
        ok = child.failed
                 ? error_set(error, ERROR_FAILED, "out of memory while the script folder was read")
                 : read_entry(files, root, child.data, depth, error);
        text_clear(&child);
    }
    return ok;
}

static bool read_folder(struct files *files, const char *root, const char *path, int depth,
                        struct error *error) {
    if (depth > DEPTH_MAX)
        return error_set(error, ERROR_CONFIG, "%s/%s: folders nested more than %d deep", root, path,
                         DEPTH_MAX);
    struct text full = {0};
    text_add(&full, "%s/%s", root, path);
    DIR *folder = full.failed ? NULL : opendir(full.data);
    const char *asked = full.data ? full.data : root;
    bool ok = folder ? read_entries(files, root, path, folder, depth, error)
                     : refuse(asked, errno, error);
    if (folder)
        closedir(folder);
    text_clear(&full);
    return ok;
}

static void warn_entry(struct files *files, const char *name, bool folder) {
    struct text text = {0};
    const char *meant = folder ? suggest(name, kinds) : NULL;
    if (!folder)
        text_add(&text, "%s: ignored (expected moonshift.lua, or a folder such as handlers/)",
                 name);
    else if (meant)
        text_add(&text, "%s/: ignored (did you mean \"%s\"?)", name, meant);
    else
        text_add(&text,
                 "%s/: ignored (expected handlers, priorities, retries, listeners, schedules, "
                 "batches, hooks, lib, processes, activities, beans, decisions or routes)",
                 name);
    json_array_append_new(files->warnings, json_string(text.data ? text.data : name));
    text_clear(&text);
}

static bool read_root_entry(struct files *files, const char *root, const char *name,
                            struct error *error) {
    struct text full = {0};
    struct stat status;
    if (is_one_of(name, kinds) || strcmp(name, "moonshift.lua") == 0)
        return read_entry(files, root, name, 0, error);
    text_add(&full, "%s/%s", root, name);
    bool there = full.data && stat(full.data, &status) == 0;
    bool folder = there && S_ISDIR(status.st_mode);
    text_clear(&full);
    if (there && (folder ? !is_one_of(name, others) : is_script(name)))
        warn_entry(files, name, folder);
    return true;
}

bool files_read(struct files *files, const char *root, struct error *error) {
    bool ok = true;
    struct dirent *entry;
    DIR *folder = opendir(root);
    if (!folder)
        return errno == ENOMEM
                   ? error_set(error, ERROR_FAILED, "script folder \"%s\": out of memory", root)
                   : error_set(error, ERROR_CONFIG, "script folder \"%s\": %s", root,
                               strerror(errno));
    while (ok && (entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            ok = read_root_entry(files, root, entry->d_name, error);
    closedir(folder);
    return ok;
}
