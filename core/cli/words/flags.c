#include "cli/words/flags.h"
#include "base/text.h"
#include "engine/engine.h"
#include "job/alias.h"
#include "job/settings.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The flags that every verb takes. */
static const struct flag common[] = {
    {"-C", "DIR", "the script folder (else MOONSHIFT_DIR, else the working directory)"},
    {"--store", "URL", "the store (else moonshift.lua's, else moonshift.db in the script folder)"},
    {"--json", NULL, "one JSON document instead of text"},
    {"--help", NULL, "this page"},
    {0},
};

/* Stands for every setting given as a flag. */
static const struct flag setting_flag = {"", "VALUE", ""};

static bool has_itself(const struct cli_command *command, const char *name) {
    for (const struct flag *own = command->flags; own && own->name; own++)
        if (strcmp(own->name, name) == 0)
            return true;
    return false;
}

/* "created_before" as "--created-before"; of "variables" each flag gives one. */
static const struct flag *flag_of(struct flag_walk *walk, const struct filter *filter) {
    bool one = strcmp(filter->value, "CONDITION") == 0;
    snprintf(walk->name, sizeof walk->name, "--%.*s", (int)strlen(filter->name) - one,
             filter->name);
    for (char *at = walk->name; *at; at++)
        *at = *at == '_' ? '-' : *at;
    walk->made = (struct flag){walk->name, filter->value, filter->help, FLAG_FILTER, 0};
    return &walk->made;
}

struct flag_walk flag_walk(const struct cli_command *command) {
    return (struct flag_walk){.command = command, .at = command->flags};
}

const struct flag *flag_next(struct flag_walk *walk) {
    for (; walk->filter && walk->filter->name; walk->filter++)
        if (walk->filter->value)
            return flag_of(walk, walk->filter++);
    if (!walk->common && (!walk->at || !walk->at->name)) {
        walk->common = true;
        walk->at = common;
    }
    const struct flag *flag = walk->at;
    walk->filter = NULL;
    if (!flag->name)
        return NULL;
    walk->at++;
    if (flag->form & FLAG_FILTERS)
        walk->filter = engine_ask_table(flag->kind)->filters;
    bool passed = walk->filter || (walk->common && has_itself(walk->command, flag->name));
    return passed ? flag_next(walk) : flag;
}

void flags_key(const char *flag, char *key, size_t room) {
    size_t size = 0;
    for (flag += 2; *flag && size + 1 < room; flag++)
        key[size++] = *flag == '-' ? '_' : *flag;
    key[size] = '\0';
}

/* "lock_time" == "--lock-time", with the dashes of the flag left out already. */
static bool setting_equals(const char *setting, const char *flag) {
    for (; *setting && *flag; setting++, flag++)
        if (*setting != (*flag == '-' ? '_' : *flag))
            return false;
    return *setting == *flag;
}

const char *flags_setting(const char *flag) {
    if (strncmp(flag, "--", 2) != 0)
        return NULL;
    for (const char *const *name = settings_names(); *name; name++)
        if (setting_equals(*name, flag + 2))
            return *name;
    return NULL;
}

static bool flag_find(const struct cli_command *command, const char *name, struct flag *found) {
    struct flag_walk walk = flag_walk(command);
    const struct flag *flag = flag_next(&walk);
    const char *wanted = strcmp(name, "-h") == 0 ? "--help" : name;
    while (flag && strcmp(flag->name, wanted) != 0)
        flag = flag_next(&walk);
    if (!flag && command->takes_settings && flags_setting(name))
        flag = &setting_flag;
    if (flag)
        *found = *flag;
    return flag != NULL;
}

/* The names that may have been meant, ended by NULL. */
struct names {
    char **list;
    size_t count;
};

/* Takes the name over. */
static void names_add(struct names *names, char *name) {
    char **list = realloc(names->list, (names->count + 2) * sizeof *list);
    if (!list || !name) {
        free(name);
        names->list = list ? list : names->list;
        return;
    }
    names->list = list;
    list[names->count++] = name;
    list[names->count] = NULL;
}

static char *setting_as_flag(const char *setting) {
    size_t size = strlen(setting);
    char *name = malloc(size + 3);
    if (!name)
        return NULL;
    memcpy(name, "--", 2);
    for (size_t i = 0; i <= size; i++)
        name[i + 2] = setting[i] == '_' ? '-' : setting[i];
    return name;
}

