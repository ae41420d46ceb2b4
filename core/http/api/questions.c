#include "http/api/questions.h"
#include "base/json.h"
#include "http/api/figures.h"
#include "http/api/page.h"
#include "http/api/sight.h"
#include "job/store_url.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DATES = 5, DATES_MOST = 1000 };

/* The filter that the path stands for: route->key with its id or its name. */
static bool path_filter(struct call *call, json_t *filters, struct error *error) {
    const struct place *place = &call->place;
    if (!call->route->key)
        return true;
    return json_put(filters, call->route->key,
                    place->name ? json_string(place->name) : json_integer(place->id)) ||
           error_no_memory(error);
}

/* A page of rows; the caller's. */
static json_t *list(struct call *call, enum ask_kind kind, struct error *error) {
    struct page page = {0};
    json_t *answer = NULL;
    if (path_filter(call, call->filters, error) &&
        sight_filters(call, kind, call->filters, error) &&
        page_read(&page, call, kind, call->filters, error))
        answer = engine_ask(call->engine, kind == ASK_LOG ? ASK_WALK : kind, page.asked, error);
    if (answer)
        sight_hide(call, answer);
    if (answer)
        answer = page_answer(&page, call, answer, error);
    page_clear(&page);
    return answer;
}

/* Answers what was asked, unless that is an error. Takes it over. */
static bool told(struct call *call, json_t *answer, struct error *error) {
    if (!answer)
        return false;
    sight_hide(call, answer);
    return call_answer(call, 200, answer, error);
}

bool answer_list(struct call *call, struct error *error) {
    json_t *answer = list(call, call->route->asks, error);
    return answer && call_answer(call, 200, answer, error);
}

bool answer_all(struct call *call, struct error *error) {
    if (!sight_whole(call, error))
        return false;
    json_t *rows = engine_ask(call->engine, call->route->asks, call->options, error);
    return rows && told(call, json_pack("{so sn}", "items", rows, "next"), error);
}

bool answer_one_of(struct call *call, struct error *error) {
    json_t *rows = list(call, call->route->asks, error);
    json_t *row = json_incref(json_array_get(json_object_get(rows, "items"), 0));
    bool found = row != NULL;
    if (rows && !found && call->place.name)
        error_set(error, ERROR_NOT_FOUND, "there is no \"%.300s\"", call->place.name);
    else if (rows && !found)
        error_set(error, ERROR_NOT_FOUND, "there is none of the id %" PRId64, call->place.id);
    json_decref(rows);
    return found && call_answer(call, 200, row, error);
}

/* Of jobs and instances it must be in sight; of all else the caller must see all. */
static bool sees_thing(struct call *call, struct error *error) {
    const enum ask_kind kind = call->route->asks;
    if (kind == ASK_JOB || kind == ASK_WHY)
        return sight_job(call, call->place.id, error);
    if (kind == ASK_INSTANCE || kind == ASK_WHY_INSTANCE)
        return sight_instance(call, call->place.id, error);
    return sight_whole(call, error);
}

/* What the kind answers for the id of the path. */
static json_t *thing(struct call *call, struct error *error) {
    if (!sees_thing(call, error))
        return NULL;
    json_t *question = json_pack("{sI}", "id", (json_int_t)call->place.id);
    json_t *answer = question ? engine_ask(call->engine, call->route->asks, question, error) : NULL;
    json_decref(question);
    return answer;
}

bool answer_thing(struct call *call, struct error *error) {
    return told(call, thing(call, error), error);
}

bool answer_count(struct call *call, struct error *error) {
    if (!sight_filters(call, ASK_JOBS, call->filters, error))
        return false;
    json_t *question = json_pack("{sO}", "filters", call->filters);
    json_t *count = question ? engine_ask(call->engine, ASK_COUNT, question, error) : NULL;
    json_decref(question);
    return count && call_answer(call, 200, json_pack("{so}", "count", count), error);
}

/* The last row that the log has of a job which has ended. NULL: error, as before where it has none.
 */
static json_t *job_ended(struct call *call, struct error *error) {
    const struct error before = *error;
    json_t *question =
        json_pack("{s{sI s[ssss]} si}", "filters", "job", (json_int_t)call->place.id, "outcome",
                  "successful", "deleted", "cancelled", "skipped", "limit", 1);
    json_t *rows = question ? engine_ask(call->engine, ASK_LOG, question, error) : NULL;
    json_t *row = json_incref(json_array_get(rows, 0));
    json_decref(rows);
    json_decref(question);
    if (row && sight_sees(call, row) && json_put_text(row, "state", "ended"))
        return row;
    json_decref(row);
    *error = before;
    return NULL;
}

