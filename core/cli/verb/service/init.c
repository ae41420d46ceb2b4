/* init.c - writes a first script folder: the files of examples/first, which travel in the program.
 */
#include "base/embedded.h"
#include "cli/cli.h"
#include "cli/shown/output.h"
#include "cli/verb/service/new_file.h"
#include <string.h>

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

static bool files_make(const char *directory, bool writes, struct error *error) {
    for (EACH_FILE(file)) {
        struct new_file one = {name_of(file), file->text, file->size};
        if (!(writes ? new_file_write(directory, &one, error)
                     : new_file_free(directory, &one, error)))
            return false;
    }
    return true;
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
    if (!new_file_directory(directory, error) || !files_make(directory, false, error))
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
