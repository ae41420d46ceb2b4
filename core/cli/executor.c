#include "cli/executor.h"
#include "base/json.h"
#include "base/span.h"
#include "cli/output.h"
#include "cli/setup.h"
#include <stdio.h>
#include <string.h>

static const struct flag list_flags[] = {
    {"--gone", NULL, "those that have left, too"},
    {0},
};

static const struct column columns[] = {
    {"id", "ID", COLUMN_RIGHT},
    {"name", "EXECUTOR", COLUMN_CUT},
    {"state", "STATE", COLUMN_STATE},
    {"pid", "PID", COLUMN_RIGHT | COLUMN_OPTIONAL},
    {"version", "VERSION", COLUMN_LEFT | COLUMN_OPTIONAL},
    {"up", "UPTIME", COLUMN_RIGHT | COLUMN_OPTIONAL},
    {"workers", "WORKERS", COLUMN_RIGHT | COLUMN_OPTIONAL},
    {"running", "RUNNING", COLUMN_RIGHT},
    {"waiting", "WAITING", COLUMN_RIGHT},
    {"seen", "SEEN", COLUMN_TIME},
    {"priority_min", "FROM", COLUMN_RIGHT | COLUMN_OPTIONAL},
    {"priority_max", "TO", COLUMN_RIGHT | COLUMN_OPTIONAL},
    {"categories", "CATEGORIES", COLUMN_CUT | COLUMN_OPTIONAL},
    {"aware", "DEPLOYMENTS", COLUMN_LEFT | COLUMN_OPTIONAL},
    {"handlers", "HANDLERS", COLUMN_RIGHT | COLUMN_OPTIONAL},
    {0},
};

static void uptime_write(json_t *row) {
    char text[TIME_TEXT_SIZE];
    const json_t *uptime = json_object_get(row, "uptime");
    span_format((time_ms)json_integer_value(uptime) * 1000, text);
    json_put_text(row, "up", json_is_integer(uptime) ? text : NULL);
}

bool executors_print(json_t *rows, struct error *error) {
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        bool aware = json_is_true(json_object_get(row, "deployment_aware"));
        json_put_text(row, "aware", aware ? "registered" : NULL);
        uptime_write(row);
    }
    return table_print(columns, rows, output_width(), error);
}

void executors_none_say(const struct cli *cli, struct store *store) {
    size_t i;
    json_t *row, *rows = NULL;
    if (!cli->json)
        rows = store_executors(store, false, clock_now(clock_system()), NULL);
    bool none = rows != NULL;
    json_array_foreach(rows, i, row) {
        const char *state = json_string_value(json_object_get(row, "state"));
        none = none && state && strcmp(state, "live") != 0 && strcmp(state, "draining") != 0;
    }
    json_decref(rows);
    if (none)
        fprintf(stderr, "moonshift: no executor runs on \"%s\"\n", store_path(store));
}

static bool list_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct store *store = setup_store(cli, flags, STORE_READ, error);
    json_t *rows =
        store ? store_executors(store, flags_has(flags, "--gone"), clock_now(clock_system()), error)
              : NULL;
    if (rows)
        executors_none_say(cli, store);
    store_close(store);
    if (cli->json && rows)
        return output_json(rows, error);
    bool fine = rows && executors_print(rows, error);
    json_decref(rows);
    return fine;
}

/* "drain" and "resume" differ in one word. */
static bool drain_run(struct cli *cli, const struct flags *flags, struct error *error) {
    size_t touched = 0;
    bool draining = strcmp(flags->command->name, "executor drain") == 0;
    struct engine *engine = setup_engine(cli, flags, STORE_WRITE, false, error);
    bool fine = engine && engine_drain_executor(engine, flags->words[0], draining, &touched, error);
    engine_close(engine);
    if (fine && cli->json)
        return output_json(json_pack("{sI}", "count", (json_int_t)touched), error);
    if (fine)
        output_add("%zu %s %s\n", touched, touched == 1 ? "executor" : "executors",
                   draining ? "told to drain" : "told to work again");
    return fine;
}

const struct cli_command executor_commands[] = {
    {"executor list", "[--gone]", "list the executors of the store", "", list_flags, 0, 0, false,
     false, list_run},
    {"executor drain", "NAME|ID", "let an executor take nothing more",
     "It ends what it has begun and stays until it is stopped. A name means all that live under "
     "it.",
     NULL, 1, 1, false, false, drain_run},
    {"executor resume", "NAME|ID", "let a draining executor work again", "", NULL, 1, 1, false,
     false, drain_run},
    {0},
};
