#include "cli/verb/service/candidates.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/list.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "engine/batch.h"
#include "script/folder.h"
#include "time/span.h"
#include "time/zone.h"
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STORE_PATIENCE = 100 * 1000, ROWS_SHOWN = 100 }; /* µs; rows */

/* A command line up to the cursor, taken apart. */
struct typed {
    const struct cli_command *command; /* NULL: no verb yet */
    const char *first;                 /* the first word; NULL: none yet */
    const char *last;                  /* the last word that is no flag */
    int position;                      /* how many words stand behind the verb */
    struct flag flag;                  /* whose value stands at the cursor; no name: none */
    char name[64];                     /* of that flag */
    struct flag_given given[2];        /* -C and --store */
    int given_count;
    const char *stem; /* what is typed of the candidate, */
    const char *word; /* and the whole word, which goes on where the stem begins */
};

static void offer(const struct typed *typed, const char *value, const char *note) {
    if (value && strncmp(value, typed->stem, strlen(typed->stem)) == 0)
        output_add("%.*s%s\t%s\n", (int)(typed->stem - typed->word), typed->word, value,
                   note ? note : "");
}

/* ---- taking apart ---- */

static bool takes_value(const struct flag *flag) {
    return flag->value && flag->value[0] != '[';
}

/* Finds a flag of the verb, or one that every verb takes; a setting takes any value. */
static bool flag_meant(const struct typed *typed, const char *name, size_t size,
                       struct flag *found) {
    static const struct cli_command none = {.name = ""};
    struct flag_walk walk = flag_walk(typed->command ? typed->command : &none);
    for (const struct flag *flag; (flag = flag_next(&walk));)
        if (strlen(flag->name) == size && strncmp(flag->name, name, size) == 0) {
            *found = *flag;
            return true;
        }
    return false;
}

/* The flag that waits for its value now. */
static void flag_await(struct typed *typed, const char *name, size_t size) {
    struct flag flag;
    snprintf(typed->name, sizeof typed->name, "%.*s", (int)size, name);
    if (!flag_meant(typed, name, size, &flag)) {
        if (!typed->command || !typed->command->takes_settings || !flags_setting(typed->name))
            return;
        flag = (struct flag){.value = "VALUE", .help = ""};
    }
    flag.name = typed->name;
    if (takes_value(&flag))
        typed->flag = flag;
}

static void value_take(struct typed *typed, const char *value) {
    bool place = strcmp(typed->name, "-C") == 0 || strcmp(typed->name, "--store") == 0;
    if (place && typed->given_count < 2)
        typed->given[typed->given_count++] =
            (struct flag_given){.name = typed->name[1] == 'C' ? "-C" : "--store", .value = value};
    typed->flag = (struct flag){0};
}

/* A word that is no flag: of the verb, or behind it. */
static void word_take(struct typed *typed, const char *word) {
    int words;
    const struct cli_command *longer =
        typed->first && !typed->position ? verb_find(typed->first, word, &words) : NULL;
    typed->last = word;
    if (!typed->first) {
        typed->first = word;
        typed->command = verb_find(word, NULL, &words);
    } else if (longer && words == 2)
        typed->command = longer;
    else
        typed->position++;
}

static void word_read(struct typed *typed, const char *word) {
    const char *equals = word[0] == '-' ? strchr(word, '=') : NULL;
    if (strcmp(word, "=") == 0) /* bash cuts a word there */
        return;
    if (typed->flag.name)
        value_take(typed, word);
    else if (word[0] != '-' || !word[1])
        word_take(typed, word);
    else {
        flag_await(typed, word, equals ? (size_t)(equals - word) : strlen(word));
        if (equals)
            value_take(typed, equals + 1);
    }
}

/* The word at the cursor: behind `--flag=`, and of a list behind its last comma. */
static void cursor_read(struct typed *typed, const char *word) {
    const char *equals = word[0] == '-' ? strchr(word, '=') : NULL;
    typed->word = typed->stem = strcmp(word, "=") == 0 ? "" : word;
    if (equals && !typed->flag.name) {
        flag_await(typed, word, (size_t)(equals - word));
        typed->stem = equals + 1;
    }
    const char *value = typed->flag.name ? typed->flag.value : "";
    const char *comma = strstr(value, "…") ? strrchr(typed->stem, ',') : NULL;
    if (comma)
        typed->stem = comma + 1;
}

