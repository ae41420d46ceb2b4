/* definition.c - definitions: what is declared, how many jobs each has, and what an operator does
 * to all of them at once (rules §11, §12). */
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/list.h"
#include "cli/operate.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/shown/table.h"

static const struct flag list_flags[] = {
    LIST_PAGE_FLAGS,
    FILTERS_OF(ASK_DEFINITIONS),
    {0},
};

/* { ready = 3, dead = 1, … } as "3 ready, 1 dead". */
static bool counts_write(json_t *row) {
    struct text text = {0};
    const char *state;
    json_t *count;
    json_object_foreach(json_object_get(row, "counts"), state, count) {
        if (json_integer_value(count) > 0)
            text_add(&text, "%s%lld %s", text.size ? ", " : "",
                     (long long)json_integer_value(count), state);
    }
    bool fine = !text.failed && json_put_text(row, "counts", text.data);
    text_clear(&text);
    return fine;
}

/* The folder's own come first, unless another order is asked for. */
static bool rows_write(const struct cli *cli, const struct list *list, json_t *rows,
                       struct error *error) {
    for (size_t i = 0; !cli->json && i < json_array_size(rows); i++)
        if (!counts_write(json_array_get(rows, i)))
            return error_no_memory(error);
    return json_object_get(list->question, "sort") ||
           list_own_first(rows, (size_t)list->limit, error);
}

static const struct listing listing = {ASK_DEFINITIONS, "definitions", .write = rows_write};

static bool definition_show_run(struct cli *cli, const struct flags *flags, struct error *error) {
    json_t *question = json_pack("{s{ss},si}", "filters", "name", flags->words[0], "limit", 1);
    json_t *rows = setup_ask(cli, flags, ASK_DEFINITIONS, question, error);
    json_t *definition = json_incref(json_array_get(rows, 0));
    if (rows && !definition)
        error_set(error, ERROR_NOT_FOUND, "unknown definition \"%s\"", flags->words[0]);
    json_decref(rows);
    bool fine = !definition || cli->json || counts_write(definition) || error_no_memory(error);
    return output_object(cli->json, json_kept(definition, fine), error);
}

/* ---- verbs ---- */

static const struct flag priority_flags[] = {
    {"--cascade", NULL, "also of the jobs there are; running ones are not disturbed"},
    {"--clear", NULL, "later jobs get the definition's own priority again"},
    COMMAND_FLAGS,
    {0},
};

static const struct flag suspension_flags[] = {
    {"--include-jobs", NULL, "also the jobs there are", FLAG_MEMBER},
    {"--at", "TIME", "then, not now", FLAG_MEMBER},
    COMMAND_FLAGS,
    {0},
};

static const struct flag retries_flags[] = {
    {"--due", "TIME", "not before this instant; none: at once", FLAG_MEMBER},
    COMMAND_FLAGS,
    {0},
};

static json_t *command_new(const struct flags *flags, const char *verb) {
    return json_pack("{ss,ss}", "verb", verb, "definition", flags->words[0]);
}

static bool priority_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t priority = 0;
    bool clear = flags_has(flags, "--clear"), given = flags->word_count > 1;
    bool cascade = flags_has(flags, "--cascade");
    if (clear == given || (clear && cascade))
        return error_set(error, ERROR_USAGE,
                         "definition priority: expected either N, perhaps with --cascade, or "
                         "--clear");
    if (given && !flags_number("priority", flags->words[1], INT64_MIN, INT64_MAX, &priority, error))
        return false;
    json_t *command = command_new(flags, clear ? "clear_override" : "override_priority");
    if (command && !clear) {
        json_put(command, "priority", json_integer(priority));
        json_put(command, "cascade", json_boolean(cascade));
    }
    return give_command(cli, flags, command, "changed", error);
}

const struct cli_command definition_commands[] = {
    {"definition list", "[--suspended] [--overridden] …", "list definitions and their jobs", "",
     list_flags, 0, 0, false, false, list_run, &listing},
    {"definition show", "NAME", "show one definition", "", NULL, 1, 1, false, false,
     definition_show_run},
    {"definition priority", "NAME N [--cascade] | NAME --clear",
     "override the priority of its jobs",
     "Goes before the definition's own, for jobs created from now on.", priority_flags, 1, 2, false,
     false, priority_run},
    {"definition suspend", "NAME [--include-jobs] [--at TIME]", "create its jobs suspended", "",
     suspension_flags, 1, 1, false, false, operate_run},
    {"definition activate", "NAME [--include-jobs] [--at TIME]", "end its suspension", "",
     suspension_flags, 1, 1, false, false, operate_run},
    {"definition retries", "NAME N [--due TIME]", "give its dead jobs runs again",
     "Only jobs without retries are touched; their incidents are resolved.", retries_flags, 2, 2,
     false, false, operate_run},
    {0},
};
