#include "cli/list.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/shown/table.h"
#include <poll.h>
#include <stdlib.h>

#define LOOK_EVERY 200 /* ms */

static const struct flag log_flags[] = {
    LIST_FLAGS("at or job; the newest come first unless told"),
    {"--follow", NULL, "go on with what is new, until Ctrl-C"},
    FILTERS_OF(ASK_LOG),
    {0},
};

static const struct flag operation_flags[] = {LIST_PAGE_FLAGS, FILTERS_OF(ASK_OPERATIONS), {0}};
static const struct listing entries = {ASK_LOG, "entries"};
static const struct listing operations = {ASK_OPERATIONS, "operations"};

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
static bool entries_print(const struct cli *cli, json_t *list, struct error *error) {
    bool fine = true;
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry) {
        if (cli->json)
            fine = fine && output_json(json_incref(entry), error);
        else
            entry_print(entry);
    }
    json_decref(list);
    return fine && output_finish(error);
}

/* Until a signal ends the program, or nobody reads what is printed. */
static bool follow(const struct cli *cli, struct engine *engine, const struct list *list,
                   struct error *error) {
    json_t *found = NULL;
    struct store_tail *tail = engine_tail_new(engine, list->filters, list->limit, &found, error);
    while (found && entries_print(cli, found, error)) {
        poll(NULL, 0, LOOK_EVERY);
        found = engine_tail_next(engine, tail, error);
    }
    engine_tail_free(tail);
    return false;
}

static bool follow_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct list list;
    struct engine *engine = NULL;
    bool fine = list_read(&list, flags, &entries, error);
    if (fine && (flags_has(flags, "--sort") || flags_has(flags, "--page")))
        fine = error_set(error, ERROR_USAGE, "--follow does not go with --sort or --page");
    else if (fine && flags_has(flags, "--columns"))
        fine = error_set(error, ERROR_USAGE, "--follow does not go with --columns");
    fine = fine && (engine = setup_reader(cli, flags, error)) && follow(cli, engine, &list, error);
    engine_close(engine);
    list_clear(&list);
    return fine;
}

static bool log_run(struct cli *cli, const struct flags *flags, struct error *error) {
    if (flags_has(flags, "--follow"))
        return follow_run(cli, flags, error);
    return list_show(cli, flags, &entries, error);
}

const struct cli_command history_commands[] = {
    {"log", "[--job ID] [--outcome NAME] …", "list what became of jobs, newest first",
     "With --follow the oldest of the rows come first, and new ones are printed as they come, "
     "until "
     "Ctrl-C; with --json each is an object on a line of its own.",
     log_flags, 0, 0, false, false, log_run},
    {"operations", "[--who NAME] [--verb NAME] …", "list what operators changed", "",
     operation_flags, 0, 0, false, false, list_run, &operations},
    {0},
};
