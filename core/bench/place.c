#include "bench/place.h"
#include "base/embedded.h"
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static const int noted[] = {SIGINT, SIGTERM, SIGHUP};
enum { NOTED = sizeof noted / sizeof *noted };
static struct sigaction before[NOTED];

static void note(int signal) {
    interrupted = signal;
}

/* A second signal ends the process at once. */
static void signals_note(void) {
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART | SA_RESETHAND};
    interrupted = 0;
    for (int i = 0; i < NOTED; i++)
        sigaction(noted[i], &action, &before[i]);
}

static void signals_restore(void) {
    for (int i = 0; i < NOTED; i++)
        sigaction(noted[i], &before[i], NULL);
}

void place_leave_signals(void) {
    for (int i = 0; i < NOTED; i++)
        signal(noted[i], SIG_DFL);
}

bool place_goes_on(struct error *error) {
    return !interrupted || error_set(error, ERROR_INTERRUPTED, "interrupted");
}

void place_file(const struct place *place, const char *name, char *path) {
    snprintf(path, PATH_MAX, "%s/%s", place->path, name);
}

static bool refuse(const char *path, struct error *error) {
    return error_set(error, ERROR_IO, "bench: \"%s\": %s", path, strerror(errno));
}

static bool write_file(const char *path, const char *text, struct error *error) {
    FILE *file = fopen(path, "w");
    bool fine = file && fputs(text, file) >= 0;
    fine = file && fclose(file) == 0 && fine;
    return fine || refuse(path, error);
}

static void empty(const char *directory) {
    DIR *list = opendir(directory);
    for (struct dirent *entry; list && (entry = readdir(list));)
        if (entry->d_type != DT_DIR)
            unlinkat(dirfd(list), entry->d_name, 0);
    if (list)
        closedir(list);
}

static const char *const folders[] = {"handlers", "priorities", "processes"};
enum { FOLDERS = sizeof folders / sizeof *folders };

static void folders_remove(const struct place *place) {
    char path[PATH_MAX];
    for (int i = 0; i < FOLDERS; i++) {
        place_file(place, folders[i], path);
        empty(path);
        rmdir(path);
    }
}

bool place_folder(const struct place *place, const char *const *names, size_t count,
                  struct error *error) {
    char path[PATH_MAX], source[128];
    folders_remove(place);
    for (int i = 0; i < FOLDERS; i++) {
        place_file(place, folders[i], path);
        if (mkdir(path, 0700) != 0)
            return refuse(path, error);
    }
    for (size_t i = 0; i < count; i++) {
        snprintf(source, sizeof source, "core/bench/%s", names[i]);
        place_file(place, names[i], path);
        if (!write_file(path, embedded_find(source)->text, error))
            return false;
    }
    return true;
}

bool place_make(struct place *place, const char *parent, struct error *error) {
    char path[PATH_MAX];
    int size = snprintf(path, sizeof path, "%s/moonshift-bench-XXXXXX", parent);
    place->path[0] = '\0';
    if (size >= (int)sizeof place->path)
        return error_set(error, ERROR_INVALID, "directory \"%s\": too long", parent);
    signals_note(); /* first: a signal from here on still removes the directory */
    if (!mkdtemp(path)) {
        error_set(error, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO,
                  "directory \"%s\": cannot make a store there: %s", parent, strerror(errno));
        signals_restore();
        return false;
    }
    memcpy(place->path, path, (size_t)size + 1);
    static const char *const plain[] = {"handlers/noop.lua", "handlers/chain.lua",
                                        "handlers/spin.lua"};
    if (place_folder(place, plain, sizeof plain / sizeof *plain, error))
        return true;
    place_clear(place);
    return false;
}

void place_empty(const struct place *place) {
    empty(place->path);
}

void place_clear(struct place *place) {
    if (!place->path[0])
        return;
    folders_remove(place);
    empty(place->path);
    rmdir(place->path);
    place->path[0] = '\0';
    signals_restore();
}
