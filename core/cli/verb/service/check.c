#include "base/json.h"
#include "base/text.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/shown/problem.h"
#include "cli/shown/progress.h"
#include "cli/shown/table.h"
#include "engine/maintenance.h"
#include "job/store_url.h"
#include "script/script.h"
#include "time/cron.h"
#include "time/repeat.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What `check` has to say about a folder. */
struct report {
    json_t *definitions, *schedules, *routes, *problems, *warnings;
};

static void report_clear(struct report *report) {
    json_decref(report->definitions);
    json_decref(report->schedules);
    json_decref(report->routes);
    json_decref(report->problems);
    json_decref(report->warnings);
}

/* "moonshift.lua:3: text" taken apart; what names no line is said of the whole file. */
static json_t *problem_of(const char *text) {
    const char *file = "moonshift.lua";
    size_t size = strlen(file);
    if (strncmp(text, file, size) != 0 || text[size] != ':')
        return json_pack("{ss so ss}", "file", file, "line", json_null(), "message", text);
    const char *rest = text + size + 1;
    char *end;
    long line = isdigit((unsigned char)*rest) ? strtol(rest, &end, 10) : 0;
    if (line > 0 && *end == ':')
        rest = end + 1;
    rest += strspn(rest, " ");
    return json_pack("{ss so ss}", "file", file, "line",
                     line > 0 ? json_integer(line) : json_null(), "message", rest);
}

/* A definition as everybody sees it, timeout as ISO text; the stock ones say so. */
static json_t *definition_shape(const struct folder *folder, const struct definition *definition) {
    json_t *object = definition_to_json(definition);
    const struct folder_file *file =
        definition->file ? folder_find(folder, definition->file) : NULL;
    if (!object || !json_put(object, "stock", json_boolean(file && file->stock)))
        return json_kept(object, false);
    json_object_del(object, "id");
    return object;
}

static bool definitions_shape(const struct folder *folder, struct report *report, json_t *described,
                              struct error *error) {
    struct definitions definitions;
    if (!definitions_read(&definitions, described))
        return true; /* a folder with problems may describe only half of them */
    bool fine = true;
    for (size_t i = 0; fine && i < definitions.count; i++) {
        json_t *object = definition_shape(folder, &definitions.list[i]);
        fine = object && json_array_append_new(report->definitions, object) == 0;
    }
    definitions_clear(&definitions);
    return fine || error_no_memory(error);
}

#define DATES_SHOWN 3

/* The dates to come, of a schedule that was found good. */
static json_t *schedule_dates(const struct cli *cli, json_t *object) {
    struct job_spec spec = {0};
    struct spec_rules rules = spec_rules(&cli->settings.write);
    struct cycle cycle;
    time_ms now = clock_now(clock_system());
    rules.schedule = true;
    json_t *dates = json_array();
    if (job_spec_read(&spec, object, &rules, now, NULL)) {
        struct repeat repeat = {spec.job.repeat, spec.zone, now, false};
        if (!repeat_open(&repeat, &cycle, NULL) ||
            !repeat_dates(dates, &cycle, spec.job.due - 1, 0, DATES_SHOWN)) {
            json_decref(dates);
            dates = NULL;
        }
    }
    job_spec_clear(&spec);
    return dates;
}

static bool schedule_shape(const struct cli *cli, struct report *report, const json_t *row,
                           struct error *error) {
    json_t *spec = json_object_get(row, "spec"), *dates = schedule_dates(cli, spec);
    json_t *zone = json_object_get(spec, "zone");
    json_t *shape =
        json_pack("{sO sO sO so? sO so}", "name", json_object_get(row, "name"), "handler",
                  json_object_get(spec, "handler"), "cycle", json_object_get(spec, "cycle"), "zone",
                  zone ? json_incref(zone) : json_string(cli->settings.zone), "file",
                  json_object_get(row, "file"), "next", dates);
    return (shape && json_array_append_new(report->schedules, shape) == 0) ||
           error_no_memory(error);
}

static bool schedules_shape(const struct cli *cli, struct report *report, const json_t *rows,
                            struct error *error) {
    bool fine = true;
    for (size_t i = 0; fine && i < json_array_size(rows); i++)
        fine = schedule_shape(cli, report, json_array_get(rows, i), error);
    return fine;
}

static bool scripts_check(struct cli *cli, struct report *report, struct error *error) {
    struct script_options options = {
        .folder = cli->folder,
        .settings = &cli->settings,
        .clock = clock_system(),
        .hook = HOOK_ALWAYS,
    };
    struct script_report found;
    bool fine =
        script_check(&options, &found, error) &&
        (json_array_extend(report->problems, found.problems) == 0 || error_no_memory(error)) &&
        (json_array_extend(report->routes, found.routes) == 0 || error_no_memory(error));
    fine = fine && definitions_shape(cli->folder, report, found.definitions, error) &&
           schedules_shape(cli, report, found.schedules, error);
    script_report_clear(&found);
    return fine;
}

static bool problem_add(struct report *report, const struct error *found) {
    return json_array_append_new(report->problems, problem_of(found->text)) == 0;
}