/* A flag named as another system names the setting. */
static bool foreign_flag(const char *name, struct error *error) {
    const char *here = alias_setting(name), *hint = alias_hint(name);
    char *flag = here && *here ? setting_as_flag(here) : NULL;
    if (hint)
        error_set(error, ERROR_USAGE, "unknown flag \"%s\" (here: %s)", name, hint);
    else if (flag)
        error_set(error, ERROR_USAGE, "unknown flag \"%s\" (here it is \"%s\")", name, flag);
    else if (here)
        error_set(error, ERROR_USAGE, "unknown flag \"%s\" (nothing here needs it)", name);
    free(flag);
    return here || hint;
}

/* The flag of the verb that other programs call so; NULL: there is none. */
static const char *flag_elsewhere(const struct cli_command *command, const char *name) {
    static const char *const names[][2] = {
        {"-o", "--json"},        {"--output", "--json"},
        {"--format", "--json"},  {"-f", "--follow"},
        {"--who", "--as"},       {"--user", "--as"},
        {"--assignee", "--as"},  {"--candidates", "--candidate"},
        {"--delay", "--in"},     {"-n", "--limit"},
        {"--status", "--state"}, {"--status", "--ended"},
        {"--state", "--ended"},
    };
    struct flag flag;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], name) == 0 && flag_find(command, names[i][1], &flag))
            return names[i][1];
    return NULL;
}

static bool unknown_flag(const struct cli_command *command, const char *name, struct error *error) {
    const char *here = flag_elsewhere(command, name);
    if (here)
        return error_set(error, ERROR_USAGE, "unknown flag \"%s\" (here: %s)", name, here);
    if (command->takes_settings && foreign_flag(name, error))
        return false;
    struct names names = {0};
    struct flag_walk walk = flag_walk(command);
    for (const struct flag *flag; (flag = flag_next(&walk));)
        names_add(&names, strdup(flag->name));
    for (const char *const *setting = settings_names(); command->takes_settings && *setting;
         setting++)
        names_add(&names, setting_as_flag(*setting));
    const char *meant = names.list ? suggest(name, (const char *const *)names.list) : NULL;
    if (meant)
        error_set(error, ERROR_USAGE, "unknown flag \"%s\" (did you mean \"%s\"?)", name, meant);
    else
        error_set(error, ERROR_USAGE, "unknown flag \"%s\" (see moonshift help %s)", name,
                  command->name);
    for (size_t i = 0; i < names.count; i++)
        free(names.list[i]);
    free(names.list);
    return false;
}

static bool word_add(struct flags *flags, const char *word, struct error *error) {
    const char **words = realloc(flags->words, (size_t)(flags->word_count + 1) * sizeof *words);
    if (!words)
        return error_no_memory(error);
    flags->words = words;
    words[flags->word_count++] = word;
    return true;
}

static bool given_add(struct flags *flags, const struct flag *flag, char *name, const char *value,
                      struct error *error) {
    struct flag_given *given = realloc(flags->given, (flags->count + 1) * sizeof *given);
    if (!given) {
        free(name);
        return error_no_memory(error);
    }
    flags->given = given;
    given = &given[flags->count++];
    *given = (struct flag_given){*flag, name, value, flags->word_count};
    given->flag.name = name;
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        flags->helps = true;
    return true;
}

/* "sqlite:jobs.db" and "/var/jobs.db" name a store, "shop" a folder. */
static bool is_store(const char *word) {
    size_t letters = strspn(word, "abcdefghijklmnopqrstuvwxyz"), size = strlen(word);
    return (letters > 0 && word[letters] == ':') ||
           (size > 3 && strcmp(word + size - 3, ".db") == 0);
}

/* Reads the flag at `*at`, and its value behind it; moves `*at` to the last word it took. */
static bool flag_read(struct flags *flags, int argc, char **argv, int *at, struct error *error) {
    const char *word = argv[*at], *equals = strchr(word, '=');
    char *name = equals ? strndup(word, (size_t)(equals - word)) : strdup(word);
    if (!name)
        return error_no_memory(error);
    struct flag flag = {0};
    const char *value = equals ? equals + 1 : NULL;
    bool fine = true;
    if (!flag_find(flags->command, name, &flag))
        fine = unknown_flag(flags->command, name, error);
    else if (!flag.value && equals)
        fine = error_set(error, ERROR_USAGE, "flag \"%s\" takes no value", name);
    else if (flag.value && !equals && flag.value[0] != '[') {
        if (*at + 1 >= argc)
            fine = error_set(error, ERROR_USAGE, "flag \"%s\" needs a value (expected %s)", name,
                             flag.value);
        else
            value = argv[++*at];
    } else if (flag.value && !equals && *at + 1 < argc && is_store(argv[*at + 1]))
        value = argv[++*at];
    if (fine)
        return given_add(flags, &flag, name, value, error);
    free(name);
    return false;
}

