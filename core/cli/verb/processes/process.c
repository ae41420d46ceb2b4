/* process.c - the verbs of processes. */
#include "base/json.h"
#include "base/text.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/shown/picture.h"
#include "cli/shown/problem.h"
#include "cli/shown/table.h"
#include "cli/verb/processes/process_file.h"
#include "script/folder.h"
#include "script/script.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- check ---- */

/* Reads the processes of the folder that was taken. */
static bool read_processes(struct cli *cli, const char *file, bool written,
                           struct script_report *found, struct error *error) {
    struct script_options options = {
        .folder = cli->folder,
        .settings = &cli->settings,
        .clock = clock_system(),
        .hook = HOOK_ALWAYS,
        .reading = process_file_is(file) ? READING_FILE : READING_FOLDER,
        .written = written,
    };
    return script_check(&options, found, error);
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

/* A problem of a setting has no file. */
static bool is_of_file(const json_t *one, const char *file) {
    const char *own = json_text(one, "file");
    return own && strcmp(own, file) == 0;
}

/* True if something in the list is about the file. */
static bool has_file(const json_t *list, const char *file) {
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one) {
        if (is_of_file(one, file))
            return true;
    }
    return false;
}

static void print_of_file(const json_t *list, const char *file, const char *label) {
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one) {
        if (is_of_file(one, file))
            problem_print(one, label);
    }
}

/* File by file; those with a problem come last, and in each the problems. The lists are in the
 * order of files. */
