/* job_wait.c - waiting until jobs have ended. */
#include "cli/wait/job_wait.h"
#include "base/json.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/wait/executor.h"
#include "time/span.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_EVERY 100 /* ms */
#define IDS_MAX 10000

static const struct flag wait_flags[] = {
    {"--timeout", "SPAN", "give up after this span (30s, 5m, PT5M, or seconds)"},
    {0},
};

struct wait {
    const struct cli *cli;
    struct engine *engine;
    json_t *pending; /* ids */
    json_t *ended;   /* what is to be said of each of the others */
    bool quiet;      /* nothing is printed */
    bool looked;     /* all of them were there once */
    int bad;         /* how many have not succeeded */
    int64_t worst;   /* the first of those */
};

/* ---- what is asked ---- */

bool job_wait_until(const struct flags *flags, time_ms *until, struct error *error) {
    const char *text = flags_text(flags, "--timeout");
    struct error why = {0};
    time_ms span = 0;
    *until = TIME_NEVER;
    if (!text)
        return true;
    json_t *seconds = json_read(text, strlen(text), "", NULL);
    double number = json_is_number(seconds) ? json_number_value(seconds) : -1;
    json_decref(seconds);
    if (number >= 0 && number < 1e9)
        span = (time_ms)(number * 1000);
    else if (!span_parse_ms(text, &span, &why))
        return error_set(error, ERROR_USAGE, "--timeout: %s", why.text);
    *until = time_add(clock_monotonic(), span);
    return true;
}

static json_t *ids_read(const struct flags *flags, struct error *error) {
    json_t *ids = json_array();
    if (flags->word_count > IDS_MAX)
        error_set(error, ERROR_USAGE, "%d ids (expected at most %d)", flags->word_count, IDS_MAX);
    bool fine = ids && flags->word_count <= IDS_MAX;
    for (int i = 0; fine && i < flags->word_count; i++) {
        int64_t id;
        fine = flags_number("id", flags->words[i], 1, INT64_MAX, &id, error) &&
               (json_array_append_new(ids, json_integer(id)) == 0 || error_no_memory(error));
    }
    return json_kept(ids, fine);
}

/* ---- looking ---- */

static bool is_text(const json_t *object, const char *key, const char *text) {
    const char *is = json_string_value(json_object_get(object, key));
    return is && strcmp(is, text) == 0;
}

/* The states of those that are there, by their ids. NULL: error. */
static json_t *states(const struct wait *wait, struct error *error) {
    json_t *question =
        json_pack("{s{sO},si}", "filters", "id", wait->pending, "limit", (int)IDS_MAX);
    json_t *found = json_object(), *job;
    json_t *jobs = engine_ask_of(wait->engine, ASK_JOBS, question, error);
    size_t i;
    json_array_foreach(jobs, i, job) {
        char key[24];
        snprintf(key, sizeof key, "%lld",
                 (long long)json_integer_value(json_object_get(job, "id")));
        json_object_set(found, key, json_object_get(job, "state"));
    }
    json_decref(jobs);
    return json_kept(found, jobs);
}

static bool lives(const json_t *states, int64_t id) {
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)id);
    const char *state = json_string_value(json_object_get(states, key));
    return state && strcmp(state, "dead") != 0;
}

/* What became of it, as `job why` tells it. NULL: error. */
static json_t *ending(const struct wait *wait, int64_t id, struct error *error) {
    json_t *answer = engine_ask_id(wait->engine, ASK_WHY, id, error);
    if (!answer && wait->looked && error->code == ERROR_NOT_FOUND)
        error_set(error, ERROR_FAILED,
                  "job %lld is gone, and the store keeps no history of it (setting history:"
                  " expected \"full\")",
                  (long long)id);
    return answer;
}

static bool wait_tell(struct wait *wait, int64_t id, const json_t *answer, struct error *error) {
    bool fine = is_text(answer, "outcome", "successful") || is_text(answer, "outcome", "skipped");
    if (!fine && wait->bad++ == 0)
        wait->worst = id;
    if (wait->cli->json || wait->quiet)
        return true;
    char *text = output_value(json_object_get(answer, "text"), false);
    if (!text)
        return error_no_memory(error);
    output_add("%s\n", text);
    free(text);
    return true;
}

