#include "http/api/route.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 8 };

/* A path in parts. */
struct pattern {
    const char *parts[PARTS];
    size_t sizes[PARTS], count;
};

static struct pattern pattern_of(const char *path) {
    struct pattern pattern = {0};
    while (*path == '/' && pattern.count < PARTS) {
        size_t size = strcspn(++path, "/");
        pattern.parts[pattern.count] = path;
        pattern.sizes[pattern.count++] = size;
        path += size;
    }
    return pattern;
}

static bool part_is(const struct pattern *pattern, size_t at, const char *word) {
    return strlen(word) == pattern->sizes[at] &&
           strncmp(pattern->parts[at], word, pattern->sizes[at]) == 0;
}

static bool read_id(const char *text, int64_t *id) {
    char *end = NULL;
    if (*text < '1' || *text > '9' || strlen(text) > 18)
        return false;
    *id = strtoll(text, &end, 10);
    return *end == '\0';
}

bool route_has_verb(const struct route *route, enum command_verb verb) {
    return command_target(verb) == route->target && command_is_given(verb);
}

static bool read_verb(const struct route *route, const char *text, enum command_verb *verb) {
    for (int i = 0; i < COMMAND_COUNT; i++) {
        *verb = (enum command_verb)i;
        if (route_has_verb(route, *verb) && strcmp(command_name(*verb), text) == 0)
            return true;
    }
    return false;
}

/* Joins parts with slashes; false: too long. */
static bool read_name(struct place *place, const char *const *parts, size_t count) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        int wrote =
            snprintf(place->text + size, sizeof place->text - size, "%s%s", i ? "/" : "", parts[i]);
        if (wrote < 0 || (size += (size_t)wrote) >= sizeof place->text)
            return false;
    }
    place->name = place->text;
    return true;
}

static bool part_matches(const struct route *route, const struct pattern *pattern, size_t at,
                         const char *part, struct place *place) {
    if (part_is(pattern, at, "{id}"))
        return read_id(part, &place->id);
    if (part_is(pattern, at, "{verb}"))
        return read_verb(route, part, &place->verb);
    return part_is(pattern, at, part);
}

static bool route_matches(const struct route *route, const struct exchange *exchange,
                          struct place *place) {
    const struct pattern pattern = pattern_of(route->path);
    const char *const *parts = (const char *const *)exchange->parts;
    size_t at = 0, count = exchange->part_count;
    *place = (struct place){0};
    for (size_t i = 0; i < pattern.count; i++) {
        const size_t behind = pattern.count - i - 1; /* parts of the pattern */
        if (at + behind >= count)
            return false;
        if (part_is(&pattern, i, "{name}")) {
            if (!read_name(place, parts + at, count - at - behind))
                return false;
            at = count - behind;
            continue;
        }
        if (!part_matches(route, &pattern, i, parts[at++], place))
            return false;
    }
    return at == count;
}

static const char *allowed(bool gets, bool posts) {
    if (gets && posts)
        return "GET, POST";
    return gets ? "GET" : "POST";
}

const struct route *route_find(const struct exchange *exchange, struct place *place,
                               const char **allow, struct error *error) {
    bool gets = false, posts = false;
    for (const struct route *route = routes; route->method; route++) {
        if (!route_matches(route, exchange, place))
            continue;
        if (strcmp(route->method, exchange->method) == 0)
            return route;
        gets = gets || strcmp(route->method, "GET") == 0;
        posts = posts || strcmp(route->method, "POST") == 0;
    }
    if (!gets && !posts) {
        error_set(error, ERROR_NOT_FOUND, "no such path \"%.300s\" (GET /v1/openapi.json has all)",
                  exchange->path);
        return NULL;
    }
    *allow = allowed(gets, posts);
    error_set(error, ERROR_METHOD, "%.20s %.300s: expected %s", exchange->method, exchange->path,
              *allow);
    return NULL;
}

/* ---- parameters ---- */

const struct member page_members[] = {
    {"limit", VALUE_INTEGER, false, "rows at most, 1 to 1000; 50 unless told"},
    {"after", VALUE_TEXT, false, "the `next` of the page before"},
    {"sort", VALUE_TEXT, false, "a column; `-priority`: the highest first"},
    {"fields", VALUE_TEXT, false, "columns between commas; all unless told"},
    {0},
};

static enum value_type type_of(enum ask_type type) {
    switch (type) {
    case ASK_INTEGER:
        return VALUE_INTEGER;
    case ASK_TIME:
        return VALUE_TIME;
    case ASK_FLAG:
        return VALUE_FLAG;
    case ASK_NUMBER:
    case ASK_TEXT:
    case ASK_LIST:
    case ASK_OBJECT:
    case ASK_VALUE:
        break;
    }
    return VALUE_TEXT;
}

static bool ends_with(const char *name, const char *end) {
    size_t size = strlen(name), tail = strlen(end);
    return size >= tail && strcmp(name + size - tail, end) == 0;
}

/* By what the flag takes; without a flag by the column of its name, else by that name. */
static enum value_type type_of_filter(const struct ask_table *table, const struct filter *filter) {
    const char *form = filter->value ? filter->value : "";
    if (strcmp(form, "N") == 0 || strcmp(form, "ID,…") == 0)
        return VALUE_INTEGER;
    if (strcmp(form, "[BOOL]") == 0)
        return VALUE_FLAG;
    if (strcmp(form, "TIME") == 0 || ends_with(filter->name, "before") ||
        ends_with(filter->name, "after"))
        return VALUE_TIME;
    if (filter->value)
        return VALUE_TEXT;
    for (const struct ask_column *column = table->columns; column->name; column++)
        if (strcmp(column->name, filter->name) == 0)
            return type_of(column->type);
    return VALUE_ANY;
}

static bool has_filter(const struct ask_table *table, const char *name) {
    const struct filter *filter = table->filters;
    while (filter->name && strcmp(filter->name, name) != 0)
        filter++;
    return filter->name != NULL;
}

static struct member filter_member(const struct ask_table *table, const struct filter *filter) {
    return (struct member){strcmp(filter->name, "after") == 0 ? "at_after" : filter->name,
                           type_of_filter(table, filter), false,
                           filter->help ? filter->help : "rows with this alone"};
}

bool route_filter(const struct route *route, size_t at, struct member *parameter,
                  const char **filter, const char **form) {
    const struct ask_table *table = route->lists ? engine_ask_table(route->asks) : NULL;
    if (!table || !table->filters)
        return false;
    for (const struct filter *one = table->filters; one->name; one++)
        if (!at--) {
            *parameter = filter_member(table, one);
            *filter = one->name;
            *form = one->value ? one->value : "";
            return true;
        }
    for (const struct ask_column *column = table->columns; column->name; column++) {
        if ((column->use != ASK_FIND && column->use != ASK_BOTH) ||
            has_filter(table, column->name) || at--)
            continue;
        *parameter =
            (struct member){column->name, type_of(column->type), false, "rows with this alone"};
        *filter = column->name;
        *form = "";
        return true;
    }
    return false;
}
