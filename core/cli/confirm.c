#include "cli/confirm.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_asked(const struct cli *cli, const struct flags *flags, const json_t *order) {
    const char *verb = json_string_value(json_object_get(order, "verb"));
    const char *yes = getenv("MOONSHIFT_YES");
    bool loses = verb && (strcmp(verb, "delete") == 0 || strcmp(verb, "cancel") == 0);
    bool by_id =
        json_object_get(order, "ids") || json_object_get(json_object_get(order, "query"), "id");
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
             const json_t *order, struct error *error) {
    size_t count = 0;
    if (!is_asked(cli, flags, order))
        return true;
    if (!store_preview(engine_store(engine), order, &count, clock_now(clock_system()), error))
        return false;
    if (count < 2)
        return true;
    const char *verb = json_string_value(json_object_get(order, "verb"));
    fprintf(stderr, "%s %zu jobs of \"%s\"? [y/N] ", verb, count, store_path(engine_store(engine)));
    return says_yes() || error_set(error, ERROR_FAILED, "nothing is done (expected y, or --yes)");
}
