#include "cli/list.h"
#include "base/embedded.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/moment.h"
#include "cli/output.h"
#include "cli/table.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_DEFAULT 50
#define LIMIT_MAX 10000

static bool no_memory(struct error *error) {
    return error_set(error, ERROR_FAILED, "out of memory");
}

/* "--min-priority" as the store knows it: min_priority. */
static void filter_key(const char *flag, char *key, size_t room) {
    size_t size = 0;
    for (flag += 2; *flag && size + 1 < room; flag++)
        key[size++] = *flag == '-' ? '_' : *flag;
    key[size] = '\0';
}

/* A second value of the same filter makes a list of both. */
static bool filter_add(json_t *filters, const char *key, json_t *value, struct error *error) {
    json_t *old = json_object_get(filters, key);
    if (!value)
        return no_memory(error);
    if (!old)
        return json_object_set_new(filters, key, value) == 0 || no_memory(error);
    if (!json_is_array(old)) {
        json_t *list = json_pack("[O]", old);
        if (!list || json_object_set_new(filters, key, list) != 0) {
            json_decref(value);
            return no_memory(error);
        }
        old = list;
    }
    return json_array_append_new(old, value) == 0 || no_memory(error);
}

static bool integer_add(json_t *filters, const char *key, const char *flag, const char *text,
                        struct error *error) {
    int64_t number;
    return flags_number(flag, text, INT64_MIN, INT64_MAX, &number, error) &&
           filter_add(filters, key, json_integer(number), error);
}

static bool list_add(json_t *filters, const char *key, const struct flag_given *given,
                     bool integers, struct error *error) {
    char *copy = strdup(given->value), *rest = copy;
    bool fine = copy || no_memory(error);
    for (char *part; fine && (part = strsep(&rest, ","));)
        fine = integers ? integer_add(filters, key, given->name, part, error)
                        : filter_add(filters, key, json_string(part), error);
    free(copy);
    return fine;
}

/* FIELD=VALUE: the value as JSON if it is any, else as text. */
static bool payload_add(json_t *filters, const char *key, const char *text, struct error *error) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return error_set(error, ERROR_USAGE, "--payload \"%s\": expected FIELD=VALUE", text);
    json_t *members = json_object_get(filters, key);
    if (!members && json_object_set_new(filters, key, members = json_object()) != 0)
        return no_memory(error);
    json_t *value = json_read(equals + 1, strlen(equals + 1), "", NULL);
    if (!value)
        value = json_string(equals + 1);
    if (!value)
        return error_set(error, ERROR_USAGE, "--payload \"%s\": not valid UTF-8", text);
    char *field = strndup(text, (size_t)(equals - text));
    bool fine = field && filter_add(members, field, value, error);
    if (!field)
        json_decref(value);
    free(field);
    return fine || no_memory(error);
}

static bool switch_add(json_t *filters, const char *key, const struct flag_given *given,
                       struct error *error) {
    bool value;
    return flags_boolean(given->name, given->value, &value, error) &&
           (json_object_set_new(filters, key, json_boolean(value)) == 0 || no_memory(error));
}

static bool time_add_filter(json_t *filters, const char *key, const struct flag_given *given,
                            struct error *error) {
    char text[TIME_TEXT_SIZE];
    time_ms time;
    if (!moment_read(given->name, given->value, &time, error))
        return false;
    time_format(time, text);
    return filter_add(filters, key, json_string(text), error);
}

static bool filter_read(json_t *filters, const struct flag_given *given, struct error *error) {
    const char *kind = given->flag->value;
    char key[64];
    filter_key(given->name, key, sizeof key);
    if (strcmp(kind, "[BOOL]") == 0)
        return switch_add(filters, key, given, error);
    if (strcmp(kind, "N") == 0)
        return integer_add(filters, key, given->name, given->value, error);
    if (strcmp(kind, "ID,…") == 0 || strcmp(kind, "NAME,…") == 0)
        return list_add(filters, key, given, kind[0] == 'I', error);
    if (strcmp(kind, "TIME") == 0)
        return time_add_filter(filters, key, given, error);
    if (strcmp(kind, "FIELD=VALUE") == 0)
        return payload_add(filters, key, given->value, error);
    json_t *text = json_string(given->value);
    if (!text)
        return error_set(error, ERROR_USAGE, "%s: not valid UTF-8", given->name);
    return filter_add(filters, key, text, error);
}

