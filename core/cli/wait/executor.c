#include "cli/wait/executor.h"
#include "base/json.h"
#include "cli/list.h"
#include "cli/operate.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "job/ask.h"
#include "time/span.h"
#include <stdio.h>
#include <string.h>

static const struct flag list_flags[] = {
    COLUMNS_FLAG,
    {"--gone", NULL, "those that have left, too"},
    {0},
};

/* A span, and a word for what the executor serves. */
static void rows_write(json_t *rows) {
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        char text[TIME_TEXT_SIZE];
        const json_t *uptime = json_object_get(row, "uptime");
        bool aware = json_is_true(json_object_get(row, "deployment_aware"));
        span_say((time_ms)json_integer_value(uptime) * 1000, text);
        json_put_text(row, "uptime", json_is_integer(uptime) ? text : NULL);
        json_put_text(row, "deployment_aware", aware ? "registered" : NULL);
    }
}

/* How many jobs an executor holds is shown where no more is known. */
static void locked_hide(json_t *rows) {
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        if (!json_is_null(json_object_get(row, "running")))
            json_put(row, "locked", NULL);
    }
}

static const struct listing listing = {ASK_EXECUTORS, NULL};

bool executors_print(json_t *rows, struct error *error) {
    struct list list;
    rows_write(rows);
    locked_hide(rows);
    bool fine = list_begin(&list, &listing, error) &&
                table_print(list.columns, rows, output_width(), error);
    list_clear(&list);
    return fine;
}

void executors_none_say(const struct cli *cli, struct engine *engine) {
    size_t i;
    json_t *row, *rows = NULL;
    if (!cli->json)
        rows = engine_ask(engine, ASK_EXECUTORS, NULL, NULL);
    bool none = rows != NULL;
    json_array_foreach(rows, i, row)
        none = none && !ask_is_executor(row, "live") && !ask_is_executor(row, "draining");
    json_decref(rows);
    if (none)
        fprintf(stderr, "moonshift: no executor runs on \"%s\"\n", engine_path(engine));
}

/* An executor whose commit does not end looks as one that works. */
static void stalled_say(const struct cli *cli, struct engine *engine) {
    struct error why = {0};
    if (!cli->json && engine_stalled(engine, &why))
        output_note("%s", why.text);
}

static bool executor_listed_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct list list;
    struct engine *engine = NULL;
    json_t *rows = NULL;
    bool fine =
        list_read(&list, flags, &listing, error) && (engine = setup_reader(cli, flags, error));
    if (fine && flags_has(flags, "--gone"))
        json_put(list.question, "all", json_true());
    fine = fine && (rows = list_ask(&list, engine, error));
    if (fine) {
        executors_none_say(cli, engine);
        stalled_say(cli, engine);
    }
    if (fine && !cli->json)
        rows_write(rows);
    if (fine && !cli->json && !flags_has(flags, "--columns"))
        locked_hide(rows);
    engine_close(engine);
    fine = fine && list_print(cli, &list, rows, 0, error);
    list_clear(&list);
    return fine;
}

const struct cli_command executor_commands[] = {
    {"executor list", "[--gone] [--columns NAME,…]", "list the executors of the store", "",
     list_flags, 0, 0, false, false, executor_listed_run},
    {"executor drain", "NAME|ID", "let an executor take nothing more",
     "It ends what it has begun and stays until it is stopped. A name means all that live under "
     "it.",
     NULL, 1, 1, false, false, operate_run},
    {"executor resume", "NAME|ID", "let a draining executor work again", "", NULL, 1, 1, false,
     false, operate_run},
    {0},
};
