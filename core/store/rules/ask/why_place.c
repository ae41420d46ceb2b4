#include "store/rules/ask/why_place.h"
#include "base/json.h"
#include "store/rules/ask/ask.h"
#include "store/rules/process/frame.h"
#include <string.h>

enum { PLACES_MAX = 100 };

struct looker {
    struct store *store;
    int64_t instance;
    time_ms now;
    const json_t *facts;
    json_t *places; /* with what watches for events */
    struct text text;
    struct error *error;
};

static const char *text_of(const json_t *row, const char *key) {
    return json_string_value(json_object_get(row, key));
}

static int64_t number_of(const json_t *row, const char *key) {
    return json_integer_value(json_object_get(row, key));
}

/* The row of one list of the facts that is of this token; NULL: none. */
static const json_t *fact_of(const struct looker *looker, const char *list, int64_t token) {
    size_t i;
    const json_t *row;
    json_array_foreach(json_object_get(looker->facts, list), i, row) {
        if (number_of(row, "token") == token)
            return row;
    }
    return NULL;
}

/* ---- jobs ---- */

/* The job that a token waits for, and its date. */
static enum answer job_of(struct looker *looker, int64_t token, int64_t *id, time_ms *due) {
    struct row *row = db_query(&looker->store->db, looker->error,
                               "SELECT id, due FROM job WHERE instance_id=?1 AND execution=?2"
                               " ORDER BY id LIMIT 1",
                               "ii", looker->instance, token);
    enum answer step = db_step(&looker->store->db, row, looker->error);
    if (step == YES) {
        *id = row_int(row, 0);
        *due = row_time(row, 1);
        row_done(row);
    }
    return step;
}

static bool say_stuck(struct looker *looker) {
    text_add(&looker->text, " is stuck: nothing moves it");
    return true;
}

static bool say_job(struct looker *looker, const json_t *place) {
    int64_t id = 0;
    time_ms due;
    enum answer found = job_of(looker, number_of(place, "token"), &id, &due);
    if (found != YES)
        return found == NO && say_stuck(looker);
    json_t *why = store_why(looker->store, id, looker->now, looker->error);
    int64_t turns = number_of(place, "count");
    if (turns > 1)
        text_add(&looker->text, ", %lld turns", (long long)turns);
    text_add(&looker->text, ": %s", why ? text_of(why, "text") : "");
    json_decref(why);
    return why != NULL;
}

/* ---- people, messages, other instances ---- */

static bool say_task(struct looker *looker, const json_t *place) {
    const json_t *task = fact_of(looker, "tasks", number_of(place, "token"));
    const char *assignee = text_of(task, "assignee"), *due = text_of(task, "due");
    if (!task)
        return say_stuck(looker);
    text_add(&looker->text, " waits for its user task %lld (%s%s%s)",
             (long long)number_of(task, "id"), assignee ? assignee : "nobody has it",
             due ? ", due " : "", due ? due : "");
    return true;
}

static bool say_message(struct looker *looker, int64_t token) {
    const json_t *row = fact_of(looker, "subscriptions", token);
    const char *key = text_of(row, "key");
    if (!row)
        return say_stuck(looker);
    text_add(&looker->text, " for message \"%s\"", text_of(row, "name"));
    if (key && *key)
        text_add(&looker->text, " with key \"%s\"", key);
    return true;
}

static bool say_received(struct looker *looker, const json_t *place) {
    if (!fact_of(looker, "subscriptions", number_of(place, "token")))
        return say_stuck(looker);
    text_add(&looker->text, " waits");
    return say_message(looker, number_of(place, "token"));
}

static bool say_call(struct looker *looker, const json_t *place) {
    text_add(&looker->text, " waits for the end of instance %lld",
             (long long)number_of(place, "more"));
    return true;
}

static bool say_trigger(struct looker *looker, const json_t *place) {
    (void)place;
    text_add(&looker->text, " waits to be triggered");
    return true;
}

static bool say_event(struct looker *looker, const json_t *place) {
    (void)place;
    text_add(&looker->text, " waits");
    return true;
}

