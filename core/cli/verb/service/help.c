#include "cli/verb/service/help.h"
#include "cli/cli.h"
#include "cli/shown/output.h"
#include "cli/shown/table.h"
#include "http/api/openapi.h"
#include "http/api/route.h"
#include "job/caller/scope.h"
#include <stdio.h>
#include <string.h>

static void summary_print(const struct cli_command *command) {
    output_add("  %-21s %s\n", command->name, command->summary);
}

/* The headings of the overview, each with the first words of its verbs. */
static const struct {
    const char *title, *words[12];
} sections[] = {
    {"RUN", {"init", "import", "run", "serve", "health", "deploy", "check"}},
    {"CREATE JOBS", {"enqueue"}},
    {"JOBS", {"job"}},
    {"MANY JOBS AT ONCE", {"definition", "batch"}},
    {"PROCESSES", {"process", "instance", "task", "message", "signal", "conditions"}},
    {"WHAT REPEATS", {"schedule", "dates"}},
    {"WHAT HAPPENED", {"incident", "log", "operations", "history", "stats", "top"}},
    {"WHO RUNS WHAT", {"executor", "deployment"}},
    {"THE STORE", {"store", "backup", "restore"}},
};
#define SECTIONS (sizeof sections / sizeof *sections)

/* True if this is the verb's first word. */
static bool begins_with(const struct cli_command *command, const char *word) {
    size_t size = strcspn(command->name, " ");
    return strlen(word) == size && strncmp(word, command->name, size) == 0;
}

/* The section of a verb; SECTIONS: none of them. */
static size_t section_of(const struct cli_command *command) {
    for (size_t i = 0; i < SECTIONS; i++)
        for (const char *const *word = sections[i].words; *word; word++)
            if (begins_with(command, *word))
                return i;
    return SECTIONS;
}

/* The verbs of a section that begin with `word`; NULL: all. */
static void verbs_print(size_t section, const char *word) {
    for (const struct cli_command *const *group = verb_groups; *group; group++)
        for (const struct cli_command *command = *group; command->name; command++)
            if (section_of(command) == section && (!word || begins_with(command, word)))
                summary_print(command);
}

static void section_print(size_t section) {
    output_add("%s\n", section < SECTIONS ? sections[section].title : "THE PROGRAM");
    if (section == SECTIONS)
        verbs_print(section, NULL);
    for (size_t i = 0; section < SECTIONS && sections[section].words[i]; i++)
        verbs_print(section, sections[section].words[i]);
    output_add("\n");
}

static void help_overview(void) {
    output_add("usage: moonshift VERB [flags]\n\n"
               "A durable job executor scripted in Lua.\n\n");
    for (size_t i = 0; i <= SECTIONS; i++)
        section_print(i);
    output_add("Every verb takes -C DIR, --store URL, --json and --help.\n"
               "moonshift help VERB says more.\n\nExit status: 0 done, 1 failed, 2 usage or a bad "
               "value, 4 not found, 5 conflict,"
               "\n65 damaged store, 69 no server, 74 input/output, 78 settings or schema,"
               "\n130 interrupted.\n");
}

static void flags_print(const struct cli_command *command) {
    struct flag_walk walk = flag_walk(command);
    for (const struct flag *flag; (flag = flag_next(&walk));) {
        char left[64];
        bool perhaps = flag->value && strcmp(flag->value, "[BOOL]") == 0;
        const char *value = flag->value ? flag->value : "";
        if (perhaps)
            value = "[=BOOL]";
        snprintf(left, sizeof left, "%s%s%s", flag->name, flag->value && !perhaps ? " " : "",
                 value);
        int width = table_text_width(left);
        output_add("  %s%*s %s\n", left, width < 26 ? 26 - width : 0, "", flag->help);
    }
}

static void help_command(const struct cli_command *command) {
    output_add("usage: moonshift %s%s%s\n\n%s\n", command->name, command->usage[0] ? " " : "",
               command->usage, command->summary);
    if (command->help[0])
        output_add("\n%s\n", command->help);
    output_add("\n");
    flags_print(command);
    if (examples_of(command->name))
        output_add("\nexamples:\n%s", examples_of(command->name));
    if (command->takes_settings)
        output_add("\nAny setting is a flag too (--lock-time PT1M); moonshift settings lists"
                   " them.\n");
}

/* A verb, or a group ("job"): false, with an error, if there is none. */
static bool help_topic(const char *first, const char *second, struct error *error) {
    int words;
    const struct cli_command *command = verb_find(first, second, &words);
    if (command) {
        help_command(command);
        return true;
    }
    size_t found = 0, size = strlen(first);
    for (const struct cli_command *const *group = verb_groups; !second && *group; group++)
        for (command = *group; command->name; command++)
            if (strncmp(command->name, first, size) == 0 && command->name[size] == ' ') {
                summary_print(command);
                found++;
            }
    return found > 0 || verb_unknown(first, second, error);
}

/* ---- the API over HTTP ---- */

static json_t *route_row(const struct route *route) {
    char scopes[SCOPES_TEXT_SIZE];
    scopes_write(route->scope, scopes);
    return json_pack("{ss ss ss ss}", "method", route->method, "path", route->path, "scope", scopes,
                     "says", route->says);
}

static bool help_api(const struct cli *cli, struct error *error) {
    static const struct column columns[] = {{"method", "METHOD", COLUMN_LEFT},
                                            {"path", "PATH", COLUMN_LEFT},
                                            {"scope", "SCOPE", COLUMN_LEFT},
                                            {"says", "DOES", COLUMN_CUT | COLUMN_REST},
                                            {0}};
    if (cli->json)
        return output_json(openapi_describe(), error);
    json_t *rows = json_array();
    for (const struct route *route = routes; route->method; route++)
        json_array_append_new(rows, route_row(route));
    bool fine = rows ? table_print(columns, rows, output_width(), error) : error_no_memory(error);
    json_decref(rows);
    return fine;
}

static bool help_run(struct cli *cli, const struct flags *flags, struct error *error) {
    if (flags->word_count == 1 && strcmp(flags->words[0], "api") == 0)
        return help_api(cli, error);
    if (flags->word_count > 0)
        return help_topic(flags->words[0], flags->word_count > 1 ? flags->words[1] : NULL, error);
    help_overview();
    return true;
}

static bool version_run(struct cli *cli, const struct flags *flags, struct error *error) {
    (void)flags;
    if (cli->json)
        return output_json(json_pack("{ss}", "version", MOONSHIFT_VERSION), error);
    output_add("moonshift %s\n", MOONSHIFT_VERSION);
    return true;
}

const struct cli_command help_commands[] = {
    {.name = "version",
     .usage = "",
     .summary = "print the program's version",
     .help = "",
     .run = version_run},
    {.name = "help",
     .usage = "[VERB]",
     .summary = "explain a verb",
     .help = "help api lists the requests that are answered over HTTP; with --json they are\n"
             "described as OpenAPI 3.1 does.",
     .words_max = 2,
     .run = help_run},
    {0},
};
