#include "engine/process/handed_back.h"
#include "base/json.h"
#include "base/text.h"
#include "time/span.h"
#include <stdlib.h>
#include <string.h>

enum {
    KEYS_MAX = 10,
    LIST_MAX = 1000, /* lines, or jobs to create */
    LINE_MAX_BYTES = 4096
};

/* What a worker may say with each word. */
static const struct hand_words {
    const char *name;
    const char *keys[KEYS_MAX + 1];
} hands[] = {
    [HAND_COMPLETE] = {"complete",
                       {"id", "token", "outcome", "result", "variables", "create", "lines"}},
    [HAND_FAIL] = {"fail",
                   {"id", "token", "outcome", "message", "stack", "permanent", "retries", "in",
                    "lines"}},
    [HAND_ERROR] = {"error", {"id", "token", "outcome", "code", "message", "variables", "lines"}},
    [HAND_SNOOZE] = {"snooze", {"id", "token", "outcome", "in", "lines"}},
    [HAND_EXTEND] = {"extend", {"id", "token", "outcome", "lock"}},
    [HAND_RELEASE] = {"release", {"id", "token", "outcome"}},
    [HAND_PROGRESS] = {"progress", {"id", "token", "outcome", "fraction", "text", "lines"}},
};
enum { HANDS = sizeof hands / sizeof *hands };

/* ---- reading ---- */

static bool read_hand(struct handed_back *one, struct error *error) {
    static const char *const names[] = {"complete", "fail",    "error",    "snooze",
                                        "extend",   "release", "progress", NULL};
    const char *name = json_text(one->said, "outcome");
    for (size_t i = 0; name && i < HANDS; i++)
        if (strcmp(hands[i].name, name) == 0) {
            one->hand = (enum hand)i;
            return true;
        }
    if (!name)
        return json_refuse("outcome", json_object_get(one->said, "outcome"),
                           "complete, fail, error, snooze, extend, release or progress", error);
    return error_unknown(error, ERROR_INVALID, "unknown outcome", name, names, "expected");
}

/* The member, unless it is absent or null. */
static const json_t *member(const struct handed_back *one, const char *key) {
    const json_t *value = json_object_get(one->said, key);
    return json_is_null(value) ? NULL : value;
}

static bool read_number(const struct handed_back *one, const char *key, int64_t *number,
                        struct error *error) {
    const json_t *value = member(one, key);
    return (value && json_whole(value, 1, INT64_MAX, number)) ||
           json_refuse(key, value, "the number that came with the job", error);
}

static bool read_text(const struct handed_back *one, const char *key, bool needed,
                      struct error *error) {
    const json_t *value = member(one, key);
    return (!value && !needed) || (value && json_is_string(value)) ||
           json_refuse(key, value, "a text", error);
}

/* `needed`: more than nothing. */
static bool read_span(struct handed_back *one, const char *key, bool needed, struct error *error) {
    const json_t *value = member(one, key);
    if (!value && !needed)
        return true;
    if (!json_is_string(value))
        return json_refuse(key, value, "a span such as \"PT5M\"", error);
    return span_parse_ms(json_string_value(value), &one->span, error) &&
           (one->span > 0 || !needed || json_refuse(key, value, "more than nothing", error));
}

static bool read_failure(struct handed_back *one, struct error *error) {
    const json_t *retries = member(one, "retries"), *permanent = member(one, "permanent");
    one->permanent = json_is_true(permanent);
    if (retries && !json_whole(retries, 0, INT32_MAX, &one->retries))
        return json_refuse("retries", retries, "a whole number from 0", error);
    if (permanent && !json_is_boolean(permanent))
        return json_refuse("permanent", permanent, "true or false", error);
    return read_text(one, "message", false, error) && read_text(one, "stack", false, error) &&
           read_span(one, "in", false, error);
}

static bool read_variables(const struct handed_back *one, struct error *error) {
    const json_t *variables = member(one, "variables");
    return !variables || json_is_object(variables) ||
           json_refuse("variables", variables, "an object", error);
}

