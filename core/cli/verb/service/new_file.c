#include "cli/verb/service/new_file.h"
#include "base/text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool io_error(const char *path, struct error *error) {
    return error_set(error, ERROR_IO, "\"%s\": %s", path, strerror(errno));
}

bool new_file_directory(const char *directory, struct error *error) {
    return mkdir(directory, 0777) == 0 || errno == EEXIST || io_error(directory, error);
}

/* Makes the folders above a file, from the byte `at` of its path on. */
static bool folders_make(char *path, size_t at, struct error *error) {
    for (char *slash = strchr(path + at, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = new_file_directory(path, error);
        *slash = '/';
        if (!made)
            return false;
    }
    return true;
}

static bool text_write(const struct new_file *file, const char *path, struct error *error) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return io_error(path, error);
    FILE *out = fdopen(fd, "w");
    bool written = out && fwrite(file->text, 1, file->size, out) == file->size;
    bool closed = out ? fclose(out) == 0 : close(fd) == 0;
    return (written && closed) || io_error(path, error);
}

static bool path_of(struct text *path, const char *directory, const struct new_file *file,
                    struct error *error) {
    text_add(path, "%s/%s", directory, file->name);
    return !path->failed || error_no_memory(error);
}

bool new_file_free(const char *directory, const struct new_file *file, struct error *error) {
    struct text path = {0};
    struct stat info;
    bool fine = path_of(&path, directory, file, error);
    if (fine && lstat(path.data, &info) == 0)
        fine = error_set(error, ERROR_CONFLICT, "\"%s\" is there already (nothing written)",
                         path.data);
    text_clear(&path);
    return fine;
}

bool new_file_write(const char *directory, const struct new_file *file, struct error *error) {
    struct text path = {0};
    bool fine = path_of(&path, directory, file, error) &&
                folders_make(path.data, strlen(directory) + 1, error) &&
                text_write(file, path.data, error);
    text_clear(&path);
    return fine;
}
