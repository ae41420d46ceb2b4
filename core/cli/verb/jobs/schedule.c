/* schedule.c - what repeats, and the dates of a cycle to come (rules §14). */
#include "base/json.h"
#include "cli/command.h"
#include "cli/list.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/shown/table.h"
#include "cli/words/moment.h"
#include "time/repeat.h"
#include <stdio.h>
#include <string.h>

#define COUNT_DEFAULT 5
#define COUNT_MAX 10000

static const struct flag list_flags[] = {COLUMNS_FLAG, {0}};

static const struct listing listing = {ASK_SCHEDULES, "schedules"};

/* ---- verbs ---- */

static const char *done_of(const char *word) {
    if (strcmp(word, "run") == 0)
        return "run";
    return strcmp(word, "pause") == 0 ? "paused" : "resumed";
}

static bool verb_run(struct cli *cli, const struct flags *flags, struct error *error) {
    const char *word = flags->command->name + strlen("schedule "), *name = flags->words[0];
    char verb[32];
    struct command_run run = {0};
    snprintf(verb, sizeof verb, "%s_schedule", word);
    json_t *command = json_pack("{ss,ss}", "verb", verb, "schedule", name);
    if (flags_has(flags, "--dry-run"))
        return give_command(cli, flags, command, done_of(word), error);
    struct engine *engine = setup_engine(cli, flags, STORE_WRITE, false, error);
    bool fine = engine && engine_command(engine, command, &run, error);
    engine_close(engine);
    json_decref(command);
    if (!fine)
        return false;
    if (cli->json)
        return output_json(
            run.made_count
                ? json_pack("{ss,sI}", "schedule", name, "job", (json_int_t)run.made[0])
                : json_pack("{ss,sb}", "schedule", name, "paused", strcmp(word, "pause") == 0),
            error);
    if (run.made_count)
        output_add("%lld\n", (long long)run.made[0]);
    else
        output_add("schedule \"%s\" %s\n", name,
                   strcmp(word, "pause") == 0 ? "is paused" : "goes on");
    return true;
}

/* ---- dates to come ---- */

static bool count_read(const struct flags *flags, int64_t *count, struct error *error) {
    *count = COUNT_DEFAULT;
    return flags_integer(flags, "--count", 1, COUNT_MAX, count, error);
}

static const struct listing coming = {ASK_DATES, "dates"};

static bool next_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t count;
    struct list list;
    struct engine *engine = NULL;
    bool fine = list_read(&list, flags, &coming, error) && count_read(flags, &count, error) &&
                (engine = setup_replica(cli, flags, error));
    if (fine) {
        json_object_set_new(list.question, "name", json_string(flags->words[0]));
        json_object_set_new(list.question, "count", json_integer(count));
        fine = list_print(cli, &list, list_ask(&list, engine, error), 0, error);
    }
    engine_close(engine);
    list_clear(&list);
    return fine;
}

/* ---- one of them ---- */

#define RUNS_SHOWN 10

static const struct column run_columns[] = {
    {"started", "STARTED", COLUMN_TIME},
    {"outcome", "OUTCOME", COLUMN_STATE},
    {"duration", "SECONDS", COLUMN_RIGHT},
    {"job", "JOB", COLUMN_RIGHT},
    {"attempt", "ATTEMPT", COLUMN_RIGHT},
    {"message", "MESSAGE", COLUMN_OPTIONAL | COLUMN_CUT | COLUMN_REST},
    {0},
};

static const struct column coming_columns[] = {
    {"local", "NEXT", COLUMN_LEFT},
    {"utc", "UTC", COLUMN_LEFT},
    {0},
};

static json_t *runs_question(const char *name) {
    return json_pack("{s{ss,s[ssss]},ss,sb,si}", "filters", "schedule", name, "outcome",
                     "successful", "failed", "cancelled", "skipped", "sort", "at", "descending", 1,
                     "limit", RUNS_SHOWN);
}

/* The schedule with its `runs`, the newest first, and the `dates` to come. A new reference. */
static json_t *show_read(struct engine *engine, const char *name, int64_t count,
                         struct error *error) {
    json_t *rows = engine_ask_of(engine, ASK_SCHEDULES, json_pack("{ss}", "name", name), error);
    json_t *schedule = json_incref(json_array_get(rows, 0));
    json_decref(rows);
    if (!schedule)
        return NULL;
    json_t *runs = engine_ask_of(engine, ASK_LOG, runs_question(name), error);
    json_t *dates = engine_ask_of(
        engine, ASK_DATES, json_pack("{ss,sI}", "name", name, "count", (json_int_t)count), error);
    bool fine = runs && dates && json_object_set(schedule, "runs", runs) == 0 &&
                json_object_set(schedule, "dates", dates) == 0;
    json_decref(runs);
    json_decref(dates);
    return json_kept(schedule, fine);
}

