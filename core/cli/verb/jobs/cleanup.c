/* cleanup.c - what an operator does to the history (rules §18). */
#include "cli/list.h"
#include "cli/operate.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/shown/table.h"

static const struct flag select_flags[] = {
    {"--job", "ID,…", "of these jobs", FLAG_FILTER},
    {"--handler", "NAME,…", "of these handlers", FLAG_FILTER},
    {"--definition", "ID,…", "of these definitions", FLAG_FILTER},
    {"--batch", "ID,…", "of these batches", FLAG_FILTER},
    {"--outcome", "NAME,…", "successful, deleted, cancelled", FLAG_FILTER},
    {"--after", "TIME", "that ended from this instant on", FLAG_FILTER},
    {"--before", "TIME", "that ended before this instant", FLAG_FILTER},
    {0},
};

static const struct flag clean_flags[] = {
    {"--dry-run", NULL, "say how much would go, change nothing"},
    {0},
};

static const struct column kind_columns[] = {
    {"kind", "KIND", COLUMN_LEFT},
    {"ttl", "KEPT FOR", COLUMN_LEFT},
    {"removable", "REMOVABLE", COLUMN_RIGHT},
    {0},
};

static const struct column job_columns[] = {
    {"id", "JOB", COLUMN_RIGHT},
    {"state", "STATE", COLUMN_STATE},
    {"due", "DUE", COLUMN_OPTIONAL | COLUMN_TIME},
    {"priority", "PRIORITY", COLUMN_RIGHT},
    {0},
};

/* ---- how it stands ---- */

static bool kinds_print(const json_t *status, struct error *error) {
    const char *kind;
    json_t *count, *rows = json_array();
    json_object_foreach(json_object_get(status, "removable"), kind, count) {
        json_t *ttl = json_object_get(json_object_get(status, "ttl"), kind);
        json_array_append_new(rows,
                              json_pack("{ss so sO}", "kind", kind, "ttl",
                                        json_is_null(ttl) ? json_string("ever") : json_incref(ttl),
                                        "removable", count));
    }
    bool fine = table_print(kind_columns, rows, output_width(), error);
    json_decref(rows);
    return fine;
}

static bool status_print(const json_t *status, bool jobs, struct error *error) {
    json_t *list = json_object_get(status, "jobs");
    if (!kinds_print(status, error))
        return false;
    if (!jobs || json_array_size(list) == 0)
        return true;
    output_add("\n");
    return table_print(job_columns, list, output_width(), error);
}

/* With --dry-run, of a cleaning: what may go, without the jobs that will do it. */
static bool status_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct engine *engine = setup_replica(cli, flags, error);
    json_t *status = engine ? engine_ask(engine, ASK_HISTORY, NULL, error) : NULL;
    engine_close(engine);
    if (!status)
        return false;
    if (cli->json)
        return output_json(status, error);
    bool fine = status_print(status, !flags_has(flags, "--dry-run"), error);
    json_decref(status);
    return fine;
}

/* ---- cleaning ---- */

static bool clean_say(const struct cli *cli, const int64_t *ids, int count, struct error *error) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_integer(ids[i]));
    if (cli->json)
        return output_json(json_pack("{so}", "jobs", list), error);
    for (int i = 0; i < count; i++)
        output_add("job %lld cleans the history\n", (long long)ids[i]);
    json_decref(list);
    return true;
}

static bool clean_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct command_run run = {0};
    if (flags_has(flags, "--dry-run"))
        return status_run(cli, flags, error);
    struct engine *engine = setup_engine(cli, flags, STORE_WRITE, false, error);
    json_t *command = json_pack("{ss}", "verb", "clean_history");
    bool fine = engine && engine_command(engine, command, &run, error);
    json_decref(command);
    engine_close(engine);
    return fine && clean_say(cli, run.made, run.made_count, error);
}

#define SELECTS                                                                                    \
    "By ids, or by the filters of log. Ids are looked at first: if one is missing nothing is\n"    \
    "done. More than 1000 are done 1000 at a time."

const struct cli_command cleanup_commands[] = {
    {"history status", "", "show how long history is kept, and what may go by now",
     "And the jobs that will remove it.", NULL, 0, 0, true, false, status_run},
    {"history clean", "[--dry-run]", "remove what may go from the history, now",
     "Whatever the window. The jobs that do it are run by the executors of the store.", clean_flags,
     0, 0, true, false, clean_run},
    {"history removal-time", "TIME|never|computed ID…|FILTERS", "say when ended jobs go",
     "computed: from their end and history_ttl.\n" SELECTS, select_flags, 1, -1, false, false,
     operate_run},
    {"history delete", "ID…|FILTERS", "remove ended jobs from the history", SELECTS, select_flags,
     0, -1, false, false, operate_run},
    {0},
};
