#include "store/sqlite/db/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool failed(const char *path, struct error *error) {
    enum error_code code = errno == ENOSPC || errno == EDQUOT ? ERROR_FULL : ERROR_IO;
    if (errno == ENOENT)
        code = ERROR_NOT_FOUND;
    if (errno == EEXIST)
        code = ERROR_CONFLICT;
    return error_set(error, code, "%s: %s", path, strerror(errno));
}

bool file_name(char name[PATH_MAX], const char *path, const char *suffix, struct error *error) {
    errno = ENAMETOOLONG;
    return (size_t)snprintf(name, PATH_MAX, "%s%s", path, suffix) < PATH_MAX || failed(path, error);
}

bool file_make(const char *path, const struct stat *like, bool owned, struct error *error) {
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return failed(path, error);
    bool chowns = owned && geteuid() == 0;
    bool done = fchmod(file, like->st_mode & 0666) == 0 &&
                (!chowns || fchown(file, like->st_uid, like->st_gid) == 0);
    if (!done)
        failed(path, error);
    close(file);
    return done;
}

static bool file_write(int file, const char *data, size_t size) {
    while (size > 0) {
        ssize_t written = write(file, data, size);
        if (written < 0 && errno != EINTR)
            return false;
        data += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

static bool copy(int in, int out, const char *from, const char *to, struct error *error) {
    char part[65536];
    for (;;) {
        ssize_t got = read(in, part, sizeof part);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 || failed(from, error);
        if (!file_write(out, part, (size_t)got))
            return failed(to, error);
    }
}

bool file_copy(const char *from, const char *to, struct error *error) {
    int in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
    bool done = (in >= 0 || failed(from, error)) &&
                ((out = open(to, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)) >= 0 || failed(to, error)) &&
                copy(in, out, from, to, error);
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) != 0 && done)
        done = failed(to, error);
    return done;
}

static bool sync_opened(const char *path, int flags, struct error *error) {
    int file = open(path, O_RDONLY | O_CLOEXEC | flags);
    if (file < 0)
        return failed(path, error);
    bool done = fsync(file) == 0 || failed(path, error);
    close(file);
    return done;
}

bool file_sync(const char *path, struct error *error) {
    return sync_opened(path, 0, error);
}

/* The folder and the name in it. */
static void split(const char *path, char folder[PATH_MAX], const char **name) {
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
}

bool file_sync_folder(const char *path, struct error *error) {
    char folder[PATH_MAX];
    const char *name;
    split(path, folder, &name);
    return sync_opened(folder, O_DIRECTORY, error);
}

bool file_move(const char *from, const char *to, bool replace, struct error *error) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, replace ? 0 : RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL || replace)
        return failed(to, error);
    /* A file system that knows no such flag: a second name is refused where there is one. */
    return (link(from, to) == 0 && unlink(from) == 0) || failed(to, error);
}

/* The process that "<name>-partial-<process>" names is gone. */
static bool is_leftover(const char *entry, const char *name) {
    static const char word[] = "-partial-";
    size_t size = strlen(name);
    if (strncmp(entry, name, size) != 0 || strncmp(entry + size, word, sizeof word - 1) != 0)
        return false;
    const char *digits = entry + size + sizeof word - 1;
    size_t count = strspn(digits, "0123456789");
    long process = count > 0 && count < 10 ? strtol(digits, NULL, 10) : 0;
    bool tail = digits[count] == '\0' || digits[count] == '-'; /* its log and its gate */
    return process > 0 && tail && kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

static void clear_leftovers(const char *path) {
    char folder[PATH_MAX], old[PATH_MAX * 2];
    const char *name;
    split(path, folder, &name);
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));)
        if (is_leftover(entry->d_name, name)) {
            snprintf(old, sizeof old, "%s/%s", folder, entry->d_name);
            unlink(old);
        }
    if (list)
        closedir(list);
}

bool file_partial(char name[PATH_MAX], const char *path, struct error *error) {
    char suffix[40];
    clear_leftovers(path);
    snprintf(suffix, sizeof suffix, "-partial-%ld", (long)getpid());
    return file_name(name, path, suffix, error);
}
