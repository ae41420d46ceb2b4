#include "cli/list.h"
#include "cli/operate.h"
#include "cli/output.h"
#include "cli/setup.h"
#include "cli/table.h"

static const struct flag list_flags[] = {
    LIST_PAGE_FLAGS,
    {"--id", "ID,…", "these incidents"},
    {"--type", "NAME,…", "failedJob, workerDied, missingHandler, handlerStuck"},
    {"--job", "ID,…", "of these jobs"},
    {"--handler", "NAME,…", "of jobs of these handlers"},
    {"--definition", "NAME,…", "of these definitions, by name or id"},
    {"--open", "[BOOL]", "not resolved yet"},
    {0},
};
#define LIST_FILTERS (list_flags + 3)

static const struct column list_columns[] = {
    {"id", "ID", COLUMN_RIGHT},
    {"type", "TYPE", COLUMN_LEFT},
    {"job", "JOB", COLUMN_RIGHT},
    {"handler", "HANDLER", COLUMN_OPTIONAL | COLUMN_CUT},
    {"created", "CREATED", COLUMN_TIME},
    {"ended", "ENDED", COLUMN_OPTIONAL | COLUMN_TIME},
    {"message", "MESSAGE", COLUMN_OPTIONAL | COLUMN_CUT | COLUMN_REST},
    {"note", "NOTE", COLUMN_OPTIONAL | COLUMN_CUT},
    {0},
};

static bool list_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct list list;
    struct store *store = NULL;
    bool fine = list_read(&list, flags, LIST_FILTERS, error) &&
                (store = setup_store(cli, flags, STORE_READ, error)) &&
                list_print_page(cli, &list, list_columns,
                                store_incidents(store, list.filters, &list.page, error), 0,
                                "incidents", error);
    store_close(store);
    list_clear(&list);
    return fine;
}

static bool show_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id;
    if (!flags_number("id", flags->words[0], 1, INT64_MAX, &id, error))
        return false;
    struct store *store = setup_store(cli, flags, STORE_READ, error);
    json_t *filters = json_pack("{sI}", "id", (json_int_t)id);
    struct store_page page = {.limit = 1};
    json_t *list = store ? store_incidents(store, filters, &page, error) : NULL;
    json_t *incident = json_array_get(list, 0);
    bool fine = list != NULL;
    if (fine && !incident)
        fine = error_set(error, ERROR_NOT_FOUND, "no incident %lld", (long long)id);
    else if (fine && cli->json)
        fine = output_json(json_incref(incident), error);
    else if (fine)
        output_fields(incident);
    json_decref(list);
    json_decref(filters);
    store_close(store);
    return fine;
}

static bool act(struct cli *cli, const struct flags *flags, json_t *order, const char *done,
                struct error *error) {
    struct engine_operated operated = {0};
    if (order && flags_has(flags, "--dry-run")) {
        bool tried = operate_dry_run(cli, flags, order, done, error);
        json_decref(order);
        return tried;
    }
    struct engine *engine = order ? setup_engine(cli, flags, STORE_WRITE, false, error) : NULL;
    bool fine = order || error_set(error, ERROR_USAGE, "note: not valid UTF-8");
    fine = fine && engine && engine_operate(engine, order, &operated, error);
    engine_close(engine);
    json_decref(order);
    if (fine && cli->json)
        return output_json(json_pack("{sI}", "count", (json_int_t)1), error);
    if (fine)
        output_add("1 incident %s\n", done);
    return fine;
}

static bool annotate_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id;
    return flags_number("id", flags->words[0], 1, INT64_MAX, &id, error) &&
           act(cli, flags,
               json_pack("{ss,sI,ss}", "verb", "annotate", "incident", (json_int_t)id, "note",
                         flags->words[1]),
               "annotated", error);
}

static const struct flag annotate_flags[] = {DRY_RUN_FLAG, {0}};

static const struct flag resolve_flags[] = {
    DRY_RUN_FLAG,
    {"--note", "TEXT", "keep a note with it"},
    {0},
};

static bool resolve_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id;
    return flags_number("id", flags->words[0], 1, INT64_MAX, &id, error) &&
           act(cli, flags,
               json_pack("{ss,sI,ss?}", "verb", "resolve", "incident", (json_int_t)id, "note",
                         flags_text(flags, "--note")),
               "resolved", error);
}

const struct cli_command incident_commands[] = {
    {"incident list", "[--open] [--type TYPE] [--job ID] …", "list incidents", "", list_flags, 0, 0,
     false, false, list_run},
    {"incident show", "ID", "show one incident", "", NULL, 1, 1, false, false, show_run},
    {"incident annotate", "ID NOTE", "keep a note with an incident", "", annotate_flags, 2, 2,
     false, false, annotate_run},
    {"incident resolve", "ID [--note TEXT]", "close an incident, its job untouched", "",
     resolve_flags, 1, 1, false, false, resolve_run},
    {0},
};