/* ---- words of the program ---- */

typedef void command_visit(const struct typed *typed, const struct cli_command *command);

static void each_command(command_visit *visit, const struct typed *typed) {
    for (const struct cli_command *const *group = verb_groups; *group; group++)
        for (const struct cli_command *command = *group; command->name; command++)
            visit(typed, command);
}

/* The first command of those that begin with the same word. */
static const struct cli_command *first_of(const struct cli_command *wanted) {
    size_t size = strcspn(wanted->name, " ");
    for (const struct cli_command *const *group = verb_groups; *group; group++)
        for (const struct cli_command *command = *group; command->name; command++)
            if (strncmp(command->name, wanted->name, size) == 0 && strchr(" ", command->name[size]))
                return command;
    return wanted;
}

static void first_offer(const struct typed *typed, const struct cli_command *command) {
    char word[64];
    size_t size = strcspn(command->name, " ");
    snprintf(word, sizeof word, "%.*s", (int)size, command->name);
    if (first_of(command) == command)
        offer(typed, word, command->name[size] ? "a group of verbs" : command->summary);
}

/* Of the verbs that begin with the last word. */
static void second_offer(const struct typed *typed, const struct cli_command *command) {
    size_t size = strlen(typed->last);
    if (strncmp(command->name, typed->last, size) == 0 && command->name[size] == ' ')
        offer(typed, command->name + size + 1, command->summary);
}

static void flags_offer(const struct typed *typed) {
    static const struct cli_command none = {.name = ""};
    const struct cli_command *command = typed->command ? typed->command : &none;
    struct flag_walk walk = flag_walk(command);
    for (const struct flag *flag; (flag = flag_next(&walk));)
        offer(typed, flag->name, flag->help);
    if (!typed->first)
        offer(typed, "--version", "the program's version");
    for (const char *const *name = settings_names(); command->takes_settings && *name; name++) {
        char word[64];
        snprintf(word, sizeof word, "--%s", *name);
        for (char *at = word; *at; at++)
            *at = *at == '_' ? '-' : *at;
        offer(typed, word, "a setting");
    }
}

static bool is_word(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '-' && text[i] != '_')
            return false;
    return size > 0;
}

/* The size of the next word of a list such as "error, warn or debug"; *end: behind its joint. */
static size_t listed_word(const char *text, const char **end) {
    size_t size = strcspn(text, ", ;");
    *end = text + size;
    if (strncmp(*end, ", ", 2) == 0)
        *end += 2;
    else if (strncmp(*end, " or ", 4) == 0)
        *end += 4;
    else if (**end != ';' && **end)
        return 0;
    return is_word(text, size) ? size : 0;
}

/* A help that begins with a list of words names the values; other helps name none. */
static void listed_offer(const struct typed *typed, const char *help) {
    const char *next;
    size_t count = 0;
    for (const char *at = help; *at && *at != ';'; at = next, count++)
        if (!listed_word(at, &next))
            return;
    for (const char *at = help; count > 1 && *at && *at != ';'; at = next) {
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)listed_word(at, &next), at);
        offer(typed, word, NULL);
    }
}

/* A setting that takes certain words alone names them as it refuses another one. */
static void setting_offer(const struct typed *typed, const char *name) {
    struct settings settings;
    struct error error = {0};
    bool taken = !settings_init(&settings, &error) ||
                 settings_apply_text(&settings, ORIGIN_FLAG, flags_setting(name), "?", &error);
    char *expected = taken ? NULL : strstr(error.text, "expected ");
    size_t size = 0;
    for (char *at = expected; at && *at; at++)
        if (*at != '"')
            expected[size++] = *at;
    if (expected) {
        expected[size] = '\0';
        listed_offer(typed, expected + strlen("expected "));
    }
    settings_clear(&settings);
}

static void columns_offer(const struct typed *typed, bool sorted) {
    const struct listing *listing = typed->command ? typed->command->listing : NULL;
    const struct ask_column *column = listing ? engine_ask_table(listing->kind)->columns : NULL;
    for (; column && column->name; column++)
        if (!sorted || column->use == ASK_SORT || column->use == ASK_BOTH)
            offer(typed, column->name, NULL);
}