static void print_by_file(const json_t *problems, const json_t *warnings) {
    size_t i;
    json_t *one;
    const char *last = "";
    json_array_foreach(warnings, i, one) {
        if (!has_file(problems, json_text(one, "file")))
            problem_print(one, "warning: ");
    }
    json_array_foreach(problems, i, one) {
        const char *file = json_text(one, "file");
        if (strcmp(file, last) != 0) {
            print_of_file(warnings, file, "warning: ");
            print_of_file(problems, file, "");
        }
        last = file;
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
    print_by_file(found->problems, found->warnings);
    return true;
}

static bool process_refuse(const struct cli *cli, size_t count, const char *what,
                           struct error *error) {
    return error_set(error, ERROR_FAILED, "%s: %zu %s%s", cli->directory, count, what,
                     count == 1 ? "" : "s");
}

/* What is said of a file by itself names it as it was given. */
static bool name_file(const char *path, const struct script_report *found, struct error *error) {
    json_t *const lists[] = {found->processes, found->problems, found->warnings}, *one;
    size_t i;
    if (!process_file_is(path))
        return true;
    for (size_t list = 0; list < sizeof lists / sizeof *lists; list++)
        json_array_foreach(lists[list], i, one) {
            if (!json_put_text(one, "file", path))
                return error_no_memory(error);
        }
    return true;
}

static bool process_check(struct cli *cli, const struct flags *flags, struct error *error) {
    struct script_report found;
    if (!setup_outside(cli, flags, error) || !process_file_take(cli, cli->directory, error))
        return false;
    bool fine = read_processes(cli, cli->directory, false, &found, error) &&
                name_file(cli->directory, &found, error) && report_print(cli, &found, error);
    size_t problems = json_array_size(found.problems), warnings = json_array_size(found.warnings);
    script_report_clear(&found);
    if (fine && problems > 0)
        return process_refuse(cli, problems, "problem", error);
    if (fine && warnings > 0 && flags_has(flags, "--strict"))
        return process_refuse(cli, warnings, "warning", error);
    return fine;
}

static const struct flag check_flags[] = {
    {"--strict", NULL, "warnings are problems, too"},
    {0},
};

/* ---- show ---- */

/* The rows of the process with this key; of all for a file. A new reference. */
static json_t *shown_of(const json_t *rows, const char *which) {
    json_t *shown = json_array(), *row;
    size_t i;
    json_array_foreach(rows, i, row) {
        if (process_file_is(which) || strcmp(json_text(row, "key"), which) == 0)
            json_array_append(shown, row);
    }
    return shown;
}

static bool texts_print(const struct cli *cli, json_t *shown, struct error *error) {
    size_t i;
    json_t *row;
    if (cli->json)
        return output_json(json_incref(shown), error);
    json_array_foreach(shown, i, row) {
        output_add("%s%s", i ? "\n" : "", json_text(row, "lua"));
    }
    return true;
}

/* Where the instances of the process stand; json null: it is not deployed, or there is no store. */
static json_t *standing(struct cli *cli, const char *key, struct error *error) {
    struct error reason = {0};
    struct engine *engine = setup_open(cli, STORE_READ, false, &reason);
    json_t *question = json_pack("{ss}", "name", key);
    json_t *answer = engine_ask_of(engine, ASK_STANDING, question, &reason);
    engine_close(engine);
    if (!answer && reason.code == ERROR_NOT_FOUND)
        return json_null();
    if (!answer)
        *error = reason;
    return answer;
}

/* As pictures; with what stands where, unless they are of a file by itself. */
static bool pictures_print(struct cli *cli, json_t *shown, bool counted, struct error *error) {
    size_t i;
    json_t *row;
    bool fine = true;
    json_array_foreach(shown, i, row) {
        json_object_del(row, "lua");
        fine = fine &&
               (!counted || picture_count(row, standing(cli, json_text(row, "key"), error), error));
        if (fine && !cli->json) {
            output_add("%s", i ? "\n" : "");
            fine = picture_print(row, error);
        }
    }
    return fine && (!cli->json || output_json(json_incref(shown), error));
}

/* True if there are any, of files without a problem. */
static bool all_written(const json_t *shown) {
    size_t i;
    json_t *row;
    json_array_foreach(shown, i, row) {
        if (!json_text(row, "lua"))
            return false;
    }
    return json_array_size(shown) > 0;
}

static bool show_found(struct cli *cli, const struct script_report *found, const char *which,
                       bool as_text, struct error *error) {
    json_t *shown = shown_of(found->processes, which);
    size_t problems = json_array_size(found->problems);
    bool fine = false;
    if (all_written(shown)) {
        fine = as_text ? texts_print(cli, shown, error)
                       : pictures_print(cli, shown, !process_file_is(which), error);
    } else if (problems > 0) {
        print_all(found->problems, "");
        error_set(error, ERROR_FAILED, "%s: %zu problem%s", which, problems,
                  problems == 1 ? "" : "s");
    } else {
        error_set(error, ERROR_NOT_FOUND, "no process \"%s\" in the script folder", which);
    }
    json_decref(shown);
    return fine;
}

static bool process_show(struct cli *cli, const struct flags *flags, struct error *error) {
    const char *which = flags->words[0];
    struct script_report found;
    if (!setup_outside(cli, flags, error) || !process_file_take(cli, which, error))
        return false;
    bool fine = read_processes(cli, which, true, &found, error) &&
                name_file(which, &found, error) &&
                show_found(cli, &found, which, flags_has(flags, "--lua"), error);
    script_report_clear(&found);
    return fine;
}

static const struct flag show_flags[] = {
    {"--lua", NULL, "as a list of words in Lua, which may take the place of a model"},
    {0},
};

const struct cli_command process_commands[] = {
    {"process check", "[FILE | DIR] [--strict]", "read processes and run nothing",
     "Reads the processes of a script folder, or one file by itself. Shows every process, and "
     "every\n"
     "problem and warning with file, line and column; exit status 1 if there is any problem.\n"
     "Of a file by itself, the handlers are not looked for.",
     check_flags, 0, 1, false, true, process_check},
    {"process show", "KEY|FILE [--lua]", "show a process, and where its instances stand",
     "A tree of its activities: what follows stands below, what leaves an activity inside it. "
     "Each\n"
     "with the number of instances that stand there, what they wait for, and open incidents.\n"
     "A FILE is read by itself, without instances. --lua writes the process in Lua: both forms\n"
     "give the same graph.",
     show_flags, 1, 1, false, false, process_show},
    {0},
};
