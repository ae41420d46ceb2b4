#include "cli/list.h"
#include "cli/setup.h"
#include "cli/table.h"

static const struct flag log_flags[] = {
    LIST_FLAGS("at or job; the newest come first unless told"),
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
#define FILTERS 3 /* the first flag that is one */

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
                     const struct column *columns, const char *things, struct error *error) {
    struct list list;
    struct store *store = NULL;
    bool fine = list_read(&list, flags, flags->command->flags + FILTERS, error) &&
                (store = setup_store(cli, flags, STORE_READ, error)) &&
                list_print_page(cli, &list, columns, ask(store, list.filters, &list.page, error), 0,
                                things, error);
    store_close(store);
    list_clear(&list);
    return fine;
}

static bool log_run(struct cli *cli, const struct flags *flags, struct error *error) {
    return list_run(cli, flags, store_log, log_columns, "entries", error);
}

static bool operations_run(struct cli *cli, const struct flags *flags, struct error *error) {
    return list_run(cli, flags, store_operations, operation_columns, "operations", error);
}

const struct cli_command history_commands[] = {
    {"log", "[--job ID] [--outcome NAME] …", "list what became of jobs, newest first", "",
     log_flags, 0, 0, false, false, log_run},
    {"operations", "[--who NAME] [--verb NAME] …", "list what operators changed", "",
     operation_flags, 0, 0, false, false, operations_run},
    {0},
};