/* While it lives the door asks again. */
static void park_for_end(struct exchange *exchange, const json_t *job, time_ms wait) {
    const char *state = json_text(job, "state");
    const time_ms until = exchange->began / 1000 + wait;
    exchange->looks =
        until > clock_monotonic() && strcmp(state, "dead") != 0 && strcmp(state, "ended") != 0;
    exchange->parks_until = exchange->looks ? until : 0;
}

bool answer_job(struct call *call, struct error *error) {
    char etag[64];
    time_ms wait = 0;
    if (!call_wait(json_object_get(call->options, "wait"), &wait, error))
        return false;
    json_t *job = thing(call, error);
    if (!job && wait && error->code == ERROR_NOT_FOUND)
        job = job_ended(call, error);
    if (job && wait)
        park_for_end(call->exchange, job, wait);
    snprintf(etag, sizeof etag, "\"%" PRId64 "-%" PRId64 "\"", json_int(job, "rev"),
             json_int(job, "attempt"));
    call->exchange->etag = job ? strdup(etag) : NULL;
    return told(call, job, error);
}

bool answer_stack(struct call *call, struct error *error) {
    json_t *job = thing(call, error);
    json_t *stack = json_incref(json_object_get(job, "stack"));
    const bool found = job != NULL;
    json_decref(job);
    return found &&
           call_answer(call, 200, json_pack("{so}", "stack", stack ? stack : json_null()), error);
}

bool answer_variables(struct call *call, struct error *error) {
    json_t *instance = thing(call, error);
    json_t *variables = json_incref(json_object_get(instance, "variables"));
    const bool found = instance != NULL;
    json_decref(instance);
    return found && call_answer(call, 200, variables ? variables : json_object(), error);
}

bool answer_dates(struct call *call, struct error *error) {
    const json_t *given = json_object_get(call->options, "count");
    int64_t count = DATES;
    if (!sight_whole(call, error))
        return false;
    if (given && !json_whole(given, 1, DATES_MOST, &count))
        return json_refuse("count", given, "a whole number from 1 to 1000", error);
    json_t *question = json_pack("{ss sI}", "name", call->place.name, "count", (json_int_t)count);
    json_t *rows = question ? engine_ask(call->engine, ASK_DATES, question, error) : NULL;
    json_decref(question);
    return rows && call_answer(call, 200, json_pack("{so sn}", "items", rows, "next"), error);
}

/* No password of a server leaves the program. */
static bool hide_secrets(json_t *list) {
    static const char *const keys[] = {"value", "text"};
    char shown[STORE_SHOWN];
    size_t i;
    json_t *row;
    bool done = true;
    json_array_foreach(list, i, row)
        for (size_t at = 0; at < 2; at++) {
            const char *text = json_text(row, keys[at]);
            if (text && store_url_server(text))
                done = done && json_put_text(row, keys[at], store_url_show(text, shown));
        }
    return done;
}

bool answer_settings(struct call *call, struct error *error) {
    json_t *list = settings_to_json(engine_settings(call->engine));
    if (!list || !hide_secrets(list) || !sight_whole(call, error)) {
        json_decref(list);
        return list ? false : error_no_memory(error);
    }
    return call_answer(call, 200, json_pack("{so sn}", "items", list, "next"), error);
}

bool answer_metrics(struct call *call, struct error *error) {
    const enum metrics_form form = metrics_form(exchange_header(call->exchange, "accept"));
    struct text out = {0};
    if (!sight_whole(call, error) || !figures_write(call->figures, call->engine, &out, form, error))
        return false;
    if (out.failed)
        text_clear(&out);
    return call_answer_text(call, 200, metrics_type(form), out.data, error);
}

bool answer_picture(struct call *call, struct error *error) {
    const char *form = json_text(call->options, "form");
    const bool drawn = !form || strcmp(form, "drawing") == 0;
    const bool seen =
        call->place.id ? sight_instance(call, call->place.id, error) : sight_whole(call, error);
    json_t *question = seen ? json_pack("{ss sO* sO*}", "form", drawn ? "drawing" : form, "heat",
                                        json_object_get(call->options, "heat"), "version",
                                        json_object_get(call->options, "version"))
                            : NULL;
    if (!question)
        return false;
    bool put = call->place.id ? json_put(question, "instance", json_integer(call->place.id))
                              : json_put_text(question, "process", call->place.name);
    json_t *answer = put ? engine_picture(call->engine, question, error) : NULL;
    json_decref(question);
    if (!json_is_string(answer))
        return answer && call_answer(call, 200, answer, error);
    char *text = strdup(json_string_value(answer));
    json_decref(answer);
    return call_answer_text(call, 200, strcmp(form, "svg") == 0 ? "image/svg+xml" : "text/plain",
                            text, error);
}