static bool read_fraction(struct handed_back *one, struct error *error) {
    const json_t *fraction = member(one, "fraction");
    one->fraction = fraction ? json_number_value(fraction) : -1;
    return !fraction || (json_is_number(fraction) && one->fraction >= 0 && one->fraction <= 1) ||
           json_refuse("fraction", fraction, "a number from 0 to 1", error);
}

static bool read_progress(struct handed_back *one, struct error *error) {
    if (!read_fraction(one, error) || !read_text(one, "text", false, error))
        return false;
    return one->fraction >= 0 || member(one, "lines") ||
           json_refuse("fraction", NULL, "a number from 0 to 1", error);
}

/* A list of things of one type. */
static bool read_list(const struct handed_back *one, const char *key, json_type type,
                      const char *expected, struct error *error) {
    const json_t *list = member(one, key), *entry;
    size_t i;
    bool fine = !list || (json_is_array(list) && json_array_size(list) <= LIST_MAX) ||
                (json_is_object(list) && !json_object_size(list)); /* an empty table of Lua */
    json_array_foreach(list, i, entry)
        fine = fine && json_typeof(entry) == type;
    return fine || json_refuse(key, list, expected, error);
}

static bool read_lists(const struct handed_back *one, struct error *error) {
    return read_list(one, "lines", JSON_STRING, "a list of at most 1000 texts", error) &&
           read_list(one, "create", JSON_OBJECT, "a list of at most 1000 jobs", error);
}

static bool read_rest(struct handed_back *one, struct error *error) {
    switch (one->hand) {
    case HAND_COMPLETE:
        return read_variables(one, error);
    case HAND_FAIL:
        return read_failure(one, error);
    case HAND_ERROR:
        return read_text(one, "code", true, error) && read_text(one, "message", false, error) &&
               read_variables(one, error);
    case HAND_SNOOZE:
        return read_span(one, "in", true, error);
    case HAND_EXTEND:
        return read_span(one, "lock", true, error);
    case HAND_RELEASE:
        return true;
    case HAND_PROGRESS:
        return read_progress(one, error);
    }
    return error_set(error, ERROR_FAILED, "no code reads it");
}

bool handed_back_read(struct handed_back *one, const json_t *entry, size_t n, struct error *error) {
    struct error reason = {0};
    one->said = entry;
    one->retries = -1;
    bool fine = json_is_object(entry)
                    ? read_hand(one, &reason) && json_keys(one->said, hands[one->hand].keys,
                                                           "unknown key", "expected", &reason)
                    : json_refuse("it", entry, "an object", &reason);
    fine = fine && read_number(one, "id", &one->id, &reason) &&
           read_number(one, "token", &one->token, &reason);
    fine = fine && read_rest(one, &reason) && read_lists(one, &reason);
    return fine || error_set(error, reason.code, "outcome %zu: %s", n, reason.text);
}

void handed_back_clear(struct handed_back *one) {
    outcome_free(one->outcome);
    one->outcome = NULL;
}

const char *handed_back_name(const struct handed_back *one) {
    return hands[one->hand].name;
}

bool handed_back_goes_on(const struct handed_back *one) {
    return one->hand == HAND_EXTEND || one->hand == HAND_PROGRESS;
}

bool handed_back_walks(const struct handed_back *one) {
    return one->outcome && one->outcome->job->instance_id &&
           (one->hand == HAND_COMPLETE || one->hand == HAND_ERROR);
}

/* ---- the outcome ---- */

static enum outcome_kind kind_of(enum hand hand) {
    switch (hand) {
    case HAND_COMPLETE:
        return OUTCOME_SUCCESS;
    case HAND_FAIL:
    case HAND_ERROR:
        return OUTCOME_FAILURE;
    case HAND_SNOOZE:
        return OUTCOME_SNOOZE;
    case HAND_EXTEND:
    case HAND_RELEASE:
    case HAND_PROGRESS:
        break;
    }
    return OUTCOME_RETURNED;
}

static bool keep_text(const struct handed_back *one, const char *key, const char *otherwise,
                      char **kept) {
    const json_t *value = member(one, key);
    const char *text = value ? json_string_value(value) : otherwise;
    *kept = text ? utf8_clean(text, strlen(text), JOB_STACK_MAX) : NULL;
    return *kept || !text;
}