static bool sort_read(struct list *list, const struct flags *flags, struct error *error) {
    const char *text = flags_text(flags, "--sort");
    if (!text)
        return true;
    size_t size = strcspn(text, ":");
    const char *order = text + size;
    bool descends = strcmp(order, ":desc") == 0;
    if (size == 0 || size >= sizeof list->sort || (*order && !descends && strcmp(order, ":asc")))
        return error_set(error, ERROR_USAGE,
                         "--sort \"%s\": expected FIELD, FIELD:asc or FIELD:desc", text);
    for (size_t i = 0; i < size; i++)
        list->sort[i] = text[i] == '-' ? '_' : text[i];
    list->page.sort = list->sort;
    list->page.descending = descends;
    return true;
}

static bool page_read(struct list *list, const struct flags *flags, struct error *error) {
    int64_t limit = LIMIT_DEFAULT, page = 1;
    if (!flags_integer(flags, "--limit", 1, LIMIT_MAX, &limit, error) ||
        !flags_integer(flags, "--page", 1, INT32_MAX, &page, error))
        return false;
    list->limit = (int)limit;
    list->page.limit = (int)limit + (limit < LIMIT_MAX);
    list->page.offset = (page - 1) * limit;
    return sort_read(list, flags, error);
}

bool list_read(struct list *list, const struct flags *flags, const struct flag *filters,
               struct error *error) {
    *list = (struct list){.filters = json_object()};
    if (!list->filters)
        return no_memory(error);
    for (size_t i = 0; i < flags->count; i++)
        for (const struct flag *filter = filters; filter->name; filter++)
            if (flags->given[i].flag == filter &&
                !filter_read(list->filters, &flags->given[i], error))
                return false;
    return page_read(list, flags, error);
}

void list_clear(struct list *list) {
    json_decref(list->filters);
    list->filters = NULL;
}

bool list_print(const struct cli *cli, const struct column *columns, json_t *rows,
                const char *things, struct error *error) {
    if (!rows)
        return false;
    if (cli->json)
        return output_json(rows, error);
    bool fine = table_print(columns, rows, output_width(), error);
    if (fine && json_array_size(rows) == 0)
        output_note("no %s", things);
    json_decref(rows);
    return fine;
}

bool list_cut(const struct list *list, const json_t *rows) {
    return json_array_size(rows) > (size_t)list->limit;
}

bool list_print_page(const struct cli *cli, const struct list *list, const struct column *columns,
                     json_t *rows, int64_t total, const char *things, struct error *error) {
    bool cut = list_cut(list, rows);
    if (cut)
        json_array_remove(rows, (size_t)list->limit);
    if (!list_print(cli, columns, rows, things, error))
        return false;
    if (cut && !cli->json && total > 0)
        output_note("%d of %lld %s", list->limit, (long long)total, things);
    else if (cut && !cli->json)
        output_note("%d %s, and more (--limit, --page)", list->limit, things);
    return true;
}

/* Of the program, not of a folder; by name, for a store says no more. */
static bool is_stock(const json_t *row) {
    const char *name = json_string_value(json_object_get(row, "name"));
    struct text path = {0};
    bool batch = name && strncmp(name, "batch/", 6) == 0;
    text_add(&path, "scripts/%s/%s.lua", batch ? "batches" : "handlers",
             name ? name + (batch ? 6 : 0) : "");
    bool found = path.data && embedded_find(path.data) != NULL;
    text_clear(&path);
    return found;
}

bool list_own_first(json_t *rows, size_t count, struct error *error) {
    if (output_width() == 0)
        return true;
    size_t own = 0;
    json_t *row, *sorted = json_array();
    for (size_t i = 0; sorted && i < json_array_size(rows); i++) {
        row = json_array_get(rows, i);
        bool moves = i < count && !is_stock(row);
        if ((moves ? json_array_insert(sorted, own, row) : json_array_append(sorted, row)) != 0)
            break;
        own += moves;
    }
    bool fine = json_array_size(sorted) == json_array_size(rows) && json_array_clear(rows) == 0 &&
                json_array_extend(rows, sorted) == 0;
    json_decref(sorted);
    return fine || no_memory(error);
}

void list_warn(struct store *store) {
    if (store_passed_over(store))
        fprintf(stderr, "moonshift: %s\n", STORE_PASSED_OVER);
}
