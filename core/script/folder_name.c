#include "script/folder_name.h"
#include "base/text.h"
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_NAME "scripts"
#define RELEASES "releases"

/* ---- paths ---- */

/* The working directory, with the links by which the shell came there. The caller's. */
static char *here(void) {
    const char *shell = getenv("PWD");
    struct stat one, other;
    if (shell && *shell == '/' && stat(shell, &one) == 0 && stat(".", &other) == 0 &&
        one.st_dev == other.st_dev && one.st_ino == other.st_ino)
        return strdup(shell);
    return getcwd(NULL, 0);
}

/* The length without slashes and "/." at the end. */
static size_t trimmed(const char *path, size_t size) {
    for (;;)
        if (size > 1 && path[size - 1] == '/')
            size--;
        else if (size > 2 && path[size - 1] == '.' && path[size - 2] == '/')
            size -= 2;
        else
            return size;
}

/* Where the last part of so much of a path begins. */
static size_t last_part(const char *path, size_t size) {
    while (size > 0 && path[size - 1] != '/')
        size--;
    return size;
}

static bool is_part(const char *part, size_t size, const char *name) {
    return strlen(name) == size && memcmp(part, name, size) == 0;
}

/* ---- the name ---- */

static char *real_name(const char *path, size_t size) {
    char buffer[PATH_MAX], *part = strndup(path, size);
    const char *real = part ? realpath(part, buffer) : NULL;
    const char *name = real ? real + last_part(real, strlen(real)) : NO_NAME;
    free(part);
    return strdup(*name ? name : NO_NAME);
}

/* `whole`: it begins at the root. */
static char *name_of(const char *path, size_t size, bool whole);

static char *name_here(void) {
    char *path = here();
    char *name = path ? name_of(path, strlen(path), true) : strdup(NO_NAME);
    free(path);
    return name;
}

static char *name_of(const char *path, size_t size, bool whole) {
    size = trimmed(path, size);
    size_t begin = last_part(path, size), length = size - begin;
    const char *part = path + begin;
    if (length == 0 || is_part(part, length, "."))
        return whole ? strdup(NO_NAME) : name_here();
    if (is_part(part, length, ".."))
        return real_name(path, size);
    if (!is_part(part, length, "current"))
        return strndup(part, length);
    if (begin == 0)
        return whole ? strndup(part, length) : name_here();
    return begin == 1 ? strndup(part, length) : name_of(path, begin, whole);
}

char *folder_name_make(const char *path) {
    char *name = name_of(path, strlen(path), *path == '/');
    char *clean = name ? utf8_clean(name, strlen(name), SIZE_MAX) : NULL;
    free(name);
    return clean;
}

/* ---- other names ---- */

static void add_other(json_t *list, const char *other, const char *name) {
    if (strcmp(other, name) != 0 && utf8_valid(other, strlen(other), NULL))
        json_array_append_new(list, json_string(other));
}

static void add_beside(json_t *list, const char *folder, const char *own, const char *name) {
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    while (directory && (entry = readdir(directory)))
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, own) != 0)
            add_other(list, entry->d_name, name);
    if (directory)
        closedir(directory);
}

json_t *folder_name_others(const char *path, const char *name) {
    char real[PATH_MAX];
    json_t *list = json_array();
    char *given = folder_name_make(path);
    if (list && given)
        add_other(list, given, name);
    free(given);
    if (!list || !realpath(path, real))
        return list;
    size_t begin = last_part(real, strlen(real));
    const char *own = real + begin;
    if (begin < 1 || !*own || strcmp(own, name) == 0)
        return list;
    add_other(list, own, name);
    real[begin - 1] = '\0';
    if (strcmp(real + last_part(real, begin - 1), RELEASES) == 0)
        add_beside(list, real, own, name);
    return list;
}