/* "BPMN error NO_MONEY: the card is empty" */
static bool error_words(const struct handed_back *one, char **message) {
    struct text text = {0};
    const char *words = json_text(one->said, "message");
    text_add(&text, "BPMN error %s%s%s", json_text(one->said, "code"), words ? ": " : "",
             words ? words : "");
    *message = text.failed ? NULL : utf8_clean(text.data, text.size, JOB_STACK_MAX);
    text_clear(&text);
    return *message != NULL;
}

static bool fill_result(const struct handed_back *one, struct outcome *outcome) {
    const json_t *result = member(one, "result");
    outcome->result = result ? json_write(result, NULL) : NULL;
    return outcome->result || !result;
}

/* What the worker says of a failure goes before what the definition does. */
static bool fill_failure(const struct handed_back *one, struct outcome *outcome) {
    outcome->permanent = one->permanent || one->hand == HAND_ERROR;
    outcome->reason = one->hand == HAND_ERROR ? REASON_BUSINESS_ERROR : REASON_ERROR;
    if (one->hand == HAND_ERROR)
        return error_words(one, &outcome->message);
    outcome->retry_after = one->span;
    outcome->decided = one->retries >= 0;
    outcome->retries = outcome->decided ? (int32_t)one->retries : outcome->retries;
    if (outcome->decided && one->retries > 0 && one->span > 0)
        outcome->due = outcome->ended_by + one->span;
    return keep_text(one, "message", "the worker has failed", &outcome->message) &&
           keep_text(one, "stack", NULL, &outcome->stack);
}

static bool fill_lines(const struct handed_back *one, struct outcome *outcome) {
    struct outcome_line **end = &outcome->lines;
    const json_t *text;
    size_t i;
    json_array_foreach(member(one, "lines"), i, text) {
        struct outcome_line *line = *end = calloc(1, sizeof *line);
        if (!line)
            return false;
        line->at = outcome->ended;
        line->text = utf8_clean(json_string_value(text), json_string_length(text), LINE_MAX_BYTES);
        end = &line->next;
        if (!line->text)
            return false;
    }
    return true;
}

static bool fill(const struct handed_back *one, struct outcome *outcome) {
    if (!fill_lines(one, outcome))
        return false;
    if (outcome->kind == OUTCOME_SUCCESS)
        return fill_result(one, outcome);
    if (outcome->kind == OUTCOME_SNOOZE)
        outcome->due = outcome->ended_by + one->span;
    return outcome->kind != OUTCOME_FAILURE || fill_failure(one, outcome);
}

static bool decide(struct engine *engine, struct outcome *outcome, struct error *error) {
    struct generation *generation = NULL;
    const struct definition *definition = NULL;
    if (outcome->kind != OUTCOME_FAILURE || outcome->decided)
        return true;
    if (!engine_find(engine, outcome->job->handler, &generation, &definition, error))
        return false;
    if (generation)
        engine_decide(engine, generation, outcome);
    return true;
}

/* False: one of them cannot be created, as `refused` says. */
static bool draft(struct handed_back *one, struct engine *engine, struct outcome *outcome) {
    struct job_spec **end = &outcome->created;
    struct error why = {0};
    json_t *object;
    size_t i;
    json_array_foreach(json_unchanged(member(one, "create")), i, object) {
        const struct engine_spec said = {.object = object, .creator = outcome->job};
        *end = engine_draft(engine, &said, &why);
        if (!*end)
            return error_set(&one->refused, why.code, "create %zu: %s", i + 1, why.text);
        end = &(*end)->next;
    }
    return true;
}

bool handed_back_make(struct handed_back *one, struct engine *engine, struct job *job,
                      struct error *error) {
    struct outcome *outcome = outcome_new(job, kind_of(one->hand));
    one->outcome = outcome;
    if (!outcome) {
        job_free(job);
        return error_no_memory(error);
    }
    outcome_end(outcome, engine_clock(engine));
    outcome->lane_ends = true;
    outcome->lane_token = job->token;
    if (!fill(one, outcome))
        return error_no_memory(error);
    if (!draft(one, engine, outcome)) {
        handed_back_clear(one);
        return true;
    }
    return handed_back_walks(one) || decide(engine, outcome, error);
}
