#include "store/rules/ask/why_place.h"
#include "base/json.h"
#include "store/rules/ask/turns.h"
#include "store/rules/ask/why_condition.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/record/frame.h"
#include <string.h>

enum { PLACES_MAX = 100, NAMES_MAX = 5 };

struct looker {
    struct store *store;
    int64_t instance;
    time_ms now;
    const json_t *facts;
    json_t *places; /* with what watches for events */
    json_t *conditions;
    struct text text;
    json_t *row; /* the sentence's facts */
    struct error *error;
};

/* The row of one list of the facts that is of this token; NULL: none. */
static const json_t *fact_of(const struct looker *looker, const char *list, int64_t token) {
    size_t i;
    const json_t *row;
    json_array_foreach(json_object_get(looker->facts, list), i, row) {
        if (json_int(row, "token") == token)
            return row;
    }
    return NULL;
}

/* ---- jobs ---- */

/* The job that a token waits for, and its date. */
static enum answer job_of(struct looker *looker, int64_t token, int64_t *id, time_ms *due) {
    return db_read(&looker->store->db, looker->error,
                   "SELECT id, due FROM job WHERE instance_id=?1 AND execution=?2"
                   " ORDER BY id LIMIT 1",
                   "iT<ii", id, due, looker->instance, token);
}

static bool say_stuck(struct looker *looker) {
    text_add(&looker->text, " is stuck: nothing moves it");
    return json_put(looker->row, "stuck", json_true());
}

/* What a job that has failed has left. */
static bool say_retries(struct looker *looker, const json_t *why, int64_t id) {
    int64_t left = 0;
    const char *reason = json_text(why, "reason");
    if (!json_put(looker->row, "job", json_integer(id)) ||
        !json_put_text(looker->row, "reason", reason) || strcmp(reason, "retry") != 0)
        return true;
    if (db_value(&looker->store->db, looker->error, &left, "SELECT retries FROM job WHERE id=?1",
                 "i", id) == FAILED)
        return false;
    text_add(&looker->text, " (%lld %s left)", (long long)left, left == 1 ? "retry" : "retries");
    return true;
}

static bool say_job(struct looker *looker, const json_t *place) {
    int64_t id = 0;
    time_ms due;
    enum answer found = job_of(looker, json_int(place, "token"), &id, &due);
    if (found != YES)
        return found == NO && say_stuck(looker);
    json_t *why = store_why(looker->store, id, looker->now, looker->error);
    int64_t turns = json_int(place, "count");
    if (turns > 1)
        text_add(&looker->text, ", %lld turns", (long long)turns);
    text_add(&looker->text, ": %s", why ? json_text(why, "text") : "");
    bool done = why && say_retries(looker, why, id);
    json_decref(why);
    return done;
}

/* ---- people, messages, other instances ---- */

/* "; users ann, bob; groups sales" */
static void say_candidates(struct looker *looker, const json_t *task) {
    static const char *const kinds[] = {"users", "groups"};
    const json_t *name;
    size_t i;
    for (size_t kind = 0; kind < 2; kind++)
        json_array_foreach(json_object_get(json_object_get(task, "candidates"), kinds[kind]), i,
                           name) {
            text_add(&looker->text, "%s%s %s", i ? "," : "; ", i ? "" : kinds[kind],
                     json_string_value(name));
        }
}

static bool say_task(struct looker *looker, const json_t *place) {
    const json_t *task = fact_of(looker, "tasks", json_int(place, "token"));
    const char *assignee = json_text(task, "assignee"), *due = json_text(task, "due");
    if (!task)
        return say_stuck(looker);
    text_add(&looker->text, " waits for its user task %lld (%s", (long long)json_int(task, "id"),
             assignee ? assignee : "nobody has it");
    if (!assignee)
        say_candidates(looker, task);
    text_add(&looker->text, "%s%s)", due ? ", due " : "", due ? due : "");
    return json_put(looker->row, "task", json_incref(json_object_get(task, "id")));
}

static bool say_subscribed(struct looker *looker, int64_t token) {
    const json_t *row = fact_of(looker, "subscriptions", token);
    const char *key = json_text(row, "key");
    if (!row)
        return say_stuck(looker);
    text_add(&looker->text, " for %s \"%s\"", json_text(row, "kind"), json_text(row, "name"));
    if (key && *key)
        text_add(&looker->text, " with key \"%s\"", key);
    return true;
}