/* Every setting that is wrong, for who brings a file from elsewhere. What is wrong with the file,
 * or with several settings together, is said by itself. */
static bool settings_shape(struct cli *cli, struct report *report, struct error *error) {
    struct error first = {0}, found = {0};
    size_t before = json_array_size(report->problems);
    const char *name;
    json_t *value;
    if (setup_file(cli, &first))
        return true;
    json_t *values = folder_settings(cli->folder, NULL);
    bool fine = true;
    json_object_foreach(values, name, value) {
        json_t *one = json_pack("{sO}", name, value);
        if (fine && one &&
            !settings_apply(&cli->settings, ORIGIN_FILE, one, "moonshift.lua", &found))
            fine = problem_add(report, &found);
        json_decref(one);
    }
    json_decref(values);
    if (fine && json_array_size(report->problems) == before)
        fine = problem_add(report, &first);
    return fine || error_no_memory(error);
}

static bool report_make(struct cli *cli, struct report *report, struct error *error) {
    *report = (struct report){json_array(), json_array(), json_array(), json_array(), NULL};
    if (!report->definitions || !report->schedules || !report->routes || !report->problems)
        return error_no_memory(error);
    report->warnings = cli->folder->warnings ? json_incref(cli->folder->warnings) : json_array();
    return settings_shape(cli, report, error) && scripts_check(cli, report, error);
}

static const struct column columns[] = {
    {"name", "HANDLER", COLUMN_CUT},
    {"priority", "PRIORITY", COLUMN_RIGHT},
    {"retry", "RETRY", COLUMN_CUT},
    {"timeout", "TIMEOUT", COLUMN_LEFT},
    {"category", "CATEGORY", COLUMN_OPTIONAL},
    {"limit", "LIMIT", COLUMN_OPTIONAL},
    {"rate", "RATE", COLUMN_OPTIONAL},
    {"stock", "STOCK", COLUMN_OPTIONAL},
    {"file", "FILE", COLUMN_CUT | COLUMN_REST},
    {0},
};

static const struct column schedule_columns[] = {
    {"name", "SCHEDULE", COLUMN_CUT},
    {"handler", "HANDLER", COLUMN_CUT},
    {"cycle", "CYCLE", COLUMN_CUT},
    {"zone", "ZONE", COLUMN_LEFT},
    {"dates", "NEXT", COLUMN_CUT | COLUMN_REST},
    {"file", "FILE", COLUMN_CUT | COLUMN_REST},
    {0},
};

/* What stands in place of its dates, for a schedule that has none to come. */
static const char *without_dates(const json_t *schedule) {
    const char *cycle = json_string_value(json_object_get(schedule, "cycle"));
    return strcmp(cycle, CRON_START) == 0 ? "each start of an executor" : "over";
}

/* Each with its dates in one text, local first. */
static bool schedules_print(json_t *schedules, struct error *error) {
    size_t i, k;
    json_t *schedule, *date;
    json_array_foreach(schedules, i, schedule) {
        struct text text = {0};
        json_array_foreach(json_object_get(schedule, "next"), k, date) {
            text_add(&text, "%s%s", k ? ", " : "",
                     json_string_value(json_object_get(date, "local")));
        }
        bool put =
            json_put_text(schedule, "dates", text.data ? text.data : without_dates(schedule));
        text_clear(&text);
        if (!put)
            return error_no_memory(error);
    }
    if (json_array_size(schedules))
        output_add("\n");
    return table_print(schedule_columns, schedules, output_width(), error);
}

static const struct column route_columns[] = {
    {"path", "ROUTE", COLUMN_CUT},
    {"methods", "METHOD", COLUMN_LEFT},
    {"who", "WHO MAY", COLUMN_LEFT},
    {"file", "FILE", COLUMN_CUT | COLUMN_REST},
    {0},
};

/* Where it is, what it takes and from whom, each in one text. */
static bool route_shape(json_t *route) {
    struct text path = {0}, methods = {0}, who = {0};
    const char *secret = json_text(route, "secret");
    size_t i;
    json_t *one;
    text_add(&path, "/hooks/%s", json_text(route, "name"));
    json_array_foreach(json_object_get(route, "method"), i, one) {
        text_add(&methods, "%s%s", i ? ", " : "", json_string_value(one));
    }
    text_add(&who, "%s %s", secret ? "secret" : "scope",
             secret ? secret : json_text(route, "scope"));
    bool fine = path.data && methods.data && who.data && json_put_text(route, "path", path.data) &&
                json_put_text(route, "methods", methods.data) &&
                json_put_text(route, "who", who.data);
    text_clear(&path);
    text_clear(&methods);
    text_clear(&who);
    return fine;
}

static bool routes_print(json_t *routes, struct error *error) {
    size_t i;
    json_t *route;
    if (!json_array_size(routes))
        return true;
    json_array_foreach(routes, i, route) {
        if (!route_shape(route))
            return error_no_memory(error);
    }
    output_add("\n");
    return table_print(route_columns, routes, output_width(), error);
}