static void zone_offer(const char *name, void *arg) {
    offer(arg, name, NULL);
}

/* ---- values of the store ---- */

/* Where values come from: a column of a list, with another one as what it means; and the files of
 * the folder that have such names. */
struct source {
    const char *word; /* a flag, or the first word of a verb */
    enum ask_kind kind;
    const char *column, *note, *files;
};

static const struct source flag_sources[] = {
    {"--handler", ASK_DEFINITIONS, "name", NULL, "handlers/"},
    {"--definition", ASK_DEFINITIONS, "name", NULL, "handlers/"},
    {"--on-complete", ASK_DEFINITIONS, "name", NULL, "handlers/"},
    {"--process", ASK_PROCESSES, "key", "path", NULL},
    {"--schedule", ASK_SCHEDULES, "name", "cycle", "schedules/"},
    {"--executor", ASK_EXECUTORS, "name", NULL, NULL},
    {"--owner", ASK_EXECUTORS, "name", NULL, NULL},
    {"--job", ASK_JOBS, "id", "handler", NULL},
    {"--batch", ASK_BATCHES, "id", "type", NULL},
    {"--deployment", ASK_DEPLOYMENTS, "id", "name", NULL},
    {"--instance", ASK_PROCESS_INSTANCES, "id", "process", NULL},
    {"--cause", ASK_INCIDENTS, "id", "message", NULL},
    {"--tenant", ASK_JOBS, "tenant", NULL, NULL},
    {"--category", ASK_JOBS, "category", NULL, NULL},
    {"--lane", ASK_JOBS, "lane", NULL, NULL},
    {"--activity", ASK_JOBS, "activity", NULL, NULL},
    {"--root", ASK_JOBS, "root", NULL, NULL},
    {"--as", ASK_TASKS, "assignee", NULL, NULL},
    {"--assignee", ASK_TASKS, "assignee", NULL, NULL},
    {"--candidate", ASK_TASKS, "candidates", "kind", NULL},
    {"--who", ASK_OPERATIONS, "who", NULL, NULL},
    {"--verb", ASK_OPERATIONS, "verb", NULL, NULL},
    {0},
};

/* By a whole verb, or by its first word. */
static const struct source verb_sources[] = {
    {"deployment rename", ASK_DEPLOYMENTS, "name", NULL, NULL},
    {"token revoke", ASK_TOKENS, "name", "scopes", NULL},
    {"enqueue", ASK_DEFINITIONS, "name", NULL, "handlers/"},
    {"definition", ASK_DEFINITIONS, "name", NULL, "handlers/"},
    {"process", ASK_PROCESSES, "key", "path", NULL},
    {"schedule", ASK_SCHEDULES, "name", "cycle", "schedules/"},
    {"executor", ASK_EXECUTORS, "name", "state", NULL},
    {"job", ASK_JOBS, "id", "handler", NULL},
    {"history", ASK_LOG, "job", "handler", NULL},
    {"batch", ASK_BATCHES, "id", "type", NULL},
    {"deployment", ASK_DEPLOYMENTS, "id", "name", NULL},
    {"instance", ASK_PROCESS_INSTANCES, "id", "process", NULL},
    {"incident", ASK_INCIDENTS, "id", "message", NULL},
    {"task", ASK_TASKS, "id", "name", NULL},
    {"message", ASK_SUBSCRIPTIONS, "name", "process", NULL},
    {"signal", ASK_SUBSCRIPTIONS, "name", "process", NULL},
    {0},
};

static const struct source *source_of(const struct source *sources, const char *word) {
    while (sources->word && strcmp(sources->word, word) != 0)
        sources++;
    return sources->word ? sources : NULL;
}

static const struct source *verb_source(const struct typed *typed) {
    const struct source *whole =
        typed->command ? source_of(verb_sources, typed->command->name) : NULL;
    return whole ? whole : source_of(verb_sources, typed->first);
}

/* The names of the folder's own files below `root`. */
static void files_offer(const struct typed *typed, const struct folder *folder, const char *root) {
    size_t size = strlen(root);
    for (size_t i = 0; folder && i < folder->count; i++) {
        const struct folder_file *file = &folder->files[i];
        char name[256];
        if (file->stock || strncmp(file->path, root, size) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(strlen(file->path) - size - strlen(".lua")),
                 file->path + size);
        offer(typed, name, file->path);
    }
}