static bool say_received(struct looker *looker, const json_t *place) {
    if (!fact_of(looker, "subscriptions", json_int(place, "token")))
        return say_stuck(looker);
    text_add(&looker->text, " waits");
    return say_subscribed(looker, json_int(place, "token"));
}

static bool say_call(struct looker *looker, const json_t *place) {
    size_t i;
    const json_t *row, *called = NULL;
    json_array_foreach(json_object_get(looker->facts, "called"), i, row) {
        if (json_int(row, "id") == json_int(place, "more"))
            called = row;
    }
    if (!called)
        return say_stuck(looker);
    int64_t incidents = json_int(called, "incidents");
    text_add(&looker->text, " waits for the end of instance %lld of process \"%s\"",
             (long long)json_int(called, "id"), json_text(called, "process"));
    if (json_is_true(json_object_get(called, "suspended")))
        text_add(&looker->text, ", which is suspended");
    else if (incidents)
        text_add(&looker->text, ", which has %lld open incident%s", (long long)incidents,
                 incidents == 1 ? "" : "s");
    return json_put(looker->row, "called", json_incref(json_object_get(called, "id")));
}

/* The condition at an activity, seen from the place that is meant. */
static bool say_asked(struct looker *looker, const char *activity, int64_t place) {
    return why_condition_say(&looker->text, looker->conditions, activity,
                             json_text(looker->facts, "frame"), place, looker->error);
}

static bool say_condition(struct looker *looker, const json_t *place) {
    text_add(&looker->text, " waits for its condition");
    return say_asked(looker, json_text(place, "activity"), json_int(place, "token"));
}

/* What has ended with a handler, and what is taken back. */
static bool say_remembered(struct looker *looker, const json_t *place) {
    bool waits = strcmp(json_text(place, "state"), "undo") == 0;
    json_t *own = json_object_get(place, "own");
    text_add(&looker->text, waits ? " has ended and may be taken back" : " is taken back");
    text_add(&looker->text, "%s", json_object_size(own) ? ", where " : "");
    why_values_say(&looker->text, own);
    return true;
}

static bool say_trigger(struct looker *looker, const json_t *place) {
    (void)place;
    text_add(&looker->text, " waits to be triggered");
    return true;
}

static bool say_undoing(struct looker *looker, const json_t *place) {
    (void)place;
    text_add(&looker->text, " takes back what has ended");
    return true;
}

/* Turns of a large body that are not named by themselves. */
static bool say_turns(struct looker *looker, const json_t *place) {
    int64_t count = json_int(place, "count");
    text_add(&looker->text, ": %lld more turn%s", (long long)count, count == 1 ? "" : "s");
    return json_put(looker->row, "count", json_integer(count));
}

static bool say_event(struct looker *looker, const json_t *place) {
    (void)place;
    text_add(&looker->text, " waits");
    return true;
}

static bool same_join(const json_t *one, const json_t *other) {
    return strcmp(json_text(other, "state"), "join") == 0 &&
           strcmp(json_text(one, "activity"), json_text(other, "activity")) == 0 &&
           json_int(one, "scope") == json_int(other, "scope");
}

/* ---- what watches beside ---- */

/* It has ended, and may be compensated or is. */
static bool is_remembered(const json_t *place) {
    const char *state = json_text(place, "state");
    return strcmp(state, "undo") == 0 || strcmp(state, "undone") == 0;
}

static bool is_watch(const json_t *place) {
    return strncmp(json_text(place, "state"), "on ", 3) == 0;
}

/* The id of a listener of a task that this timer calls, behind which the task waits on; NULL: the
 * watch is another one. The mark is of graph.lua. */
static const char *timeout_of(const json_t *watch) {
    static const char mark[] = "#timeout-";
    const char *at = strstr(json_text(watch, "activity"), mark);
    return at ? at + sizeof mark - 1 : NULL;
}

/* A date that has come and has not been met: what its timer waits for. */
static bool say_overdue(struct looker *looker, int64_t id) {
    json_t *why = store_why(looker->store, id, looker->now, looker->error);
    text_add(&looker->text, ", which has come: %s", why ? json_text(why, "text") : "");
    json_decref(why);
    return why != NULL;
}

