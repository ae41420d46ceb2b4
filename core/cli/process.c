/* process.c - the verbs of processes. */
#include "base/json.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/problem.h"
#include "cli/setup.h"
#include "cli/table.h"
#include "script/folder.h"
#include "script/script.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- check ---- */

static bool is_file(const char *path) {
    struct stat info;
    return path && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* A folder that has this file alone, among its processes. */
static struct folder *folder_of_file(const char *path, struct error *error) {
    size_t size;
    const char *slash = strrchr(path, '/');
    char *text = file_read(path, &size);
    struct text name = {0};
    if (!text) {
        error_set(error, ERROR_CONFIG, "%s: %s", path, strerror(errno));
        return NULL;
    }
    text_add(&name, "processes/%s", slash ? slash + 1 : path);
    json_t *file = json_pack("[{ss ss%}]", "path", name.data ? name.data : "", "text", text, size);
    struct folder *folder = file ? folder_from_json(file, "process check", 0, error) : NULL;
    if (!file)
        error_set(error, ERROR_CONFIG, "%s: not valid UTF-8", path);
    json_decref(file);
    text_clear(&name);
    free(text);
    return folder;
}

static bool take_folder(struct cli *cli, const struct flags *flags, enum script_reading *reading,
                        struct error *error) {
    *reading = READING_FOLDER;
    if (!setup_outside(cli, flags, error) || !setup_needs_folder(cli, error))
        return false;
    if (!is_file(cli->directory))
        return setup_folder(cli, error) && setup_file(cli, error);
    *reading = READING_FILE;
    cli->folder = folder_of_file(cli->directory, error);
    return cli->folder && settings_check(&cli->settings, error);
}

static const struct column columns[] = {
    {"key", "PROCESS", COLUMN_CUT},
    {"name", "NAME", COLUMN_CUT | COLUMN_OPTIONAL},
    {"tag", "TAG", COLUMN_CUT | COLUMN_OPTIONAL},
    {"activities", "ACTIVITIES", COLUMN_RIGHT},
    {"file", "FILE", COLUMN_CUT},
    {0},
};

static void print_all(const json_t *list, const char *label) {
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one) {
        problem_print(one, label);
    }
}

static bool report_print(const struct cli *cli, const struct script_report *found,
                         struct error *error) {
    if (cli->json)
        return output_json(json_pack("{sO sO sO}", "processes", found->processes, "problems",
                                     found->problems, "warnings", found->warnings),
                           error);
    if (!table_print(columns, found->processes, output_width(), error))
        return false;
    fflush(stdout); /* what is wrong is the last thing seen */
    print_all(found->problems, "");
    print_all(found->warnings, "warning: ");
    return true;
}

static bool refuse(const struct cli *cli, size_t count, const char *what, struct error *error) {
    return error_set(error, ERROR_FAILED, "%s: %zu %s%s", cli->directory, count, what,
                     count == 1 ? "" : "s");
}

static bool process_check(struct cli *cli, const struct flags *flags, struct error *error) {
    struct script_report found;
    enum script_reading reading;
    if (!take_folder(cli, flags, &reading, error))
        return false;
    struct script_options options = {
        .folder = cli->folder,
        .settings = &cli->settings,
        .clock = clock_system(),
        .hook = HOOK_ALWAYS,
        .reading = reading,
    };
    bool fine = script_check(&options, &found, error) && report_print(cli, &found, error);
    size_t problems = json_array_size(found.problems), warnings = json_array_size(found.warnings);
    script_report_clear(&found);
    if (fine && problems > 0)
        return refuse(cli, problems, "problem", error);
    if (fine && warnings > 0 && flags_has(flags, "--strict"))
        return refuse(cli, warnings, "warning", error);
    return fine;
}

static const struct flag check_flags[] = {
    {"--strict", NULL, "warnings are problems, too"},
    {0},
};

const struct cli_command process_commands[] = {
    {"process check", "[FILE | DIR] [--strict]", "read processes and run nothing",
     "Reads the processes of a script folder, or one file by itself. Shows every process, and "
     "every\n"
     "problem and warning with file, line and column; exit status 1 if there is any problem.\n"
     "Of a file by itself, the handlers are not looked for.",
     check_flags, 0, 1, false, true, process_check},
    {0},
};