static bool is_file(const struct folder *folder, const char *root, const char *name) {
    char path[600];
    snprintf(path, sizeof path, "%s%s.lua", root, name);
    const struct folder_file *file = folder ? folder_find(folder, path) : NULL;
    return file && !file->stock;
}

/* A handler of the program's that nobody enqueues by hand. */
static bool is_inner(const char *name) {
    return job_reserved(name) || strncmp(name, "batch/", 6) == 0;
}

/* Neither revoked nor expired. */
static bool token_counts(const json_t *token) {
    time_ms until = TIME_NEVER;
    struct error ignored = {0};
    const char *expires = json_text(token, "expires");
    return !json_text(token, "revoked") && (!expires || (time_parse(expires, &until, &ignored) &&
                                                         until > clock_now(clock_system())));
}

static bool is_wanted(const struct source *source, const json_t *row, const char *value) {
    if (source->kind == ASK_TOKENS)
        return token_counts(row);
    return strcmp(source->word, "enqueue") != 0 || !value || !is_inner(value);
}

static void row_offer(const struct typed *typed, const struct folder *folder,
                      const struct source *source, const json_t *row) {
    char *value = output_value(json_object_get(row, source->column), false);
    char *note = source->note ? output_value(json_object_get(row, source->note), false) : NULL;
    bool offered = source->files && value && is_file(folder, source->files, value);
    if (!offered && is_wanted(source, row, value))
        offer(typed, value, note);
    free(value);
    free(note);
}

/* Another row above has the same value. */
static bool is_again(const json_t *rows, size_t at, const char *column) {
    const json_t *value = json_object_get(json_array_get(rows, at), column);
    size_t i = 0;
    while (i < at && !json_equal(value, json_object_get(json_array_get(rows, i), column)))
        i++;
    return i < at || json_is_null(value);
}

/* A row for each user and group of the candidates of these tasks, which it takes over. */
static json_t *candidates_apart(json_t *tasks) {
    static const char *const kinds[][2] = {{"users", "a user"}, {"groups", "a group"}};
    json_t *rows = json_array(), *task, *name;
    size_t i, j;
    for (int kind = 0; kind < 2; kind++)
        json_array_foreach(tasks, i, task) {
            const json_t *candidates = json_object_get(task, "candidates");
            json_array_foreach(json_object_get(candidates, kinds[kind][0]), j, name) {
                json_array_append_new(
                    rows, json_pack("{sO ss}", "candidates", name, "kind", kinds[kind][1]));
            }
        }
    json_decref(tasks);
    return rows;
}

/* True if its rows are sorted by ids, which grow. */
static bool is_numbered(const struct ask_column *column) {
    while (column->name && strcmp(column->name, "id") != 0)
        column++;
    return column->name && (column->use == ASK_SORT || column->use == ASK_BOTH);
}

/* The newest rows; of a kind that is all answered, all. */
static void rows_offer(const struct typed *typed, struct engine *engine,
                       const struct folder *folder, const struct source *source) {
    struct error ignored = {0};
    const struct ask_table *table = engine_ask_table(source->kind);
    bool paged = table->filters, number = !source->files && is_numbered(table->columns);
    json_t *question = paged ? json_pack("{si}", "limit", (int)ROWS_SHOWN) : json_object();
    if (number && paged)
        json_object_update_new(question, json_pack("{ss sb}", "sort", "id", "descending", 1));
    json_t *rows = engine_ask_of(engine, source->kind, question, &ignored), *row;
    size_t i;
    if (strcmp(source->column, "candidates") == 0)
        rows = candidates_apart(rows);
    json_array_foreach(rows, i, row) {
        if (!is_again(rows, i, source->column))
            row_offer(typed, folder, source, row);
    }
    json_decref(rows);
}

static void time_is_up(int signal) {
    (void)signal;
    _exit(0);
}

/* What is offered by now is seen, should the store not answer in time. */
static void patience_begin(void) {
    fflush(stdout);
    signal(SIGALRM, time_is_up);
    ualarm(STORE_PATIENCE, 0);
}

/* The folder and the settings of what is typed; setup_clear follows in any case. */
static bool place_read(const struct typed *typed, struct cli *cli) {
    static const struct cli_command none = {.name = ""};
    struct error ignored = {0};
    struct flags flags = {.command = &none,
                          .given = (struct flag_given *)typed->given,
                          .count = (size_t)typed->given_count};
    return setup_settings(cli, &flags, &ignored);
}

