/* init.c - writes a first script folder: the files of examples/first, which travel in the program.
 */
#include "base/embedded.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/shown/output.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char root[] = "examples/first/";

/* The next file of the folder at or behind `file`; NULL: that was all. */
static const struct embedded *file_of(const struct embedded *file) {
    while (file->path && strncmp(file->path, root, strlen(root)) != 0)
        file++;
    return file->path ? file : NULL;
}

#define EACH_FILE(file)                                                                            \
    const struct embedded *file = file_of(embedded_files);                                         \
    file;                                                                                          \
    file = file_of(file + 1)

static const char *name_of(const struct embedded *file) {
    return file->path + strlen(root);
}

static bool io_error(const char *path, struct error *error) {
    return error_set(error, ERROR_IO, "\"%s\": %s", path, strerror(errno));
}

/* Makes the folders above a file, from the byte `at` of its path on. */
static bool folders_make(char *path, size_t at, struct error *error) {
    for (char *slash = strchr(path + at, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST || io_error(path, error);
        *slash = '/';
        if (!made)
            return false;
    }
    return true;
}

/* Never writes over a file: one that somebody else has just made stays. */
static bool file_write(const struct embedded *file, const char *path, struct error *error) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return io_error(path, error);
    FILE *out = fdopen(fd, "w");
    bool written = out && fwrite(file->text, 1, file->size, out) == file->size;
    bool closed = out ? fclose(out) == 0 : close(fd) == 0;
    return (written && closed) || io_error(path, error);
}

static bool is_there(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0;
}

/* Looks for one file, or writes it. */
static bool file_make(const char *directory, const struct embedded *file, bool writes,
                      struct error *error) {
    struct text path = {0};
    text_add(&path, "%s/%s", directory, name_of(file));
    bool fine = !path.failed || error_no_memory(error);
    if (fine && writes)
        fine = folders_make(path.data, strlen(directory) + 1, error) &&
               file_write(file, path.data, error);
    else if (fine && is_there(path.data))
        fine = error_set(error, ERROR_CONFLICT, "\"%s\" is there already (nothing written)",
                         path.data);
    text_clear(&path);
    return fine;
}

static bool files_make(const char *directory, bool writes, struct error *error) {
    for (EACH_FILE(file))
        if (!file_make(directory, file, writes, error))
            return false;
    return true;
}

/* Its parents must be there. */
static bool directory_make(const char *directory, struct error *error) {
    return mkdir(directory, 0777) == 0 || errno == EEXIST || io_error(directory, error);
}

static bool names_print(const struct cli *cli, const char *directory, struct error *error) {
    json_t *names = json_array();
    for (EACH_FILE(file)) {
        json_array_append_new(names, json_string(name_of(file)));
        if (!cli->json)
            output_add("%s/%s\n", directory, name_of(file));
    }
    if (cli->json)
        return output_json(json_pack("{ss so}", "directory", directory, "files", names), error);
    json_decref(names);
    if (strcmp(directory, ".") == 0)
        output_note("next: moonshift run --watch");
    else
        output_note("next: cd %s && moonshift run --watch", directory);
    return true;
}

static bool init_run(struct cli *cli, const struct flags *flags, struct error *error) {
    const char *given = flags_text(flags, "-C");
    const char *directory = given ? given : ".";
    if (flags->word_count)
        directory = flags->words[0];
    if (flags->word_count && given)
        return error_set(error, ERROR_USAGE, "the folder is given twice (\"%s\" and -C \"%s\")",
                         directory, given);
    if (!directory_make(directory, error) || !files_make(directory, false, error))
        return false;
    return files_make(directory, true, error) && names_print(cli, directory, error);
}

const struct cli_command init_commands[] = {
    {"init", "[DIR]", "write a first script folder, with what is usual in one",
     "Writes a handler, its spec, a schedule, the settings and a README into DIR, or here. A file\n"
     "that is there already is refused, and then nothing is written.",
     NULL, 0, 1, false, false, init_run},
    {0},
};
