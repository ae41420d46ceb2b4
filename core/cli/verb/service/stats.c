#include "base/json.h"
#include "cli/setup.h"
#include "cli/shown/counts.h"
#include "cli/shown/output.h"
#include "cli/shown/table.h"
#include "cli/wait/executor.h"
#include "time/span.h"
#include <stdio.h>
#include <string.h>

static const struct column definition_columns[] = {
    {"name", "HANDLER", COLUMN_CUT},          {"ready", "READY", COLUMN_RIGHT},
    {"scheduled", "SCHEDULED", COLUMN_RIGHT}, {"locked", "LOCKED", COLUMN_RIGHT},
    {"waiting", "WAITING", COLUMN_RIGHT},     {"suspended", "SUSPENDED", COLUMN_RIGHT},
    {"dead", "DEAD", COLUMN_RIGHT},           {"successful", "DONE", COLUMN_RIGHT},
    {"failed", "FAILED", COLUMN_RIGHT},       {0},
};

static const struct column unserved_columns[] = {
    {"count", "UNSERVED JOBS", COLUMN_RIGHT},
    {"text", "REASON", COLUMN_CUT},
    {0},
};

static bool section_print(const struct column *columns, const json_t *rows, struct error *error) {
    if (json_array_size(rows) == 0)
        return true;
    output_add("\n");
    return table_print(columns, rows, output_width(), error);
}

/* The reader that keeps the write-ahead log from being emptied. */
static void reader_write(const json_t *log, char *text, size_t size) {
    const char *program = json_string_value(json_object_get(log, "program"));
    long long process = json_integer_value(json_object_get(log, "process"));
    if (!process)
        snprintf(text, size, "a reader");
    else if (!program)
        snprintf(text, size, "process %lld", process);
    else
        snprintf(text, size, "process %lld (%s)", process, program);
}

enum { OLD = 60 }; /* seconds that a state of a server is held until a person is told */

/* A server keeps the rows that a reader may still look at. NULL: there is no such reader. */
static json_t *rows_text(const json_t *log) {
    char reader[128], span[TIME_TEXT_SIZE];
    double age = json_number_value(json_object_get(log, "held_age"));
    if (!json_is_null(json_object_get(log, "bytes")) || age < OLD)
        return NULL;
    reader_write(log, reader, sizeof reader);
    span_say((time_ms)age * 1000, span);
    return json_sprintf("kept for %s by %s", span, reader);
}

/* NULL: there is no log. */
static json_t *log_text(const json_t *log) {
    char reader[128], span[TIME_TEXT_SIZE];
    double megabytes = json_number_value(json_object_get(log, "bytes")) / 1e6;
    double age = json_number_value(json_object_get(log, "held_age"));
    if (!json_is_integer(json_object_get(log, "bytes")))
        return NULL;
    if (!json_object_get(log, "held_bytes"))
        return json_sprintf("%.1f MB", megabytes);
    reader_write(log, reader, sizeof reader);
    if (age < 1)
        return json_sprintf("%.1f MB, held by %s", megabytes, reader);
    span_say((time_ms)age * 1000, span);
    return json_sprintf("%.1f MB, held for %s by %s", megabytes, span, reader);
}

/* Without those that have counted nothing, but for how runs have ended. NULL: no memory. */
static json_t *metrics_worth(const json_t *metrics, bool all) {
    json_t *worth = json_object(), *value;
    const char *name;
    json_object_foreach(json_unchanged(metrics), name, value) {
        bool ends = strcmp(name, "successful") == 0 || strcmp(name, "failed") == 0;
        if ((all || ends || json_number_value(value) != 0) &&
            json_object_set(worth, name, value) != 0)
            return json_kept(worth, false);
    }
    return worth;
}

static bool metrics_print(const json_t *metrics, bool all, struct error *error) {
    json_t *worth = metrics_worth(metrics, all);
    if (!worth)
        return error_no_memory(error);
    output_add("\n");
    output_fields(worth);
    json_decref(worth);
    return true;
}

static bool stats_print(const json_t *stats, bool all, struct error *error) {
    json_t *totals = json_copy(json_object_get(stats, "jobs"));
    json_t *rows = counts_flat(json_object_get(stats, "definitions"));
    bool fine = (totals && rows) || error_no_memory(error);
    if (fine) {
        json_object_set(totals, "oldest ready", json_object_get(stats, "oldest_ready"));
        json_object_set(totals, "open incidents", json_object_get(stats, "open_incidents"));
        json_object_set(totals, "stuck instances", json_object_get(stats, "stuck_instances"));
        json_object_set_new(totals, "write-ahead log", log_text(json_object_get(stats, "log")));
        json_object_set_new(totals, "old rows", rows_text(json_object_get(stats, "log")));
        json_object_set(totals, "stalled", json_object_get(stats, "stalled"));
        fine = counts_show(totals) || error_no_memory(error);
        output_fields(totals);
    }
    fine = fine && section_print(definition_columns, rows, error) &&
           section_print(unserved_columns, json_object_get(stats, "gaps"), error);
    json_t *executors = json_object_get(stats, "executors");
    if (fine && json_array_size(executors) > 0) {
        output_add("\n");
        fine = executors_print(executors, error);
    }
    fine = fine && metrics_print(json_object_get(stats, "metrics"), all, error);
    json_decref(totals);
    json_decref(rows);
    return fine;
}

static bool stats_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct engine *engine = setup_replica(cli, flags, error);
    json_t *stats = engine ? engine_ask(engine, ASK_STATS, NULL, error) : NULL;
    if (stats)
        executors_none_say(cli, engine);
    engine_close(engine);
    if (!stats)
        return false;
    if (cli->json)
        return output_json(stats, error);
    bool fine = stats_print(stats, flags_has(flags, "--all"), error);
    json_decref(stats);
    return fine;
}

static const struct flag stats_flags[] = {
    {"--all", NULL, "counters that have counted nothing, too"},
    {0},
};

const struct cli_command stats_commands[] = {
    {"stats", "[--all]", "show what waits, who works, and how much was done", "", stats_flags, 0, 0,
     false, false, stats_run},
    {0},
};
