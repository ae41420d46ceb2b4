#include "store/rules/fleet/beside.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BESIDE_TRIES = 10 }; /* while others make and remove the same file */

/* Who may write the store may have made a file beside it. */
static bool is_trusted(const struct stat *file, const struct stat *store) {
    if (file->st_uid == store->st_uid || file->st_uid == 0 || file->st_uid == geteuid())
        return true;
    if ((store->st_mode & S_IWGRP) && file->st_gid == store->st_gid)
        return true;
    return (store->st_mode & S_IWOTH) != 0;
}

/* What speaks against the file, into `fault`. A backup by hard links gives every file of the store
 * a second name; a file with more names than the store has is somebody else's. */
static bool has_fault(const struct stat *file, const struct stat *store, char *fault, size_t size) {
    if (S_ISLNK(file->st_mode))
        snprintf(fault, size, "a link");
    else if (!S_ISREG(file->st_mode))
        snprintf(fault, size, "not a regular file");
    else if (file->st_dev != store->st_dev)
        snprintf(fault, size, "on another device");
    else if (!is_trusted(file, store))
        snprintf(fault, size, "a file of user %u", (unsigned)file->st_uid);
    else if (file->st_nlink > store->st_nlink)
        snprintf(fault, size, "a file with %u names", (unsigned)file->st_nlink);
    else
        return false;
    return true;
}

static bool beside_refuse(const char *path, const char *suffix, const char *fault,
                          struct error *error) {
    return error_set(error, ERROR_IO,
                     "store \"%s\": \"%s%s\" is %s (expected a plain file of this store: remove "
                     "what lies there)",
                     path, path, suffix, fault);
}

bool beside_fail(const char *path, const char *suffix, int reason, struct error *error) {
    if (reason == ENOSPC || reason == EDQUOT)
        return error_set(error, ERROR_FULL, "store \"%s\": no room on the disk for \"%s%s\"", path,
                         path, suffix);
    return error_set(error, ERROR_IO, "store \"%s\": cannot open \"%s%s\": %s", path, path, suffix,
                     strerror(reason));
}

static int fail(const char *path, const char *suffix, struct error *error) {
    int reason = errno;
    beside_fail(path, suffix, reason, error);
    errno = reason;
    return BESIDE_FAILED;
}

/* Root must not lock the owner out. */
static void give(int file, const struct stat *store) {
    if (geteuid() == 0 && fchown(file, store->st_uid, store->st_gid) != 0)
        errno = 0;
}

/* -1: errno says. EEXIST: it has come into being meanwhile. */
static int beside_make(const char *name, int flags, const struct stat *store) {
    int file = open(name, flags | O_CREAT | O_EXCL, store->st_mode & 0666);
    if (file >= 0)
        give(file, store);
    return file;
}

/* O_NONBLOCK: a pipe that somebody laid there must not stop us. */
static int open_or_make(const char *name, int flags, const struct stat *store) {
    int kind = (flags & O_ACCMODE) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, file = -1;
    for (int i = 0; file < 0 && i < BESIDE_TRIES; i++) {
        if (flags & O_EXCL)
            unlink(name);
        else if ((file = open(name, kind)) >= 0 || errno != ENOENT || !(flags & O_CREAT))
            return file;
        file = beside_make(name, kind, store);
        if (file < 0 && errno != EEXIST)
            return file;
    }
    return file;
}

int beside_open(const char *path, const char *suffix, int flags, struct error *error) {
    char name[PATH_MAX], fault[64];
    struct stat store, is;
    if ((size_t)snprintf(name, sizeof name, "%s%s", path, suffix) >= sizeof name) {
        errno = ENAMETOOLONG;
        return fail(path, suffix, error);
    }
    if (stat(path, &store) != 0)
        return fail(path, suffix, error);
    int file = open_or_make(name, flags, &store);
    if (file < 0 && errno == ELOOP)
        return beside_refuse(path, suffix, "a link", error) ? 0 : BESIDE_FOREIGN;
    if (file < 0 || fstat(file, &is) != 0) {
        int result = fail(path, suffix, error);
        if (file >= 0)
            close(file);
        return result;
    }
    if (!has_fault(&is, &store, fault, sizeof fault))
        return file;
    close(file);
    beside_refuse(path, suffix, fault, error);
    return BESIDE_FOREIGN;
}

bool beside_sound(const char *path, const char *suffix, struct error *error) {
    char name[PATH_MAX], fault[64];
    struct stat store, is;
    snprintf(name, sizeof name, "%s%s", path, suffix);
    if (stat(path, &store) != 0 || lstat(name, &is) != 0)
        return true;
    return !has_fault(&is, &store, fault, sizeof fault) ||
           beside_refuse(path, suffix, fault, error);
}

bool beside_link_sound(const char *path, struct error *error) {
    struct stat link, file;
    if (lstat(path, &link) != 0 || !S_ISLNK(link.st_mode))
        return true;
    if (link.st_uid == 0 || link.st_uid == geteuid())
        return true;
    if (stat(path, &file) == 0 && file.st_uid == link.st_uid)
        return true;
    return error_set(error, ERROR_IO,
                     "store \"%s\": a link of user %u to a file that is not theirs (expected the "
                     "file itself, or a link of your own)",
                     path, (unsigned)link.st_uid);
}
