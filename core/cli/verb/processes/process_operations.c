#include "cli/verb/processes/process_operations.h"
#include "base/json.h"
#include "cli/shown/output.h"
#include "cli/words/pair.h"
#include <string.h>

/* The member of the table that a flag is; NULL: it begins no operation. */
static const char *operation_of(const struct flag_given *given) {
    static const char *const names[][2] = {
        {"--start-before", "start_before"}, {"--start-after", "start_after"},
        {"--start-flow", "start_flow"},     {"--cancel", "cancel"},
        {"--before", "start_before"},       {"--after", "start_after"},
        {"--flow", "start_flow"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(given->name, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

int process_operations_words(const struct flags *flags) {
    for (size_t i = 0; i < flags->count; i++)
        if (operation_of(&flags->given[i]))
            return flags->given[i].words;
    return flags->word_count;
}

static bool variable_put(json_t *operation, const char *word, struct error *error) {
    struct pair pair;
    json_t *variables = json_object_get(operation, "variables");
    if (!variables && json_put(operation, "variables", json_object()))
        variables = json_object_get(operation, "variables");
    bool fine = pair_read(&pair, word, "variable", "name=value", error) &&
                (json_object_set(variables, pair.name, pair.value) == 0 || error_no_memory(error));
    if (fine && pair.broken)
        output_note(PAIR_BROKEN, pair.name);
    pair_clear(&pair);
    return fine;
}

/* Adds a flag to the operations, with the words from here to the next flag. */
static bool flag_put(json_t *list, const struct flag_given *given, struct error *error) {
    const char *kind = operation_of(given);
    json_t *last = json_array_get(list, json_array_size(list) - 1);
    if (kind)
        return json_array_append_new(list, json_pack("{ss}", kind, given->value)) == 0 ||
               error_no_memory(error);
    if (strcmp(given->name, "--in") != 0 && strcmp(given->name, "--local") != 0)
        return true;
    if (!last)
        return error_set(error, ERROR_USAGE, "%s: expected an operation before it", given->name);
    return json_put(last, given->name + 2,
                    given->value ? json_string(given->value) : json_true()) ||
           error_no_memory(error);
}

static bool list_read(json_t *list, const struct flags *flags, struct error *error) {
    bool fine = true;
    for (size_t i = 0; fine && i < flags->count; i++) {
        int last = i + 1 < flags->count ? flags->given[i + 1].words : flags->word_count;
        fine = flag_put(list, &flags->given[i], error);
        json_t *operation = json_array_get(list, json_array_size(list) - 1);
        for (int word = flags->given[i].words; fine && operation && word < last; word++)
            fine = variable_put(operation, flags->words[word], error);
    }
    return fine;
}

bool process_operations_put(json_t *command, const struct flags *flags, struct error *error) {
    json_t *list = json_array();
    bool fine = (list || error_no_memory(error)) && list_read(list, flags, error) &&
                (json_array_size(list) == 0 || json_object_set(command, "operations", list) == 0 ||
                 error_no_memory(error));
    json_decref(list);
    return fine;
}

/* "; starts sub, pack" */
static void names_say(const char *before, const json_t *names) {
    json_t *name;
    size_t i;
    json_array_foreach(names, i, name) {
        output_add("%s%s", i ? ", " : before, json_string_value(name));
    }
}

static void migration_say(const json_t *told) {
    json_t *one;
    size_t i;
    json_array_foreach(json_object_get(told, "pairs"), i, one) {
        output_add("%s%s=%s%s", i ? ", " : "plan: ", json_text(one, "from"), json_text(one, "to"),
                   json_is_true(json_object_get(one, "update")) ? "!" : "");
    }
    output_add("%s", json_array_size(json_object_get(told, "pairs")) ? "\n" : "");
    json_array_foreach(json_object_get(told, "moves"), i, one) {
        output_add("%s would become %s\n", json_text(one, "from"), json_text(one, "to"));
    }
    json_array_foreach(json_object_get(told, "ends"), i, one) {
        output_add("%s would end\n", json_string_value(one));
    }
    json_array_foreach(json_object_get(told, "begins"), i, one) {
        output_add("%s would be made\n", json_string_value(one));
    }
}

/* What would end is told by instance, what operations would do by their numbers. */
void process_operations_say(const json_t *told) {
    json_t *one;
    size_t i;
    if (json_is_object(told))
        migration_say(told);
    json_array_foreach(told, i, one) {
        const json_t *cancels = json_object_get(one, "cancels"),
                     *begins = json_object_get(one, "begins");
        bool idle = json_array_size(cancels) + json_array_size(begins) == 0;
        int64_t instance = json_int(one, "instance");
        if (instance)
            output_add("instance %lld would ", (long long)instance);
        else
            output_add("operation %zu would %s", i + 1, idle ? "do nothing" : "");
        names_say("cancel ", cancels);
        names_say(json_array_size(cancels) ? " and start " : "start ", begins);
        output_add("\n");
    }
}