/* The door for every word: what stands behind it need not ask again. */
static bool words_are_text(int argc, char **argv, struct error *error) {
    for (int i = 0; i < argc; i++)
        if (!utf8_valid(argv[i], strlen(argv[i]), NULL)) {
            char *clean = utf8_clean(argv[i], strlen(argv[i]), 200);
            error_set(error, ERROR_USAGE, "\"%s\": not valid UTF-8", clean ? clean : "");
            free(clean);
            return false;
        }
    return true;
}

static bool is_flag(const char *word) {
    return word[0] == '-' && word[1] != '\0' && !isdigit((unsigned char)word[1]);
}

static bool words_check(const struct flags *flags, struct error *error) {
    const struct cli_command *command = flags->command;
    const char *blank = command->usage[0] ? " " : "";
    if (flags->helps)
        return true;
    if (flags->word_count < command->words_min)
        return error_set(error, ERROR_USAGE, "%s needs more (usage: moonshift %s%s%s)",
                         command->name, command->name, blank, command->usage);
    if (command->words_max >= 0 && flags->word_count > command->words_max)
        return error_set(error, ERROR_USAGE, "unexpected \"%s\" (usage: moonshift %s%s%s)",
                         flags->words[command->words_max], command->name, blank, command->usage);
    return true;
}

bool flags_parse(struct flags *flags, const struct cli_command *command, int argc, char **argv,
                 struct error *error) {
    *flags = (struct flags){.command = command};
    bool ended = false;
    if (!words_are_text(argc, argv, error))
        return false;
    for (int i = 0; i < argc; i++) {
        if (!ended && strcmp(argv[i], "--") == 0)
            ended = true;
        else if (!ended && is_flag(argv[i])) {
            if (!flag_read(flags, argc, argv, &i, error))
                return false;
        } else if (!word_add(flags, argv[i], error))
            return false;
    }
    return words_check(flags, error);
}

void flags_clear(struct flags *flags) {
    for (size_t i = 0; i < flags->count; i++)
        free((void *)flags->given[i].name);
    free(flags->given);
    free(flags->words);
    *flags = (struct flags){0};
}

static const struct flag_given *given_last(const struct flags *flags, const char *name) {
    for (size_t i = flags->count; i > 0; i--)
        if (strcmp(flags->given[i - 1].name, name) == 0)
            return &flags->given[i - 1];
    return NULL;
}

bool flags_has(const struct flags *flags, const char *name) {
    return given_last(flags, name) != NULL;
}

const char *flags_text(const struct flags *flags, const char *name) {
    const struct flag_given *given = given_last(flags, name);
    return given ? given->value : NULL;
}

bool flags_check_from(const struct flags *flags, struct error *error) {
    bool many = flags_has(flags, "--from");
    for (const struct flag *flag = flags->command->flags; flag->name; flag++)
        if ((flag->form & (many ? FLAG_ONE : FLAG_MANY)) && flags_has(flags, flag->name))
            return error_set(error, ERROR_USAGE, "%s %s with --from", flag->name,
                             many ? "does not go" : "goes");
    return true;
}

bool flags_number(const char *what, const char *text, int64_t min, int64_t max, int64_t *value,
                  struct error *error) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    bool whole = end != text && *end == '\0' && !isspace((unsigned char)text[0]);
    if (whole && errno == 0 && number >= min && number <= max) {
        *value = number;
        return true;
    }
    if (min == INT64_MIN && max == INT64_MAX)
        return error_set(error, ERROR_USAGE, "%s \"%s\": expected a 64-bit integer", what, text);
    if (max == INT64_MAX)
        return error_set(error, ERROR_USAGE, "%s \"%s\": expected an integer from %lld", what, text,
                         (long long)min);
    return error_set(error, ERROR_USAGE, "%s \"%s\": expected an integer from %lld to %lld", what,
                     text, (long long)min, (long long)max);
}

bool flags_integer(const struct flags *flags, const char *name, int64_t min, int64_t max,
                   int64_t *value, struct error *error) {
    const char *text = flags_text(flags, name);
    return !text || flags_number(name, text, min, max, value, error);
}

bool flags_boolean(const char *what, const char *text, bool *value, struct error *error) {
    *value = !text || strcmp(text, "true") == 0;
    if (*value || strcmp(text, "false") == 0)
        return true;
    return error_set(error, ERROR_USAGE, "%s \"%s\": expected true or false", what, text);
}
