/* process_picture.c - processes and instances as pictures. */
#include "base/json.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/shown/problem.h"
#include "cli/verb/processes/process_file.h"
#include "script/script.h"
#include <string.h>

/* As text it is what was asked for; with --json shapes and lines. */
static bool picture_print(const struct cli *cli, json_t *picture, struct error *error) {
    if (!picture)
        return false;
    if (cli->json)
        return output_json(picture, error);
    output_add("%s", json_string_value(picture));
    json_decref(picture);
    return true;
}

static bool form_put(const struct cli *cli, const struct flags *flags, json_t *question,
                     struct error *error) {
    const char *form = flags_has(flags, "--text") ? "text" : "svg";
    if (cli->json && flags_has(flags, "--text"))
        return error_set(error, ERROR_USAGE, "--text and --json: expected one of them");
    if (cli->json)
        form = "drawing";
    return (json_put_text(question, "form", form) &&
            (!flags_has(flags, "--heat") || json_put(question, "heat", json_true()))) ||
           error_no_memory(error);
}

/* Takes the question over. */
static bool stored_picture(struct cli *cli, const struct flags *flags, json_t *question,
                           struct error *error) {
    struct engine *engine =
        form_put(cli, flags, question, error) ? setup_reader(cli, flags, error) : NULL;
    json_t *picture = engine ? engine_picture(engine, question, error) : NULL;
    engine_close(engine);
    json_decref(question);
    return picture_print(cli, picture, error);
}

/* ---- a file by itself ---- */

/* The row of a process of the file: the one with this key, or the first. */
static const json_t *row_of(const json_t *rows, const char *key) {
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row) {
        if (!key || strcmp(json_text(row, "key"), key) == 0)
            return row;
    }
    return NULL;
}

static bool file_check(const struct script_options *options, const char *file, const char *key,
                       json_t **row, struct error *error) {
    struct script_report found;
    json_t *problem;
    size_t i;
    if (!script_check(options, &found, error))
        return false;
    *row = json_deep_copy(row_of(found.processes, key));
    json_array_foreach(found.problems, i, problem) {
        problem_print(problem, "");
    }
    if (i)
        error_set(error, ERROR_FAILED, "%s: %zu problem%s", file, i, i == 1 ? "" : "s");
    else if (!*row)
        error_set(error, ERROR_NOT_FOUND, "%s: no %s%s to be drawn", file,
                  key ? "process " : "process", key ? key : "");
    script_report_clear(&found);
    return !i && *row;
}

/* Takes over the row, and adds what the picture is asked for. */
static bool file_ask(struct cli *cli, const struct flags *flags, const json_t *row,
                     json_t *question, struct error *error) {
    const struct folder_file *file = folder_find(cli->folder, json_text(row, "file"));
    json_t *version = file ? json_pack("{ss ss ss%}", "key", json_text(row, "key"), "path",
                                       json_text(row, "file"), "text", file->text, file->size)
                           : NULL;
    return (json_put(question, "version", version) || error_no_memory(error)) &&
           form_put(cli, flags, question, error);
}

static bool file_picture(struct cli *cli, const struct flags *flags, const char *file,
                         struct error *error) {
    struct script_options options = {.settings = &cli->settings,
                                     .clock = clock_system(),
                                     .hook = HOOK_ALWAYS,
                                     .reading = READING_FILE};
    json_t *row = NULL, *question = json_object(), *picture = NULL;
    if (flags_has(flags, "--heat") || flags_text(flags, "--version"))
        return error_set(error, ERROR_USAGE, "%s: a file has neither instances nor versions", file);
    bool taken = setup_outside(cli, flags, error) && process_file_take(cli, file, error);
    options.folder = cli->folder;
    if (taken && file_check(&options, file, flags_text(flags, "--process"), &row, error) &&
        file_ask(cli, flags, row, question, error)) {
        struct script *script = script_open(&options, error);
        picture = script ? script_picture(script, question, error) : NULL;
        script_close(script);
    }
    json_decref(row);
    json_decref(question);
    return picture_print(cli, picture, error);
}

/* ---- verbs ---- */

static bool process_picture(struct cli *cli, const struct flags *flags, struct error *error) {
    const char *which = flags->words[0], *number = flags_text(flags, "--version");
    int64_t version = 0;
    if (process_file_names(which))
        return file_picture(cli, flags, which, error);
    if (number && !flags_number("--version", number, 1, INT64_MAX, &version, error))
        return false;
    if (flags_text(flags, "--process"))
        return error_set(error, ERROR_USAGE, "--process: expected a FILE beside it");
    json_t *question =
        json_pack("{ss so*}", "process", which, "version", version ? json_integer(version) : NULL);
    return stored_picture(cli, flags, question, error);
}

static bool instance_picture(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id;
    return flags_number("id", flags->words[0], 1, INT64_MAX, &id, error) &&
           stored_picture(cli, flags, json_pack("{sI}", "instance", (json_int_t)id), error);
}

#define FORM_FLAGS                                                                                 \
    { "--text", NULL, "as a tree for a terminal" }

static const struct flag process_flags[] = {
    {"--version", "N", "of this version, not the current one"},
    {"--process", "KEY", "of a FILE: this process, not the first one"},
    {"--heat", NULL, "how often each activity began, in the newest instances"},
    FORM_FLAGS,
    {0},
};
static const struct flag instance_flags[] = {
    {"--heat", NULL, "how often each activity began"},
    FORM_FLAGS,
    {0},
};

const struct cli_command picture_commands[] = {
    {"process picture", "KEY|FILE [--version N] [--heat] [--text]", "draw a process as SVG",
     "As the diagram of its model says; laid out where there is none. With the number of its\n"
     "instances and of open incidents at each activity. A FILE is drawn by itself, without them.\n"
     "--json: the shapes and lines.",
     process_flags, 1, 1, false, false, process_picture},
    {"instance picture", "ID [--heat] [--text]", "draw the process of an instance as SVG",
     "With the places where it stands and its open incidents. --json: the shapes and lines.",
     instance_flags, 1, 1, false, false, instance_picture},
    {0},
};