/* A stock handler that the setting `stock` names. */
static bool is_asked(const struct cli *cli, const char *name) {
    size_t i;
    json_t *one;
    json_array_foreach(cli->settings.stock, i, one) {
        if (strcmp(json_string_value(one), name) == 0)
            return true;
    }
    return false;
}

/* The folder's own definitions, and the stock handlers that it has asked for; with `all`, the other
 * ones behind them. NULL: no memory. */
static json_t *definitions_shown(const struct cli *cli, const json_t *definitions, bool all) {
    json_t *shown = json_array(), *others = json_array(), *one;
    size_t i;
    bool fine = shown && others;
    json_array_foreach(definitions, i, one) {
        bool stock = json_is_true(json_object_get(one, "stock"));
        bool behind = stock && !is_asked(cli, json_text(one, "name"));
        fine = fine && (stock || json_object_set_new(one, "stock", json_null()) == 0) &&
               json_array_append(behind ? others : shown, one) == 0;
    }
    fine = fine && (!all || json_array_extend(shown, others) == 0);
    json_decref(others);
    return json_kept(shown, fine);
}

static bool definitions_print(const struct cli *cli, const struct report *report, bool all,
                              struct error *error) {
    json_t *shown = definitions_shown(cli, report->definitions, all);
    bool fine = shown ? table_print(columns, shown, output_width(), error) : error_no_memory(error);
    json_decref(shown);
    return fine;
}

static bool report_print(const struct cli *cli, const struct report *report, bool all,
                         struct error *error) {
    size_t i;
    json_t *element;
    if (!definitions_print(cli, report, all, error) || !schedules_print(report->schedules, error) ||
        !routes_print(report->routes, error))
        return false;
    fflush(stdout); /* what is wrong is the last thing seen */
    json_array_foreach(report->problems, i, element) {
        problem_print(element, "");
    }
    json_array_foreach(report->warnings, i, element) {
        char *text = output_value(element, false);
        fprintf(stderr, "warning: %s\n", text ? text : "");
        free(text);
    }
    return true;
}

static bool folder_check(struct cli *cli, bool all, struct error *error) {
    struct report report = {0};
    bool fine = report_make(cli, &report, error);
    size_t problems = json_array_size(report.problems);
    if (fine && cli->json)
        fine = output_json(json_pack("{sO sO sO sO sO}", "definitions", report.definitions,
                                     "schedules", report.schedules, "routes", report.routes,
                                     "problems", report.problems, "warnings", report.warnings),
                           error);
    else if (fine)
        fine = report_print(cli, &report, all, error);
    report_clear(&report);
    if (fine && problems > 0)
        return error_set(error, ERROR_FAILED, "%s: %zu %s", cli->directory, problems,
                         problems == 1 ? "problem" : "problems");
    return fine;
}

/* ---- the store ---- */

static bool findings_print(const struct cli *cli, json_t *findings, struct error *error) {
    size_t i, count = json_array_size(findings);
    json_t *finding;
    char store[STORE_SHOWN];
    store_url_show(cli->settings.store, store);
    if (cli->json && !output_json(json_pack("{sO}", "problems", findings), error))
        return false;
    if (count > 0) {
        json_array_foreach(findings, i, finding) {
            char *text = cli->json ? NULL : output_value(finding, false);
            if (text)
                fprintf(stderr, "%s\n", text);
            free(text);
        }
        return error_set(error, ERROR_DAMAGED, "store \"%s\": %zu %s", store, count,
                         count == 1 ? "thing is wrong" : "things are wrong");
    }
    if (!cli->json)
        output_add("%s: nothing is wrong\n", store);
    return true;
}

static void check_tell(void *arg, int64_t done, int64_t of) {
    progress_show(arg, "asking question", done, of);
}

static bool check_store(struct cli *cli, struct error *error) {
    struct progress progress = {.on = cli->interactive};
    if (!setup_folder(cli, error) || !setup_file(cli, error))
        return false;
    const struct store_heard heard = {.tell = check_tell, .arg = &progress};
    json_t *findings = engine_verify(&cli->settings, &heard, error);
    progress_end(&progress);
    bool fine = findings && findings_print(cli, findings, error);
    json_decref(findings);
    return fine;
}

static bool check_run(struct cli *cli, const struct flags *flags, struct error *error) {
    if (!setup_outside(cli, flags, error))
        return false;
    if (flags_has(flags, "--store"))
        return check_store(cli, error);
    return setup_needs_folder(cli, error) && setup_folder(cli, error) &&
           folder_check(cli, flags_has(flags, "--all"), error);
}

static const struct flag check_flags[] = {
    {"--store", "[URL]", "check the store instead of the folder"},
    {"--all", NULL, "every stock handler, too"},
    {0},
};

const struct cli_command check_commands[] = {
    {"check", "[DIR] [--all] [--store [URL]]", "load a script folder and run nothing",
     "Shows every definition and schedule, and every problem with file and line; exit status 1 if\n"
     "there is any.\n"
     "With --store: reads the whole store; exit status 65 if anything in it is wrong.",
     check_flags, 0, 1, false, true, check_run},
    {0},
};
