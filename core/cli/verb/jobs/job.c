#include "cli/list.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "run/stepper.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct flag list_flags[] = {LIST_PAGE_FLAGS, FILTERS_OF(ASK_JOBS), {0}};

/* { fraction, text } of those that run as "40% 2 of 5 files". */
static bool progress_write(const struct cli *cli, const struct list *list, json_t *rows,
                           struct error *error) {
    size_t i;
    (void)list;
    (void)error;
    json_t *row;
    json_array_foreach(rows, i, row) {
        const json_t *progress = json_object_get(row, "progress");
        const char *text = json_string_value(json_object_get(progress, "text"));
        char line[256];
        if (cli->json || !json_is_object(progress))
            continue;
        snprintf(line, sizeof line, "%.0f%%",
                 100 * json_number_value(json_object_get(progress, "fraction")));
        json_t *whole = json_sprintf("%s%s%s", line, text ? " " : "", text ? text : "");
        json_object_set_new(row, "progress", whole ? whole : json_null());
    }
    return true;
}

static const struct listing listing = {ASK_JOBS, "jobs", .write = progress_write, .counted = true};

/* The job that the first argument names. NULL: error. */
static json_t *job_read(struct cli *cli, const struct flags *flags, int64_t *id,
                        struct error *error) {
    if (!flags_number("id", flags->words[0], 1, INT64_MAX, id, error))
        return NULL;
    return setup_ask(cli, flags, ASK_JOB, json_pack("{sI}", "id", (json_int_t)*id), error);
}

static bool job_show_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id;
    return output_object(cli->json, job_read(cli, flags, &id, error), error);
}

static bool stack_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id;
    json_t *job = job_read(cli, flags, &id, error);
    json_t *stack = json_object_get(job, "stack");
    bool fine = job != NULL;
    if (fine && cli->json)
        fine = output_json(json_pack("{sO?}", "stack", stack), error);
    else if (fine && json_is_null(stack))
        fine = error_set(error, ERROR_NOT_FOUND, "job %lld has not failed", (long long)id);
    else if (fine) {
        char *text = output_value(stack, true);
        output_add("%s\n", text ? text : "");
        free(text);
    }
    json_decref(job);
    return fine;
}

/* ---- by hand ---- */

static bool execute_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id;
    json_t *result = NULL;
    if (!flags_number("id", flags->words[0], 1, INT64_MAX, &id, error))
        return false;
    struct engine *engine = setup_engine(cli, flags, STORE_WRITE, true, error);
    struct stepper *stepper = engine ? stepper_new(engine, error) : NULL;
    bool fine =
        stepper && stepper_execute(stepper, id, flags_has(flags, "--force"), &result, error);
    stepper_free(stepper);
    engine_close(engine);
    if (fine && cli->json)
        return output_json(json_pack("{so}", "result", result ? result : json_null()), error);
    char *text = fine ? output_value(result, true) : NULL;
    if (text && text[0])
        output_add("%s\n", text);
    free(text);
    json_decref(result);
    return fine;
}

static const struct flag execute_flags[] = {
    {"--force", NULL, "even while another job of its lane runs"},
    {0},
};

const struct cli_command job_commands[] = {
    {"job list", "[--state STATE] [--handler NAME] [--limit N] …", "list jobs",
     "Filters are joined by and; a list, or a flag given twice, means any of them.", list_flags, 0,
     0, false, false, list_run, &listing},
    {"job show", "ID", "show one job with its stack text", "", NULL, 1, 1, false, false,
     job_show_run},
    {"job stack", "ID", "print the stack text of a job's last failure", "", NULL, 1, 1, false,
     false, stack_run},
    {"job execute", "ID [--force]", "run one job by hand, here",
     "Ignores due date, suspension, lock and retries. A failure counts like any other.",
     execute_flags, 1, 1, false, false, execute_run},
    {0},
};