/* Types of batches: the folder's own, and the stock ones. */
static void types_offer(const struct typed *typed) {
    const char *names[BATCH_TYPES_MAX + 1];
    struct cli cli = {0};
    place_read(typed, &cli);
    files_offer(typed, cli.folder, "batches/");
    batch_stock_types(names);
    for (size_t i = 0; names[i]; i++)
        offer(typed, names[i], "a stock type");
    setup_clear(&cli);
}

static void source_offer(const struct typed *typed, const struct source *source) {
    struct cli cli = {0};
    struct error ignored = {0};
    bool fine = place_read(typed, &cli);
    if (source->files)
        files_offer(typed, cli.folder, source->files);
    patience_begin();
    struct engine *engine = fine ? setup_open(&cli, STORE_READ, false, &ignored) : NULL;
    if (engine)
        rows_offer(typed, engine, cli.folder, source);
    engine_close(engine);
    setup_clear(&cli);
}

/* ---- at the cursor ---- */

/* A value of a flag. */
static void value_offer(struct typed *typed) {
    const struct flag *flag = &typed->flag;
    const struct source *source = source_of(flag_sources, flag->name);
    if (strcmp(flag->name, "--columns") == 0 || strcmp(flag->name, "--sort") == 0)
        columns_offer(typed, flag->name[2] == 's');
    else if (strstr(flag->name, "zone"))
        zone_each(zone_offer, typed);
    else if (source)
        source_offer(typed, source);
    else if (strcmp(flag->name, "--id") == 0 && (source = verb_source(typed)))
        source_offer(typed, source);
    else if (islower((unsigned char)flag->value[0]))
        offer(typed, flag->value, NULL);
    else if (!flag->help[0])
        setting_offer(typed, flag->name);
    else
        listed_offer(typed, flag->help);
}

/* The word of a usage at this place: "ID…|FILTERS"; one with an ellipsis stands for all behind it.
 */
static const char *usage_word(const char *usage, int position) {
    for (; *usage; usage += strcspn(usage, " "), usage += strspn(usage, " ")) {
        size_t size = strcspn(usage, " ");
        if (strncmp(usage, "[--", 3) == 0 || usage[0] == '-' || usage[0] == '|')
            return NULL;
        const char *more = strstr(usage, "…");
        if (position-- == 0 || (more && more < usage + size))
            return usage + (usage[0] == '[');
    }
    return NULL;
}

/* A word behind the verb: what has such ids or names, and what the usage spells out. */
static void argument_offer(struct typed *typed) {
    static const char *const names[] = {"ID", "NAME", "KEY", "HANDLER", "OLD", NULL};
    const char *usage = usage_word(typed->command->usage, typed->position);
    const struct source *source = verb_source(typed);
    bool asks = false;
    for (size_t size; usage && *usage && *usage != ' '; usage += size) {
        char word[64];
        size = strcspn(usage, "|… ]");
        snprintf(word, sizeof word, "%.*s", (int)size, usage);
        asks = asks || is_one_of(word, names);
        if (strcmp(word, "TYPE") == 0)
            types_offer(typed);
        if (islower((unsigned char)word[0]) && is_word(word, strlen(word)))
            offer(typed, word, NULL);
        size += size == 0 ? strcspn(usage + 1, "|… ]") + 1 : strspn(usage + size, "|…]");
    }
    if (asks && source)
        source_offer(typed, source);
}

static void cursor_offer(struct typed *typed) {
    bool helps = typed->first && strcmp(typed->first, "help") == 0;
    if (typed->flag.name)
        value_offer(typed);
    else if (typed->word[0] == '-')
        flags_offer(typed);
    else if (!typed->first || (helps && typed->position == 0))
        each_command(first_offer, typed);
    else if (!typed->command || helps)
        each_command(second_offer, typed);
    else
        argument_offer(typed);
}

void candidates_print(const char *const *words, int count) {
    struct typed typed = {0};
    for (int i = 0; i + 1 < count; i++)
        word_read(&typed, words[i]);
    cursor_read(&typed, count > 0 ? words[count - 1] : "");
    cursor_offer(&typed);
}
