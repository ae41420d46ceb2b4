/* process_migrate.c - instances go on by another version of their process. */
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/verb/processes/process_act.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the plan ---- */

/* "A=B" -> { from, to }; NULL: it is none. */
static json_t *pair_of(const char *word, struct error *error) {
    const char *sign = strchr(word, '=');
    if (sign && sign > word && sign[1])
        return json_pack("{ss# ss}", "from", word, (int)(sign - word), "to", sign + 1);
    error_set(error, ERROR_USAGE, "\"%s\" (expected two activities, as in approve=check)", word);
    return NULL;
}

static bool pair_put(json_t *plan, const char *word, struct error *error) {
    json_t *pair = pair_of(word, error);
    json_t *list = json_object_get(plan, "activities");
    if (!list && json_object_set_new(plan, "activities", json_array()) == 0)
        list = json_object_get(plan, "activities");
    return pair && (json_array_append_new(list, pair) == 0 || error_no_memory(error));
}

/* The wait for the event of this activity begins anew; without a pair it keeps its name. */
static bool update_put(json_t *plan, const char *activity, struct error *error) {
    json_t *pair;
    size_t i;
    json_array_foreach(json_object_get(plan, "activities"), i, pair) {
        const char *from = json_text(pair, "from");
        if (from && strcmp(from, activity) == 0)
            return json_put(pair, "update", json_true()) || error_no_memory(error);
    }
    pair = json_pack("{ss ss sb}", "from", activity, "to", activity, "update", 1);
    json_t *list = json_object_get(plan, "activities");
    if (!list && json_object_set_new(plan, "activities", json_array()) == 0)
        list = json_object_get(plan, "activities");
    return json_array_append_new(list, pair) == 0 || error_no_memory(error);
}

static json_t *plan_begin(const struct flags *flags, struct error *error) {
    const char *path = flags_text(flags, "--plan");
    if (!path)
        return json_object();
    size_t size = 0;
    bool input = strcmp(path, "-") == 0;
    char *text = input ? file_read_open(STDIN_FILENO, &size) : file_read(path, &size);
    if (!text)
        error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
    json_t *plan = text ? json_read(text, size, input ? "standard input" : path, error) : NULL;
    free(text);
    if (plan && !json_is_object(plan)) {
        json_refuse(path, plan, "an object", error);
        json_decref(plan);
        return NULL;
    }
    return plan;
}

static bool number_put(json_t *plan, const char *name, const char *flag, const struct flags *flags,
                       struct error *error) {
    int64_t number = 0;
    return flags_integer(flags, flag, 1, INT64_MAX, &number, error) &&
           (!number || json_put(plan, name, json_integer(number)) || error_no_memory(error));
}

/* Without a pair of its own and without a file, it is that of equal activities. */
static bool equal_put(json_t *plan, const struct flags *flags, struct error *error) {
    bool bare = !json_object_get(plan, "activities") && !flags_text(flags, "--plan");
    return (!bare && !flags_has(flags, "--equal")) || json_put(plan, "equal", json_true()) ||
           error_no_memory(error);
}

static bool plan_fill(json_t *plan, const struct flags *flags, struct error *error) {
    const char *other = flags_text(flags, "--to-process");
    bool fine = number_put(plan, "from", "--from-version", flags, error) &&
                number_put(plan, "to", "--to", flags, error);
    for (int i = 0; fine && i < flags->word_count; i++)
        fine = !strchr(flags->words[i], '=') || pair_put(plan, flags->words[i], error);
    fine = fine && equal_put(plan, flags, error);
    for (size_t i = 0; fine && i < flags->count; i++)
        fine = strcmp(flags->given[i].name, "--update") != 0 ||
               update_put(plan, flags->given[i].value, error);
    if (fine && !json_object_get(plan, "to"))
        return error_set(error, ERROR_USAGE, "instance migrate: expected --to with a version");
    return fine && (!other || json_put_text(plan, "to_process", other) || error_no_memory(error));
}

/* ---- the verb ---- */

static bool migrate_one(struct cli *cli, const struct flags *flags, const char *word,
                        const json_t *plan, struct error *error) {
    int64_t id;
    if (!flags_number("id", word, 1, INT64_MAX, &id, error))
        return false;
    json_t *command = json_pack("{ss sI sO}", "kind", "migrate", "instance", (json_int_t)id, "plan",
                                json_unchanged(plan));
    if (command && !command_members(command, flags, error)) {
        json_decref(command);
        return false;
    }
    bool fine = command ? process_act(cli, flags, command, false, "instance ", " migrated", error)
                        : error_no_memory(error);
    setup_clear(cli); /* the next one opens the store anew */
    return fine;
}

/* What one instance refuses is told, and the others go on. */
static bool migrate_each(struct cli *cli, const struct flags *flags, const json_t *plan,
                         struct error *error) {
    int all = 0, left = 0;
    for (int i = 0; i < flags->word_count; i++)
        all += !strchr(flags->words[i], '=');
    for (int i = 0; i < flags->word_count; i++) {
        if (strchr(flags->words[i], '=') || migrate_one(cli, flags, flags->words[i], plan, error))
            continue;
        if (all == 1)
            return false;
        output_note("%s", error->text);
        *error = (struct error){0};
        left++;
    }
    if (!all)
        return error_set(error, ERROR_USAGE, "instance migrate: expected the id of an instance");
    return !left || error_set(error, ERROR_FAILED, "%d of %d instances %s", left, all,
                              flags_has(flags, "--dry-run") ? "do not fit" : "did not migrate");
}

static bool migrate_run(struct cli *cli, const struct flags *flags, struct error *error) {
    json_t *plan = plan_begin(flags, error);
    bool fine = plan && plan_fill(plan, flags, error) && migrate_each(cli, flags, plan, error);
    json_decref(plan);
    return fine;
}

static const struct flag migrate_flags[] = {
    {"--to", "N", "the number of the new version", FLAG_ONE},
    {"--from-version", "N", "only if it runs on this version", FLAG_ONE},
    {"--to-process", "KEY", "of another process", FLAG_ONE},
    {"--equal", NULL, "pair equal activities, too; so it is without any pair"},
    {"--update", "ACTIVITY", "begin the wait for its event anew, by the new process"},
    {"--plan", "FILE", "the plan as a JSON object; -: standard input", FLAG_ONE},
    {"--skip-listeners", NULL, "call no listeners", FLAG_MEMBER},
    {"--skip-mappings", NULL, "no inputs and outputs", FLAG_MEMBER},
    {"--dry-run", NULL, "say what it would do, change nothing", FLAG_MEMBER},
    WAY_FLAGS,
    {0},
};

const struct cli_command process_migrate_commands[] = {
    {"instance migrate",
     "ID … --to N [ACTIVITY=ACTIVITY …] [--equal] [--update ACTIVITY] [--dry-run]",
     "let instances go on by another version",
     "All of an instance moves, or nothing: each place needs a pair. A suspended one stays "
     "so.\n" ELSEWHERE,
     migrate_flags, 1, -1, false, false, migrate_run},
    {0},
};
