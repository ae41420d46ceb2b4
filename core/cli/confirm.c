#include "cli/confirm.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_asked(const struct cli *cli, const struct flags *flags, const json_t *command) {
    const char *verb = json_string_value(json_object_get(command, "verb"));
    const char *yes = getenv("MOONSHIFT_YES");
    bool loses = verb && (strcmp(verb, "delete") == 0 || strcmp(verb, "cancel") == 0);
    bool by_id =
        json_object_get(command, "ids") || json_object_get(json_object_get(command, "query"), "id");
    return loses && !by_id && !cli->json && !flags_has(flags, "--yes") &&
           !(yes && strcmp(yes, "1") == 0) && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* The first letter of the line that was typed. */
static bool says_yes(void) {
    char line[64] = "";
    if (!fgets(line, sizeof line, stdin))
        return false;
    const char *word = line + strspn(line, " \t");
    return *word == 'y' || *word == 'Y';
}

bool confirm(const struct cli *cli, const struct flags *flags, struct engine *engine,
             json_t *command, struct error *error) {
    struct command_run run = {.dry_run = true};
    if (!is_asked(cli, flags, command))
        return true;
    if (!engine_command(engine, command, &run, error))
        return false;
    if (run.touched < 2)
        return true;
    const char *verb = json_string_value(json_object_get(command, "verb"));
    fprintf(stderr, "%s %zu jobs of \"%s\"? [y/N] ", verb, run.touched, engine_path(engine));
    return says_yes() || error_set(error, ERROR_FAILED, "nothing is done (expected y, or --yes)");
}
