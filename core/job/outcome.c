#include "job/outcome.h"
#include "base/json.h"
#include <stdlib.h>
#include <string.h>

const struct outcome_traits outcome_traits[] = {
    [OUTCOME_SUCCESS] = {"successful", .ends = true, .keeps = true, .counts = true},
    [OUTCOME_FAILURE] = {"failed", .counts = true, .fails = true},
    [OUTCOME_SNOOZE] = {"snoozed", .keeps = true},
    [OUTCOME_CANCELLED] = {"cancelled", .ends = true, .counts = true},
    [OUTCOME_RETURNED] = {"returned", .counts = true},
    [OUTCOME_CONFLICT] = {"conflict", .fails = true},
    [OUTCOME_SKIPPED] = {"skipped", .ends = true, .keeps = true, .counts = true},
};

struct outcome *outcome_new(struct job *job, enum outcome_kind kind) {
    struct outcome *outcome = calloc(1, sizeof *outcome);
    if (!outcome)
        return NULL;
    outcome->job = job;
    outcome->kind = kind;
    outcome->started = outcome->due = TIME_NONE;
    outcome->ended = outcome->ended_by = TIME_NONE;
    outcome->retries = job->retries;
    outcome->took = -1;
    return outcome;
}

char *outcome_lines_text(const struct outcome_line *line) {
    json_t *list = line ? json_array() : NULL;
    for (; list && line; line = line->next)
        json_array_append_new(list, json_pack("[Is]", (json_int_t)line->at, line->text));
    char *text = list ? json_write(list, NULL) : NULL;
    json_decref(list);
    return text;
}

struct outcome_line *outcome_lines_read(const char *text) {
    struct outcome_line *first = NULL, **end = &first;
    json_t *list = text ? json_loads(text, 0, NULL) : NULL, *entry;
    size_t i;
    json_array_foreach(list, i, entry) {
        const char *said = json_string_value(json_array_get(entry, 1));
        struct outcome_line *line = said ? calloc(1, sizeof *line) : NULL;
        if (!line)
            break;
        *line = (struct outcome_line){.at = json_integer_value(json_array_get(entry, 0)),
                                      .text = strdup(said)};
        *end = line;
        end = &line->next;
    }
    json_decref(list);
    return first;
}

void outcome_lines_free(struct outcome_line *line) {
    while (line) {
        struct outcome_line *next = line->next;
        free(line->text);
        free(line);
        line = next;
    }
}

void outcome_forget(struct outcome *outcome) {
    unit_free(outcome->unit);
    job_spec_free_list(outcome->created);
    json_decref(outcome->effects);
    outcome->unit = NULL;
    outcome->created = NULL;
    outcome->effects = NULL;
}

void outcome_free(struct outcome *outcome) {
    if (!outcome)
        return;
    outcome_forget(outcome);
    job_free(outcome->job);
    job_free_list(outcome->follows);
    outcome_lines_free(outcome->lines);
    job_free(outcome->newer);
    free(outcome->message);
    free(outcome->stack);
    free(outcome->failed_activity);
    free(outcome->result);
    free(outcome->warning);
    free(outcome->stuck);
    free(outcome);
}

void outcome_free_list(struct outcome *outcome) {
    while (outcome) {
        struct outcome *next = outcome->next;
        outcome_free(outcome);
        outcome = next;
    }
}

/* Nothing runs before its delay is over, also if this clock is late and that of another executor,
 * which takes the job then, is not. */
void outcome_end(struct outcome *outcome, const struct clock *clock) {
    const time_ms lag = clock_lag(clock); /* first: it mostly shrinks, as the clock gets better */
    outcome->ended = clock_now(clock);
    outcome->ended_by = outcome->ended + lag;
}

void outcome_put_off(struct outcome *outcome) {
    time_ms earliest = outcome->ended_by + outcome->retry_after;
    if (outcome->retry_after > 0 && outcome->retries > 0 && outcome->due < earliest)
        outcome->due = earliest;
}

void outcome_decide(struct outcome *outcome, time_ms wait, time_ms at) {
    int32_t left = outcome->job->retries - 1;
    if (outcome->decided)
        return;
    outcome->decided = true;
    at = at < outcome->ended_by ? outcome->ended_by : at;
    outcome->retries = outcome->permanent || left < 0 ? 0 : left;
    outcome->due =
        wait > 0 && outcome->retries > 0 ? at + wait : TIME_NONE; /* the dead wait for none */
    outcome_put_off(outcome);
}

bool outcome_has_walked(const struct outcome *outcome) {
    bool walked = outcome->kind == OUTCOME_SUCCESS || outcome->kind == OUTCOME_SKIPPED;
    return walked && outcome->unit;
}

bool outcome_may_follow(const struct outcome *outcome) {
    int64_t lane = outcome->job->lane_id;
    if (!lane || outcome->followed >= FOLLOW_MAX || !outcome_traits[outcome->kind].keeps)
        return false;
    for (const struct job_spec *spec = outcome->created; spec; spec = spec->next)
        if (spec->job.lane_id == lane &&
            (spec->job.due == TIME_NONE || spec->job.due <= outcome->ended))
            return true;
    return false;
}

const char *failure_reason_name(enum failure_reason reason) {
    static const char *const names[] = {
        [REASON_ERROR] = "error",
        [REASON_TIMEOUT] = "timeout",
        [REASON_MEMORY] = "memory",
        [REASON_WORKER_DIED] = "workerDied",
        [REASON_BUSINESS_ERROR] = "businessError",
    };
    return names[reason];
}