static bool rows_add(const struct column *columns, const json_t *rows, struct error *error) {
    if (json_array_size(rows))
        output_add("\n");
    return table_print(columns, rows, output_width(), error);
}

/* Its members, then two tables. Takes the schedule over. */
static bool show_print(const struct cli *cli, json_t *schedule, struct error *error) {
    if (cli->json)
        return output_object(true, schedule, error);
    json_t *runs = json_incref(json_object_get(schedule, "runs"));
    json_t *dates = json_incref(json_object_get(schedule, "dates"));
    json_object_del(schedule, "runs");
    json_object_del(schedule, "dates");
    bool fine = output_object(false, schedule, error) && rows_add(run_columns, runs, error) &&
                rows_add(coming_columns, dates, error);
    json_decref(runs);
    json_decref(dates);
    return fine;
}

static bool show_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t count;
    if (!count_read(flags, &count, error))
        return false;
    struct engine *engine = setup_replica(cli, flags, error);
    json_t *schedule = engine ? show_read(engine, flags->words[0], count, error) : NULL;
    bool fine = schedule && show_print(cli, schedule, error);
    engine_close(engine);
    return fine;
}

static json_t *dates_make(const struct repeat *repeat, int count, struct error *error) {
    struct cycle cycle;
    if (!repeat_open(repeat, &cycle, error))
        return NULL;
    json_t *dates = json_array();
    if (dates && repeat_dates(dates, &cycle, repeat->origin, 0, count))
        return dates;
    json_decref(dates);
    return error_null(error_no_memory(error));
}

static bool dates_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t count;
    const char *after = flags_text(flags, "--after");
    struct repeat repeat = {.text = flags->words[0], .zone = flags_text(flags, "--zone")};
    repeat.origin = clock_now(clock_system());
    struct list list;
    bool fine = list_read(&list, flags, &coming, error) && count_read(flags, &count, error) &&
                (!after || moment_read("--after", after, &repeat.origin, error));
    fine = fine && list_print(cli, &list, dates_make(&repeat, (int)count, error), 0, error);
    list_clear(&list);
    return fine;
}

static const struct flag next_flags[] = {
    COLUMNS_FLAG,
    {"--count", "N", "so many dates (5)"},
    {0},
};

static const struct flag show_flags[] = {
    {"--count", "N", "so many dates (5)"},
    {0},
};

static const struct flag dates_flags[] = {
    COLUMNS_FLAG,
    {"--zone", "NAME", "of local times, such as Europe/Berlin (UTC)"},
    {"--after", "TIME",
     "the dates behind this instant (now); a cycle without a start begins there"},
    {"--count", "N", "so many dates (5)"},
    {0},
};

static const struct flag verb_flags[] = {DRY_RUN_FLAG, {0}};

const struct cli_command schedule_commands[] = {
    {"schedule list", "[--columns NAME,…]", "list what the scripts schedule", "", list_flags, 0, 0,
     false, false, list_run, &listing},
    {"schedule show", "NAME [--count N]", "show its last ten runs and the dates to come", "",
     show_flags, 1, 1, false, false, show_run},
    {"schedule next", "NAME [--count N]", "show the dates to come of a schedule",
     "In the schedule's zone and in UTC.", next_flags, 1, 1, false, false, next_run},
    {"schedule pause", "NAME", "let none of its dates run until it is resumed",
     "Survives a reload and a restart. What runs goes on.", verb_flags, 1, 1, false, false,
     verb_run},
    {"schedule resume", "NAME", "let its dates run again",
     "What was missed meanwhile is up to the schedule's misfire.", verb_flags, 1, 1, false, false,
     verb_run},
    {"schedule run", "NAME", "create one more job of it, due now",
     "Prints the job's id. Its dates stay as they are.", verb_flags, 1, 1, false, false, verb_run},
    {"dates", "CYCLE [--zone NAME] [--after TIME] [--count N]", "show the dates of a cycle",
     "CYCLE is cron (\"0 8 * * MON-FRI\", six fields with seconds) or an ISO 8601 repetition"
     "\n(R3/PT1H, R/2026-01-01T08:00/P1D). Needs neither scripts nor a store.",
     dates_flags, 1, 1, false, false, dates_run},
    {0},
};