/* One that lives has been given retries since, and goes on. */
static bool settle(struct wait *wait, int64_t id, json_t *left, struct error *error) {
    json_t *answer = ending(wait, id, error);
    bool over = is_text(answer, "state", "ended") || is_text(answer, "state", "dead");
    bool fine = answer && (over ? wait_tell(wait, id, answer, error) &&
                                      json_array_append(wait->ended, answer) == 0
                                : json_array_append_new(left, json_integer(id)) == 0);
    json_decref(answer);
    return fine;
}

/* What is over leaves `pending`. */
static bool look(struct wait *wait, struct error *error) {
    json_t *found = states(wait, error), *left = json_array(), *id;
    bool fine = found && left;
    size_t i;
    json_array_foreach(wait->pending, i, id) {
        bool living = lives(found, json_integer_value(id));
        fine = fine && (living ? json_array_append(left, id) == 0
                               : settle(wait, json_integer_value(id), left, error));
    }
    wait->looked = true;
    json_decref(found);
    json_decref(wait->pending);
    wait->pending = left;
    return fine;
}

/* ---- waiting ---- */

static bool wait_all(struct wait *wait, time_ms until, struct error *error) {
    for (bool said = false; look(wait, error); said = true) {
        size_t count = json_array_size(wait->pending);
        if (count == 0)
            return true;
        if (!said)
            executors_none_say(wait->cli, wait->engine);
        if (clock_monotonic() >= until)
            return error_set(error, ERROR_FAILED, "time is up: %zu job%s not ended, job %lld first",
                             count, count == 1 ? " has" : "s have",
                             (long long)json_integer_value(json_array_get(wait->pending, 0)));
        poll(NULL, 0, LOOK_EVERY);
    }
    return false;
}

/* Of the run that has succeeded. NULL: none. */
static json_t *result_of(struct engine *engine, int64_t id) {
    struct error ignored = {0};
    json_t *question = json_pack("{s{sI ss} si}", "filters", "job", (json_int_t)id, "outcome",
                                 "successful", "limit", 1);
    json_t *rows = engine_ask_of(engine, ASK_LOG, question, &ignored);
    json_t *result = json_incref(json_object_get(json_array_get(rows, 0), "result"));
    json_decref(rows);
    return result;
}

bool job_wait_one(const struct cli *cli, struct engine *engine, int64_t id, time_ms until,
                  json_t **result, struct error *error) {
    struct wait wait = {.cli = cli,
                        .engine = engine,
                        .ended = json_array(),
                        .pending = json_pack("[I]", (json_int_t)id),
                        .quiet = true,
                        .looked = true};
    bool fine = wait.pending && wait.ended && wait_all(&wait, until, error);
    const json_t *ending = json_array_get(wait.ended, 0);
    if (fine && !is_text(ending, "outcome", "successful"))
        fine = error_set(error, ERROR_FAILED, "%s", json_text(ending, "text"));
    *result = fine ? result_of(engine, id) : NULL;
    json_decref(wait.pending);
    json_decref(wait.ended);
    return fine;
}

static bool verdict(const struct wait *wait, struct error *error) {
    if (wait->bad == 0)
        return true;
    size_t count = json_array_size(wait->ended);
    if (count == 1)
        return error_set(error, ERROR_FAILED, "job %lld has not succeeded", (long long)wait->worst);
    return error_set(error, ERROR_FAILED, "%d of %zu jobs have not succeeded, job %lld first",
                     wait->bad, count, (long long)wait->worst);
}

static bool wait_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct wait wait = {.cli = cli, .ended = json_array()};
    time_ms until;
    bool fine = job_wait_until(flags, &until, error) && (wait.pending = ids_read(flags, error)) &&
                (wait.engine = setup_reader(cli, flags, error));
    fine = fine && wait_all(&wait, until, error);
    engine_close(wait.engine);
    json_decref(wait.pending);
    if (fine && cli->json)
        fine = output_json(json_incref(wait.ended), error);
    fine = fine && verdict(&wait, error);
    json_decref(wait.ended);
    return fine;
}

const struct cli_command wait_commands[] = {
    {"job wait", "ID… [--timeout SPAN]", "wait until jobs have ended",
     "Ends with 0 if all have succeeded, with 1 if one has died, was deleted or cancelled, or if "
     "the time is up. A dead job has ended.",
     wait_flags, 1, -1, false, false, wait_run},
    {0},
};
