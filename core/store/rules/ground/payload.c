/* payload.c - jobs by what is in their payload (rules §20). A field is a path: names joined by
 * dots, elements of an array in brackets. Engines get it as $."a"."b"[0], [#-1] being the last. */
#include "store/rules/ground/payload.h"
#include "base/json.h"
#include <string.h>

#define DEPTH_MAX 64

static bool refuse_path(const char *path, struct error *error) {
    return error_set(error, ERROR_INVALID,
                     "filter \"payload\": path \"%.100s\": expected names joined by dots, such as "
                     "customer.id or items[0].price",
                     path);
}

/* One name, quoted or not, becomes ."name". NULL: it is none. */
static const char *path_name(struct text *path, const char *at) {
    bool quoted = *at == '"';
    at += quoted;
    size_t size = strcspn(at, quoted ? "\"" : ".[]\"");
    if (size == 0 || (quoted && at[size] != '"'))
        return NULL;
    text_append(path, ".\"", 2);
    text_append(path, at, size);
    text_append(path, "\"", 1);
    return at + size + quoted;
}

/* [3], or [#-1] for the last. NULL: it is none. */
static const char *path_element(struct text *path, const char *at) {
    size_t back = strncmp(at, "[#-", 3) == 0 ? 3 : 1, size = strspn(at + back, "0123456789");
    if (size == 0 || size > 9 || at[back + size] != ']')
        return NULL;
    text_append(path, at, back + size + 1);
    return at + back + size + 1;
}

/* `name` behind the path `from`: "a.b[0]" becomes $."a"."b"[0]. */
static bool path_add(struct text *path, const char *from, const char *name, struct error *error) {
    const char *at = *name == '$' && !*from ? name + 1 : name;
    text_add(path, "%s", *from ? from : "$");
    if (at == name && *at != '[')
        at = path_name(path, at);
    while (at && (*at == '.' || *at == '['))
        at = *at == '.' ? path_name(path, at + 1) : path_element(path, at);
    if (path->failed)
        return error_no_memory(error);
    return (at && !*at) || refuse_path(name, error);
}

static bool refuse_value(const char *name, struct error *error) {
    return error_set(error, ERROR_INVALID,
                     "filter \"payload\": \"%.100s\": expected a text, number, boolean, null, a "
                     "list of them, or fields by name",
                     name);
}

/* A name with dots is a path, and may also be one name of the payload. NULL in *path: it is no such
 * name. */
static bool whole_name(struct text *path, const char *from, const char *name, struct error *error) {
    if (!strchr(name, '.') || strpbrk(name, "[]\"") || *name == '$')
        return true;
    text_add(path, "%s.\"%s\"", *from ? from : "$", name);
    return !path->failed || error_no_memory(error);
}

/* Any of a list, at the path or at the other one (may be NULL); {} of Lua is an empty list. */
static bool any_of(struct query *query, const char *name, const char *path, const char *other,
                   const json_t *wanted, struct error *error) {
    size_t count = json_is_array(wanted) ? json_array_size(wanted) : !json_is_object(wanted);
    query_add(query, count ? " AND (" : " AND (FALSE");
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_is_array(wanted) ? json_array_get(wanted, i) : wanted;
        if (json_is_object(value) || json_is_array(value))
            return refuse_value(name, error);
        query_add(query, i ? " OR " : "");
        query->engine->payload_is(query, path, value);
        if (other) {
            query_add(query, " OR ");
            query->engine->payload_is(query, other, value);
        }
    }
    query_add(query, ")");
    return true;
}

static bool fields(struct query *query, const char *from, const json_t *wanted, int depth,
                   struct error *error) {
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(json_unchanged(wanted), name, value) {
        struct text path = {0}, other = {0};
        bool nested = json_is_object(value) && json_object_size(value) > 0;
        bool fine = path_add(&path, from, name, error);
        if (fine && nested)
            fine = depth < DEPTH_MAX ? fields(query, path.data, value, depth + 1, error)
                                     : refuse_path(name, error);
        else if (fine)
            fine = whole_name(&other, from, name, error) &&
                   any_of(query, name, path.data, other.data, value, error);
        text_clear(&path);
        text_clear(&other);
        if (!fine)
            return false;
    }
    return true;
}

bool payload_filter(struct query *query, const struct filter *filter, const json_t *value,
                    struct error *error) {
    if (!json_is_object(value))
        return error_set(error, ERROR_INVALID, "filter \"%s\": expected names and values",
                         filter->name);
    query_add(query, query->engine->sql->payload_fits);
    query_add(query, " THEN (TRUE");
    if (!fields(query, "", value, 0, error))
        return false;
    query_add(query, ") ELSE FALSE END");
    return true;
}
