#include "job/counts.h"
#include "base/json.h"
#include <string.h>

static bool are_counts(const json_t *value, int64_t low, int64_t high) {
    const char *name;
    json_t *count;
    int64_t number;
    json_object_foreach(json_unchanged(value), name, count) {
        if (!*name || !json_whole(count, low, high, &number))
            return false;
    }
    return true;
}

bool counts_set(json_t **field, const json_t *value, int64_t low, int64_t high) {
    bool none = json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0);
    if (!none && (!json_is_object(value) || !are_counts(value, low, high)))
        return false;
    return json_keep(field, value);
}

static bool add_text(json_t *texts, const char *text, size_t size) {
    size_t name = strcspn(text, "=");
    return name && name + 1 < size &&
           json_object_setn_new(texts, text, name,
                                json_stringn(text + name + 1, size - name - 1)) == 0;
}

static bool add_count(json_t *counts, const char *text, size_t size) {
    size_t name = strcspn(text, "=");
    json_t *count =
        name && name + 1 < size ? json_read(text + name + 1, size - name - 1, "", NULL) : NULL;
    if (json_is_integer(count))
        return json_object_setn_new(counts, text, name, count) == 0;
    json_decref(count);
    return false;
}

static json_t *by_name(const char *text, bool (*add)(json_t *, const char *, size_t)) {
    json_t *counts = json_object();
    for (const char *at = text; counts && *at;) {
        size_t size = strcspn(at, ",");
        if (!add(counts, at, size)) {
            json_decref(counts);
            return json_string(text);
        }
        at += size + (at[size] == ',');
    }
    return counts;
}

json_t *counts_from_text(const char *text) {
    return by_name(text, add_count);
}

json_t *names_with_texts(const char *text) {
    return by_name(text, add_text);
}

void names_write(struct text *out, const json_t *texts) {
    const char *name, *separator = "";
    json_t *text;
    json_object_foreach(json_unchanged(texts), name, text) {
        text_add(out, "%s%s=%s", separator, name, json_string_value(text));
        separator = ",";
    }
}

void counts_write(struct text *out, const json_t *counts) {
    const char *name, *separator = "";
    json_t *count;
    json_object_foreach(json_unchanged(counts), name, count) {
        text_add(out, "%s%s=%lld", separator, name, (long long)json_integer_value(count));
        separator = ",";
    }
}

json_t *names_from_text(const char *text) {
    json_t *list = json_array();
    while (list && *text) {
        size_t size = strcspn(text, ",");
        if (json_array_append_new(list, json_stringn(text, size)) != 0)
            return json_kept(list, false);
        text += size + (text[size] == ',');
    }
    return list;
}