static bool same_join(const json_t *one, const json_t *other) {
    return strcmp(text_of(other, "state"), "join") == 0 &&
           strcmp(text_of(one, "activity"), text_of(other, "activity")) == 0 &&
           number_of(one, "scope") == number_of(other, "scope");
}

static bool say_join(struct looker *looker, const json_t *place) {
    size_t i, count = 0;
    const json_t *other;
    json_array_foreach(looker->places, i, other) {
        count += same_join(place, other);
    }
    text_add(&looker->text, " waits for its other branches (%zu %s there)", count,
             count == 1 ? "is" : "are");
    return true;
}

/* ---- what watches beside ---- */

static bool is_watch(const json_t *place) {
    return strncmp(text_of(place, "state"), "on ", 3) == 0;
}

static bool say_watch(struct looker *looker, const json_t *watch) {
    char date[TIME_TEXT_SIZE];
    int64_t id, token = number_of(watch, "token");
    time_ms due = TIME_NONE;
    if (strcmp(text_of(watch, "state"), "on message") == 0)
        return say_message(looker, token);
    enum answer found = job_of(looker, token, &id, &due);
    if (found != YES)
        return found == NO && say_stuck(looker);
    time_format(due, date);
    text_add(&looker->text, " until %s", date);
    return true;
}

/* What may come instead: ", or until 2026-03-01T…". */
static bool say_watches(struct looker *looker, const json_t *place) {
    bool first = strcmp(text_of(place, "state"), "event") == 0, fine = true;
    size_t i;
    const json_t *watch;
    json_array_foreach(looker->places, i, watch) {
        if (!fine || !is_watch(watch) || number_of(watch, "scope") != number_of(place, "token"))
            continue;
        text_add(&looker->text, "%s", first ? "" : ", or");
        first = false;
        fine = say_watch(looker, watch);
    }
    return fine;
}

/* ---- sentences ---- */

static const struct {
    const char *state;
    bool (*say)(struct looker *looker, const json_t *place);
} states[] = {
    {"before", say_job},  {"after", say_job},        {"seed", say_job},        {"timer", say_job},
    {"task", say_task},   {"message", say_received}, {"trigger", say_trigger}, {"join", say_join},
    {"event", say_event}, {"call", say_call},
};

static bool say(struct looker *looker, const json_t *place) {
    const char *state = text_of(place, "state");
    text_add(&looker->text, "\"%s\"", text_of(place, "activity"));
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i].state, state) == 0)
            return states[i].say(looker, place) && say_watches(looker, place);
    return say_stuck(looker);
}

/* Of the tokens at one join the first speaks for all. */
static bool is_said(const struct looker *looker, const json_t *place) {
    size_t i;
    const json_t *other;
    if (is_watch(place))
        return true;
    json_array_foreach(looker->places, i, other) {
        if (other == place)
            return false;
        if (same_join(place, other) && strcmp(text_of(place, "state"), "join") == 0)
            return true;
    }
    return false;
}

static json_t *sentence(struct looker *looker, const json_t *place) {
    json_t *row = NULL;
    looker->text = (struct text){0};
    if (say(looker, place)) {
        row = json_pack("{sO sO sO ss}", "token", json_object_get(place, "token"), "activity",
                        json_object_get(place, "activity"), "state",
                        json_object_get(place, "state"), "text", looker->text.data);
        if (!row)
            error_no_memory(looker->error);
    }
    text_clear(&looker->text);
    return row;
}

static json_t *sentences(struct looker *looker) {
    json_t *list = json_array();
    size_t i;
    const json_t *place;
    json_array_foreach(looker->places, i, place) {
        if (json_array_size(list) >= PLACES_MAX || is_said(looker, place))
            continue;
        if (json_array_append_new(list, sentence(looker, place)) == 0)
            continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

json_t *why_places(struct store *store, const json_t *facts, int64_t instance, time_ms now,
                   struct error *error) {
    struct looker looker = {store, instance, now, facts, NULL, {0}, error};
    const char *frame = text_of(facts, "frame");
    if (!frame)
        return json_array();
    looker.places = frame_places(frame, error);
    json_t *list = looker.places ? sentences(&looker) : NULL;
    json_decref(looker.places);
    return list;
}