static bool say_watch(struct looker *looker, const json_t *watch) {
    char date[TIME_TEXT_SIZE];
    int64_t id, token = json_int(watch, "token");
    time_ms due = TIME_NONE;
    const char *state = json_text(watch, "state"), *timeout = timeout_of(watch);
    if (strcmp(state, "on message") == 0 || strcmp(state, "on signal") == 0)
        return say_subscribed(looker, token);
    if (strcmp(state, "on condition") == 0) {
        text_add(&looker->text, " for the condition of \"%s\"", json_text(watch, "activity"));
        return say_asked(looker, json_text(watch, "activity"), json_int(watch, "scope"));
    }
    enum answer found = job_of(looker, token, &id, &due);
    if (found != YES)
        return found == NO && say_stuck(looker);
    time_format(due, date);
    if (timeout)
        text_add(&looker->text, " its timeout \"%s\" comes at %s", timeout, date);
    else
        text_add(&looker->text, " until %s", date);
    return due > looker->now || say_overdue(looker, id);
}

/* What may come instead: ", or until 2026-03-01T…"; and beside: ", its timeout \"nag\" comes at …".
 */
static bool say_watches(struct looker *looker, const json_t *place) {
    bool first = strcmp(json_text(place, "state"), "event") == 0, fine = true;
    size_t i;
    const json_t *watch;
    json_array_foreach(looker->places, i, watch) {
        if (!fine || !is_watch(watch) || json_int(watch, "scope") != json_int(place, "token"))
            continue;
        if (!first)
            text_add(&looker->text, timeout_of(watch) ? "," : ", or");
        first = false;
        fine = say_watch(looker, watch);
    }
    return fine;
}

/* ---- joins ---- */

static bool may_come(const json_t *join, const json_t *other) {
    size_t i;
    const json_t *scope;
    if (is_watch(other) || is_remembered(other) || same_join(join, other))
        return false;
    json_array_foreach(json_object_get(other, "around"), i, scope) {
        if (json_equal(scope, json_object_get(join, "scope")))
            return true;
    }
    return false;
}

/* The activities of the tokens that have not come, each once. *tokens: how many there are. */
static json_t *under_way(const struct looker *looker, const json_t *join, int64_t *tokens) {
    json_t *names = json_object();
    size_t i;
    const json_t *other;
    *tokens = 0;
    json_array_foreach(looker->places, i, other) {
        if (!may_come(join, other))
            continue;
        *tokens += json_object_get(other, "count") ? json_int(other, "count") : 1;
        json_put(names, json_text(other, "activity"), json_true());
    }
    return names;
}

/* True if whatever may still come to the join waits at joins itself, and nothing is watched for
 * that could bring another token. */
static bool waits_for_joins(const struct looker *looker, const json_t *join) {
    size_t i;
    const json_t *other;
    json_array_foreach(looker->places, i, other) {
        if (is_watch(other) ||
            (may_come(join, other) && strcmp(json_text(other, "state"), "join") != 0))
            return false;
    }
    return true;
}

/* "\"pack\", \"ship\" or \"weigh\"" */
static void say_names(struct looker *looker, const json_t *names, const char *last) {
    size_t count = json_object_size(names), i = 0;
    const char *name;
    json_t *value;
    json_object_foreach(json_unchanged(names), name, value) {
        const char *between = i + 1 == count ? last : ", ";
        if (i < NAMES_MAX)
            text_add(&looker->text, "%s\"%s\"", i ? between : "", name);
        i++;
    }
    if (count > NAMES_MAX)
        text_add(&looker->text, " and %zu more", count - NAMES_MAX);
}

/* Which token is missing, and where it may be. */
static void say_missing(struct looker *looker, const json_t *names, int64_t arrived, int64_t needed,
                        int64_t coming) {
    static const char *const ordinals[] = {"first", "second", "third", "fourth", "fifth", "sixth"};
    bool one = needed == arrived + 1;
    if (!needed)
        text_add(&looker->text, ", others are at ");
    else if (one && needed <= 6)
        text_add(&looker->text, ", the %s is at ", ordinals[arrived]);
    else
        text_add(&looker->text, one ? ", the last is at " : ", the others are at ");
    say_names(looker, names, one && coming > 1 ? " or " : ", ");
}

