#include "store/rules/record/frame.h"
#include "base/json.h"
#include "job/unit.h"
#include <string.h>

/* Entries of a scope and of a token, by their index. */
enum { SCOPE_ACTIVITY = 2, SCOPE_VARIABLES, SCOPE_MORE, SCOPE_LARGE, SCOPE_TYPES };
enum { TOKEN_NUMBER, TOKEN_SCOPE, TOKEN_ACTIVITY, TOKEN_STATE, TOKEN_MORE };
enum { TOKEN_VARIABLES = TOKEN_MORE + 1, TOKEN_LARGE };
enum { BODY_RANGES = 3, RANGE_FIRST = 0, RANGE_COUNT };

static bool add_place(json_t *at, const json_t *token, const json_t *activity, size_t size,
                      const char *state, const json_t *count) {
    json_t *place = json_pack("{sO ss% ss}", "token", token, "activity",
                              json_string_value(activity), size, "state", state);
    if (place && count)
        json_object_set(place, "count", json_unchanged(count));
    return json_array_append_new(at, place) == 0;
}

/* It has ended, and is remembered for a compensation. */
static bool is_remembered(const char *state) {
    return strcmp(state, "undo") == 0 || strcmp(state, "undone") == 0;
}

/* What only watches for an event is no place. */
static bool is_place(const char *state, bool remembered) {
    return state && strncmp(state, "on ", 3) != 0 && is_remembered(state) == remembered;
}

static bool add_tokens(json_t *at, const json_t *tokens, bool remembered) {
    size_t i;
    const json_t *token;
    json_array_foreach(tokens, i, token) {
        const json_t *activity = json_array_get(token, TOKEN_ACTIVITY);
        const char *state = json_string_value(json_array_get(token, TOKEN_STATE));
        if (is_place(state, remembered) &&
            !add_place(at, json_array_get(token, TOKEN_NUMBER), activity,
                       json_string_length(activity), state, NULL))
            return false;
    }
    return true;
}

/* The turns of a body that wait in their first job. */
static bool add_ranges(json_t *at, const json_t *scope) {
    const json_t *activity = json_array_get(scope, SCOPE_ACTIVITY), *range;
    const json_t *ranges = json_array_get(json_array_get(scope, SCOPE_MORE), BODY_RANGES);
    const char *name = json_string_value(activity);
    size_t i;
    json_array_foreach(ranges, i, range)
        if (!name || !add_place(at, json_array_get(range, RANGE_FIRST), activity,
                                strcspn(name, "#"), "before", json_array_get(range, RANGE_COUNT)))
            return false;
    return true;
}

static bool show(json_t *object, const json_t *whole) {
    const json_t *scopes = json_object_get(whole, "scopes"), *scope;
    json_t *variables = json_array_get(json_array_get(scopes, 0), SCOPE_VARIABLES);
    json_t *large = json_array_get(json_array_get(scopes, 0), SCOPE_LARGE);
    json_t *types = json_array_get(json_array_get(scopes, 0), SCOPE_TYPES);
    json_t *at = json_array(), *ended = json_array();
    size_t i;
    bool done = at && add_tokens(at, json_object_get(whole, "tokens"), false) &&
                add_tokens(ended, json_object_get(whole, "tokens"), true);
    if (json_array_size(ended))
        done = json_object_set(object, "remembered", ended) == 0 && done;
    json_decref(ended);
    json_array_foreach(scopes, i, scope)
        done = done && add_ranges(at, scope);
    return json_put(object, "at", at) && done &&
           (!json_is_object(large) || json_object_set(object, "large", large) == 0) &&
           (!types || json_object_set(object, "types", types) == 0) &&
           json_put(object, "variables",
                    json_is_object(variables) ? json_incref(variables) : json_object());
}

bool frame_show(json_t *object, const char *frame, struct error *error) {
    json_t *whole = json_read(frame, strlen(frame), "frame", error);
    bool done = whole && (show(object, whole) || error_no_memory(error));
    json_decref(whole);
    return done;
}

/* The number of the scope around; 0: there is none. */
static int64_t scope_around(const json_t *scopes, int64_t number) {
    const json_t *scope;
    size_t i;
    json_array_foreach(scopes, i, scope) {
        if (json_integer_value(json_array_get(scope, TOKEN_NUMBER)) == number)
            return json_integer_value(json_array_get(scope, TOKEN_SCOPE));
    }
    return 0;
}

/* This scope and those around it, from the inside out. */
static json_t *scopes_around(const json_t *scopes, int64_t number) {
    json_t *list = json_array();
    for (size_t i = 0; number > 0 && i <= json_array_size(scopes); i++) {
        json_array_append_new(list, json_integer(number));
        number = scope_around(scopes, number);
    }
    return list;
}

