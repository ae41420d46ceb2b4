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

static const struct flag list_flags[] = {LIST_PAGE_FLAGS, FILTERS_OF(ASK_DEFINITIONS), {0}};

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

static const struct flag limit_flags[] = {
    {"--cluster", NULL, "counted over all executors together"},
    {"--clear", NULL, "its own limit holds again"},
    COMMAND_FLAGS,
    {0},
};

static const struct flag rate_flags[] = {
    {"--clear", NULL, "its own rate holds again"},
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

/* "5", perhaps with --cluster, or "none". NULL: refused. */
static json_t *limit_value(const struct flags *flags, struct error *error) {
    const char *word = flags->words[1];
    int64_t limit = 0;
    bool none = strcmp(word, "none") == 0, cluster = flags_has(flags, "--cluster");
    if (none && !cluster)
        return json_string(word);
    if (none || !flags_number("limit", word, 1, INT32_MAX, &limit, NULL)) {
        error_set(
            error, ERROR_USAGE,
            "definition limit: got \"%.40s\" (expected a whole number from 1, or none without "
            "--cluster; none may start while it is suspended: definition suspend)",
            word);
        return NULL;
    }
    return cluster ? json_pack("{sI}", "cluster", (json_int_t)limit) : json_integer(limit);
}

/* NAME VALUE or NAME --clear. */
static bool override_run(struct cli *cli, const struct flags *flags, const char *key,
                         struct error *error) {
    bool clear = flags_has(flags, "--clear"), limit = strcmp(key, "limit") == 0;
    char verb[32];
    if (clear == (flags->word_count > 1) || (clear && limit && flags_has(flags, "--cluster")))
        return error_set(error, ERROR_USAGE, "%s: expected either %s, or --clear",
                         flags->command->name,
                         limit ? "N, perhaps with --cluster" : "a rate such as 10/1m");
    json_t *value = NULL;
    if (!clear)
        value = limit ? limit_value(flags, error) : json_string(flags->words[1]);
    if (!clear && !value)
        return !error->code && error_no_memory(error);
    snprintf(verb, sizeof verb, "%s_%s", clear ? "clear" : "override", key);
    json_t *command = command_new(flags, verb);
    if (command && value)
        json_put(command, key, value);
    return give_command(cli, flags, command, "changed", error);
}

static bool limit_run(struct cli *cli, const struct flags *flags, struct error *error) {
    return override_run(cli, flags, "limit", error);
}

static bool rate_run(struct cli *cli, const struct flags *flags, struct error *error) {
    return override_run(cli, flags, "rate", error);
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
    {"definition limit", "NAME N|none [--cluster] | NAME --clear", "override how many run at once",
     "Goes before the definition's own limit, at once and after each reload. A plain number counts "
     "as the own limit does.",
     limit_flags, 1, 2, false, false, limit_run},
    {"definition rate", "NAME N/SPAN|none | NAME --clear", "override how many start in a time",
     "Goes before the definition's own rate, at once and after each reload.", rate_flags, 1, 2,
     false, false, rate_run},
    {"definition suspend", "NAME [--include-jobs] [--at TIME]", "create its jobs suspended", "",
     suspension_flags, 1, 1, false, false, operate_run},
    {"definition activate", "NAME [--include-jobs] [--at TIME]", "end its suspension", "",
     suspension_flags, 1, 1, false, false, operate_run},
    {"definition retries", "NAME N [--due TIME]", "give its dead jobs runs again",
     "Only jobs without retries are touched; their incidents are resolved.", retries_flags, 2, 2,
     false, false, operate_run},
    {0},
};