/* Why none is missing that will come: those that might wait at joins themselves. */
static void say_none_comes(struct looker *looker, const json_t *names) {
    if (json_object_size(names) == 0) {
        text_add(&looker->text, ", and no other is on its way");
        return;
    }
    text_add(&looker->text, ", and what may come waits for others itself, at ");
    say_names(looker, names, " and ");
}

static bool say_join(struct looker *looker, const json_t *place) {
    size_t i;
    const json_t *other;
    int64_t arrived = 0, coming, needed = json_int(place, "more");
    json_array_foreach(looker->places, i, other) {
        arrived += same_join(place, other);
    }
    json_t *names = under_way(looker, place, &coming);
    bool stuck = !coming || waits_for_joins(looker, place);
    text_add(&looker->text, stuck ? " is stuck: " : " waits for its other branches: ");
    if (needed)
        text_add(&looker->text, "%lld of %lld tokens have arrived", (long long)arrived,
                 (long long)needed);
    else
        text_add(&looker->text, "%lld token%s arrived", (long long)arrived,
                 arrived == 1 ? " has" : "s have");
    if (stuck)
        say_none_comes(looker, names);
    else
        say_missing(looker, names, arrived, needed, coming);
    json_decref(names);
    return (!stuck || json_put(looker->row, "stuck", json_true())) &&
           json_put(looker->row, "arrived", json_integer(arrived)) &&
           (!needed || json_put(looker->row, "needed", json_integer(needed)));
}

/* ---- sentences ---- */

static const struct {
    const char *state;
    bool (*say)(struct looker *looker, const json_t *place);
} states[] = {
    {"before", say_job},        {"after", say_job},           {"seed", say_job},
    {"timer", say_job},         {"task", say_task},           {"message", say_received},
    {"signal", say_received},   {"condition", say_condition}, {"trigger", say_trigger},
    {"join", say_join},         {"event", say_event},         {"call", say_call},
    {"undoing", say_undoing},   {"turns", say_turns},         {"undo", say_remembered},
    {"undone", say_remembered}, {"external", say_job},
};

static bool say(struct looker *looker, const json_t *place) {
    const char *state = json_text(place, "state");
    text_add(&looker->text, "\"%s\"", json_text(place, "activity"));
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i].state, state) == 0)
            return states[i].say(looker, place) && say_watches(looker, place);
    return say_stuck(looker);
}

/* Of the tokens at one join the first speaks for all. What is remembered comes behind the others.
 */
static bool is_said(const struct looker *looker, const json_t *place, bool remembered) {
    size_t i;
    const json_t *other;
    if (is_watch(place) || is_remembered(place) != remembered)
        return true;
    json_array_foreach(looker->places, i, other) {
        if (other == place)
            return false;
        if (same_join(place, other) && strcmp(json_text(place, "state"), "join") == 0)
            return true;
    }
    return false;
}

static json_t *sentence(struct looker *looker, const json_t *place) {
    looker->text = (struct text){0};
    looker->row =
        json_pack("{sO sO sO}", "token", json_object_get(place, "token"), "activity",
                  json_object_get(place, "activity"), "state", json_object_get(place, "state"));
    bool done = say(looker, place);
    if (done && !json_put_text(looker->row, "text", looker->text.data))
        done = error_no_memory(looker->error);
    text_clear(&looker->text);
    return json_kept(looker->row, done);
}

static bool sentences(struct looker *looker, bool remembered, json_t *list) {
    size_t i;
    const json_t *place;
    json_array_foreach(looker->places, i, place) {
        if (json_array_size(list) >= PLACES_MAX || is_said(looker, place, remembered))
            continue;
        if (json_array_append_new(list, sentence(looker, place)) != 0)
            return false;
    }
    return true;
}

json_t *why_places(struct store *store, const json_t *facts, int64_t instance, time_ms now,
                   struct error *error) {
    struct looker looker = {store, instance, now, facts, NULL, NULL, {0}, NULL, error};
    const char *frame = json_text(facts, "frame");
    if (!frame)
        return json_array();
    looker.places = frame_places(frame, error);
    looker.conditions = why_conditions(store, instance, error);
    json_t *list = json_array();
    bool done = looker.places && turns_places(store, looker.places, instance, error) &&
                sentences(&looker, false, list) && sentences(&looker, true, list);
    json_decref(looker.places);
    json_decref(looker.conditions);
    return json_kept(list, done);
}
