#include "cli/list.h"
#include "cli/output.h"
#include "cli/setup.h"
#include "cli/table.h"
#include <poll.h>
#include <stdlib.h>

#define LOOK_EVERY 200 /* ms */

static const struct flag log_flags[] = {
    LIST_FLAGS("at or job; the newest come first unless told"),
    {"--follow", NULL, "go on with what is new, until Ctrl-C"},
    {"--job", "ID,…", "of these jobs"},
    {"--handler", "NAME,…", "of these handlers"},
    {"--definition", "NAME,…", "of these definitions, by name or id"},
    {"--batch", "ID,…", "of these batches"},
    {"--outcome", "NAME,…", "created, successful, failed, snoozed, deleted, cancelled"},
    {"--after", "TIME", "from this instant on"},
    {"--before", "TIME", "before this instant"},
    {0},
};

static const struct flag operation_flags[] = {
    LIST_PAGE_FLAGS,
    {"--id", "ID,…", "these entries"},
    {"--who", "NAME,…", "by these users"},
    {"--verb", "NAME,…", "of these verbs"},
    {"--entity", "NAME,…", "on these things"},
    {"--after", "TIME", "from this instant on"},
    {"--before", "TIME", "before this instant"},
    {0},
};
#define FILTERS 3     /* the first flag that is one; … */
#define LOG_FILTERS 4 /* … of the log */

static const struct column log_columns[] = {
    {"at", "AT", COLUMN_TIME},
    {"job", "JOB", COLUMN_RIGHT},
    {"handler", "HANDLER", COLUMN_CUT},
    {"outcome", "OUTCOME", COLUMN_STATE},
    {"attempt", "ATTEMPT", COLUMN_RIGHT},
    {"duration", "SECONDS", COLUMN_RIGHT | COLUMN_OPTIONAL},
    {"reason", "REASON", COLUMN_OPTIONAL},
    {"message", "MESSAGE", COLUMN_CUT | COLUMN_OPTIONAL | COLUMN_REST},
    {"lines", "LINES", COLUMN_CUT | COLUMN_OPTIONAL | COLUMN_REST},
    {0},
};

static const struct column operation_columns[] = {
    {"at", "AT", COLUMN_TIME},
    {"who", "WHO", COLUMN_LEFT},
    {"verb", "VERB", COLUMN_LEFT},
    {"entity", "ENTITY", COLUMN_CUT},
    {"count", "COUNT", COLUMN_RIGHT},
    {"old", "OLD", COLUMN_CUT | COLUMN_OPTIONAL},
    {"new", "NEW", COLUMN_CUT | COLUMN_OPTIONAL},
    {0},
};

static bool list_run(struct cli *cli, const struct flags *flags,
                     json_t *(*ask)(struct store *store, const json_t *filters,
                                    const struct store_page *page, struct error *error),
                     const struct column *columns, const char *things, int filters,
                     struct error *error) {
    struct list list;
    struct store *store = NULL;
    bool fine = list_read(&list, flags, flags->command->flags + filters, error) &&
                (store = setup_store(cli, flags, STORE_READ, error)) &&
                list_print_page(cli, &list, columns, ask(store, list.filters, &list.page, error), 0,
                                things, error);
    store_close(store);
    list_clear(&list);
    return fine;
}

/* ---- following ---- */

static void add_text(const json_t *entry, const char *key, const char *before) {
    const json_t *value = json_object_get(entry, key);
    char *text = value && !json_is_null(value) ? output_value(value, false) : NULL;
    if (text)
        output_add("%s%s", before, text);
    free(text);
}

/* A line for each entry, for widths that are not known beforehand. */
static void entry_print(const json_t *entry) {
    add_text(entry, "at", "");
    add_text(entry, "job", "  ");
    add_text(entry, "handler", "  ");
    add_text(entry, "outcome", "  ");
    if (json_is_number(json_object_get(entry, "duration")))
        output_add("  %.3f s", json_number_value(json_object_get(entry, "duration")));
    add_text(entry, "reason", "  ");
    add_text(entry, "message", "  ");
    add_text(entry, "lines", "  ");
    output_add("\n");
}

/* Takes the entries over. */
static bool entries_print(const struct cli *cli, json_t *entries, struct error *error) {
    bool fine = true;
    size_t i;
    json_t *entry;
    json_array_foreach(entries, i, entry) {
        if (cli->json)
            fine = fine && output_json(json_incref(entry), error);
        else
            entry_print(entry);
    }
    json_decref(entries);
    return fine && output_finish(error);
}

/* Until a signal ends the program, or nobody reads what is printed. */
static bool follow(const struct cli *cli, struct store *store, const struct list *list,
                   struct error *error) {
    json_t *entries = NULL;
    struct store_tail *tail = store_tail_new(store, list->filters, list->limit, &entries,
                                             clock_now(clock_system()), error);
    while (entries && entries_print(cli, entries, error)) {
        poll(NULL, 0, LOOK_EVERY);
        entries = store_tail_next(tail, clock_now(clock_system()), error);
    }
    store_tail_free(tail);
    return false;
}

static bool follow_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct list list;
    struct store *store = NULL;
    bool fine = list_read(&list, flags, log_flags + LOG_FILTERS, error);
    if (fine && (flags_has(flags, "--sort") || flags_has(flags, "--page")))
        fine = error_set(error, ERROR_USAGE, "--follow does not go with --sort or --page");
    fine = fine && (store = setup_store(cli, flags, STORE_READ, error)) &&
           follow(cli, store, &list, error);
    store_close(store);
    list_clear(&list);
    return fine;
}

static bool log_run(struct cli *cli, const struct flags *flags, struct error *error) {
    if (flags_has(flags, "--follow"))
        return follow_run(cli, flags, error);
    return list_run(cli, flags, store_log, log_columns, "entries", LOG_FILTERS, error);
}

static bool operations_run(struct cli *cli, const struct flags *flags, struct error *error) {
    return list_run(cli, flags, store_operations, operation_columns, "operations", FILTERS, error);
}

const struct cli_command history_commands[] = {
    {"log", "[--job ID] [--outcome NAME] …", "list what became of jobs, newest first",
     "With --follow the oldest of the rows come first, and new ones are printed as they come, "
     "until "
     "Ctrl-C; with --json each is an object on a line of its own.",
     log_flags, 0, 0, false, false, log_run},
    {"operations", "[--who NAME] [--verb NAME] …", "list what operators changed", "",
     operation_flags, 0, 0, false, false, operations_run},
    {0},
};
