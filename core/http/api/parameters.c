#include "http/api/parameters.h"
#include "base/json.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 128 }; /* parameters of one route */

static bool refuse(const char *name, const char *text, const char *expected, struct error *error) {
    return error_set(error, ERROR_INVALID, "%s \"%.100s\": expected %s", name, text, expected);
}

/* A second value of the same parameter makes a list of both. */
static bool add(json_t *object, const char *name, json_t *value, struct error *error) {
    json_t *old = json_object_get(object, name);
    if (!value || (!old && json_object_set_new(object, name, value) != 0))
        return error_no_memory(error);
    if (!old)
        return true;
    if (!json_is_array(old)) {
        json_t *list = json_pack("[O]", old);
        if (!list || json_object_set_new(object, name, list) != 0) {
            json_decref(value);
            return error_no_memory(error);
        }
        old = list;
    }
    return json_array_append_new(old, value) == 0 || error_no_memory(error);
}

static bool add_integer(json_t *object, const char *name, const char *text, struct error *error) {
    const bool bare = text[strspn(text, "-0123456789")] == '\0'; /* no blanks around it */
    json_t *value = bare ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    if (json_is_integer(value))
        return add(object, name, value, error);
    json_decref(value);
    return refuse(name, text, "a whole number", error);
}

/* "7,8": both. */
static bool add_integers(json_t *object, const char *name, const char *text, struct error *error) {
    char *copy = strdup(text), *rest = copy;
    bool done = copy || error_no_memory(error);
    for (char *part; done && (part = strsep(&rest, ","));)
        done = add_integer(object, name, part, error);
    free(copy);
    return done;
}

static bool add_flag(json_t *object, const char *name, const char *text, struct error *error) {
    bool yes = strcmp(text, "true") == 0;
    if (!yes && strcmp(text, "false") != 0)
        return refuse(name, text, "true or false", error);
    return json_object_set_new(object, name, json_boolean(yes)) == 0 || error_no_memory(error);
}

/* The JSON that it is; else the text. */
static json_t *value_of(const char *text) {
    json_t *value = json_read(text, strlen(text), "value", NULL);
    return value ? value : json_string(text);
}

/* "customer=7": a member of the payload. */
static bool add_payload(json_t *object, const char *name, const char *text, struct error *error) {
    const char *sign = strchr(text, '=');
    json_t *all = json_object_get(object, name);
    if (!sign || sign == text)
        return refuse(name, text, "FIELD=VALUE", error);
    if (!all && json_object_set_new(object, name, all = json_object()) != 0)
        return error_no_memory(error);
    return json_object_setn_new(all, text, (size_t)(sign - text), value_of(sign + 1)) == 0 ||
           error_no_memory(error);
}

/* "amount>=100" as [">=", 100], behind the comparisons of the same variable. */
static bool add_condition(json_t *object, const char *name, const char *text, struct error *error) {
    const size_t size = strcspn(text, "=<>"), sign = strspn(text + size, "=<>");
    json_t *all = json_object_get(object, name);
    if (!size || !sign || sign > 2)
        return refuse(name, text, "a comparison such as amount>100", error);
    if (!all && json_object_set_new(object, name, all = json_object()) != 0)
        return error_no_memory(error);
    json_t *pair = json_pack("[s%o]", text + size, sign, value_of(text + size + sign));
    json_t *before = json_object_getn(all, text, size);
    bool done = pair && (before ? json_array_extend(before, pair) == 0
                                : json_object_setn(all, text, size, pair) == 0);
    json_decref(pair);
    return done || error_no_memory(error);
}

static bool add_any(json_t *object, const char *name, const char *text, struct error *error) {
    bool flag = strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    return flag ? add_flag(object, name, text, error) : add(object, name, json_string(text), error);
}

static bool add_value(json_t *object, const struct member *member, const char *name,
                      const char *text, struct error *error) {
    switch (member->type) {
    case VALUE_INTEGER:
        return add_integers(object, name, text, error);
    case VALUE_FLAG:
        return add_flag(object, name, text, error);
    case VALUE_ANY:
        return add_any(object, name, text, error);
    case VALUE_TEXT:
    case VALUE_TIME:
    case VALUE_OBJECT:
    case VALUE_LIST:
        break;
    }
    return add(object, name, json_string(text), error);
}

static bool add_filter(struct call *call, const struct member *member, const char *filter,
                       const char *form, const char *text, struct error *error) {
    if (strcmp(form, "FIELD=VALUE") == 0)
        return add_payload(call->filters, filter, text, error);
    if (strcmp(form, "CONDITION") == 0 || strcmp(filter, "variables") == 0)
        return add_condition(call->filters, filter, text, error);
    return add_value(call->filters, member, filter, text, error);
}

/* A parameter that is no list stands once. */
static bool add_option(struct call *call, const struct member *member, const char *text,
                       struct error *error) {
    if (json_object_get(call->options, member->name))
        return error_set(error, ERROR_INVALID, "%s: it is there twice (expected once)",
                         member->name);
    if (member->type == VALUE_INTEGER)
        return add_integer(call->options, member->name, text, error);
    return add_value(call->options, member, member->name, text, error);
}

static const struct member *find(const struct member *list, const char *name) {
    for (; list && list->name; list++)
        if (strcmp(list->name, name) == 0)
            return list;
    return NULL;
}

static bool unknown(const struct route *route, const char *name, struct error *error) {
    const char *names[NAMES_MAX + 1], *filter, *form;
    struct member member;
    size_t count = 0;
    const struct member *lists[] = {route->query, route->lists ? page_members : NULL};
    for (size_t i = 0; i < 2; i++)
        for (const struct member *one = lists[i]; one && one->name && count < NAMES_MAX; one++)
            names[count++] = one->name;
    for (size_t at = 0; count < NAMES_MAX && route_filter(route, at, &member, &filter, &form); at++)
        names[count++] = member.name;
    names[count] = NULL;
    return error_unknown(error, ERROR_INVALID, "unknown parameter", name, names, "expected");
}

static bool read_one(struct call *call, const char *name, const char *text, struct error *error) {
    const struct member *option = find(call->route->query, name);
    const char *filter, *form;
    struct member member;
    if (!option && call->route->lists)
        option = find(page_members, name);
    if (option)
        return add_option(call, option, text, error);
    for (size_t at = 0; route_filter(call->route, at, &member, &filter, &form); at++)
        if (strcmp(member.name, name) == 0)
            return add_filter(call, &member, filter, form, text, error);
    return unknown(call->route, name, error);
}

bool parameters_read(struct call *call, struct error *error) {
    call->filters = json_object();
    call->options = json_object();
    bool done = (call->filters && call->options) || error_no_memory(error);
    for (size_t i = 0; done && i < call->exchange->query_count; i++)
        done = read_one(call, call->exchange->query[i].name, call->exchange->query[i].value, error);
    return done;
}