static json_t *place_of(const json_t *token, const json_t *scopes) {
    int64_t scope = json_integer_value(json_array_get(token, TOKEN_SCOPE));
    return json_pack(
        "{sO sO sO sO sO? so sO?}", "token", json_array_get(token, TOKEN_NUMBER), "scope",
        json_array_get(token, TOKEN_SCOPE), "activity", json_array_get(token, TOKEN_ACTIVITY),
        "state", json_array_get(token, TOKEN_STATE), "more", json_array_get(token, TOKEN_MORE),
        "around", scopes_around(scopes, scope), "own", json_array_get(token, TOKEN_VARIABLES));
}

/* The turns of a body, which stand in it. */
static bool add_turns(json_t *places, const json_t *scope, const json_t *scopes) {
    size_t i = json_array_size(places);
    if (!add_ranges(places, scope))
        return false;
    for (; i < json_array_size(places); i++) {
        json_t *place = json_array_get(places, i), *number = json_array_get(scope, TOKEN_NUMBER);
        if (!json_put(place, "scope", json_incref(number)) ||
            !json_put(place, "around", scopes_around(scopes, json_integer_value(number))))
            return false;
    }
    return true;
}

/* A later program may have written a frame of another shape. */
static bool has_lists(const json_t *whole) {
    return json_integer_value(json_object_get(whole, "v")) > 1 ||
           json_is_array(json_object_get(whole, "tokens"));
}

static bool add_all(json_t *places, const json_t *whole) {
    const json_t *token, *scope, *scopes = json_object_get(whole, "scopes");
    size_t i;
    bool done = has_lists(whole);
    json_array_foreach(json_object_get(whole, "tokens"), i, token)
        done = done && json_array_append_new(places, place_of(token, scopes)) == 0;
    json_array_foreach(scopes, i, scope)
        done = done && add_turns(places, scope, scopes);
    return done;
}

/* The entry of the list that has this number; NULL: none. */
static const json_t *entry_of(const json_t *list, int64_t number) {
    const json_t *entry;
    size_t i;
    json_array_foreach(list, i, entry) {
        if (json_integer_value(json_array_get(entry, TOKEN_NUMBER)) == number)
            return entry;
    }
    return NULL;
}

/* Adds those members of `from` whose names are neither in `into` nor in `other`. */
static bool add_seen(json_t *into, const json_t *other, const json_t *from) {
    const char *name;
    json_t *value;
    bool done = true;
    json_object_foreach((json_t *)(uintptr_t)from, name, value) {
        if (!json_object_get(into, name) && !json_object_get(other, name))
            done = done && json_object_set(into, name, value) == 0;
    }
    return done;
}

static bool add_variables(json_t *variables, json_t *large, const json_t *whole, int64_t number) {
    const json_t *scopes = json_object_get(whole, "scopes");
    const json_t *entry = entry_of(json_object_get(whole, "tokens"), number);
    bool done = !entry || (add_seen(variables, large, json_array_get(entry, TOKEN_VARIABLES)) &&
                           add_seen(large, variables, json_array_get(entry, TOKEN_LARGE)));
    number = entry ? json_integer_value(json_array_get(entry, TOKEN_SCOPE)) : number;
    for (size_t i = 0; done && i < json_array_size(scopes); i++) {
        entry = entry_of(scopes, number);
        done = add_seen(variables, large, json_array_get(entry, SCOPE_VARIABLES)) &&
               add_seen(large, variables, json_array_get(entry, SCOPE_LARGE));
        number = json_integer_value(json_array_get(entry, TOKEN_SCOPE));
    }
    return done;
}

bool frame_variables(json_t *variables, json_t *large, const char *frame, int64_t number,
                     struct error *error) {
    json_t *whole = json_read(frame, strlen(frame), "frame", error);
    bool done = whole && (add_variables(variables, large, whole, number) || error_no_memory(error));
    json_decref(whole);
    return done;
}

json_t *frame_places(const char *frame, struct error *error) {
    json_t *whole = json_read(frame, strlen(frame), "frame", error);
    json_t *places = whole ? json_array() : NULL;
    bool done = places && add_all(places, whole), read = whole != NULL;
    json_decref(whole);
    if (done)
        return places;
    json_decref(places);
    if (read)
        error_set(error, ERROR_DAMAGED, "frame: it has no tokens, or one without its fields");
    return NULL;
}

json_t *frame_seen(const char *frame, int64_t number, struct error *error) {
    json_t *seen = json_object(), *large = json_object(), *value;
    const char *name;
    bool done = frame_variables(seen, large, frame, number, error);
    json_object_foreach(large, name, value) {
        json_object_set_new(seen, name, json_string("…"));
    }
    json_decref(large);
    return json_kept(seen, done);
}

int64_t frame_caller(const char *frame) {
    json_t *whole = json_read(frame, strlen(frame), "frame", NULL);
    int64_t token = json_integer_value(json_object_get(whole, "caller"));
    json_decref(whole);
    return turn_of_token(token);
}
