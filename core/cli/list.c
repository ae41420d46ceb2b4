#include "cli/list.h"
#include "base/embedded.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/words/moment.h"
#include "cli/words/pair.h"
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_DEFAULT 50
#define LIMIT_MAX 10000
#define SORT_MAX 64
#define TITLE_SIZE 32

/* A second value of the same filter makes a list of both. */
static bool value_add(json_t *filters, const char *key, json_t *value, struct error *error) {
    json_t *old = json_object_get(filters, key);
    if (!value)
        return error_no_memory(error);
    if (!old)
        return json_object_set_new(filters, key, value) == 0 || error_no_memory(error);
    if (!json_is_array(old)) {
        json_t *list = json_pack("[O]", old);
        if (!list || json_object_set_new(filters, key, list) != 0) {
            json_decref(value);
            return error_no_memory(error);
        }
        old = list;
    }
    return json_array_append_new(old, value) == 0 || error_no_memory(error);
}

static bool integer_add(json_t *filters, const char *key, const char *flag, const char *text,
                        struct error *error) {
    int64_t number;
    return flags_number(flag, text, INT64_MIN, INT64_MAX, &number, error) &&
           value_add(filters, key, json_integer(number), error);
}

static bool list_add(json_t *filters, const char *key, const struct flag_given *given,
                     bool integers, struct error *error) {
    char *copy = strdup(given->value), *rest = copy;
    bool fine = copy || error_no_memory(error);
    for (char *part; fine && (part = strsep(&rest, ","));)
        fine = integers ? integer_add(filters, key, given->name, part, error)
                        : value_add(filters, key, json_string(part), error);
    free(copy);
    return fine;
}

static bool payload_add(json_t *filters, const char *key, const char *text, struct error *error) {
    struct pair pair;
    bool fine = pair_read(&pair, text, "--payload", "FIELD=VALUE", error);
    json_t *members = json_object_get(filters, key);
    if (fine && !members && json_object_set_new(filters, key, members = json_object()) != 0)
        fine = error_no_memory(error);
    fine = fine && value_add(members, pair.name, json_incref(pair.value), error);
    pair_clear(&pair);
    return fine;
}

/* "amount>=100" as [">=", 100] behind the comparisons of the same variable. */
static bool condition_add(json_t *filters, const char *text, struct error *error) {
    size_t size = strcspn(text, "=<>"), sign = strspn(text + size, "=<>");
    json_t *all = json_object_get(filters, "variables"), *value = NULL;
    if (!size || !sign || sign > 2)
        return error_set(error, ERROR_USAGE,
                         "--variable \"%s\": expected a comparison such as amount>100", text);
    if (!all && json_object_set_new(filters, "variables", all = json_object()) != 0)
        return error_no_memory(error);
    value = json_loads(text + size + sign, JSON_DECODE_ANY, NULL);
    json_t *pair =
        json_pack("[s%o]", text + size, sign, value ? value : json_string(text + size + sign));
    json_t *name = json_stringn(text, size);
    json_t *before = name ? json_object_get(all, json_string_value(name)) : NULL;
    bool fine = pair && name &&
                (before ? json_array_extend(before, pair) == 0
                        : json_object_set(all, json_string_value(name), pair) == 0);
    json_decref(name);
    json_decref(pair);
    return fine || error_set(error, ERROR_INVALID, "--variable: not valid UTF-8");
}

static bool switch_add(json_t *filters, const char *key, const struct flag_given *given,
                       struct error *error) {
    bool value;
    return flags_boolean(given->name, given->value, &value, error) &&
           (json_object_set_new(filters, key, json_boolean(value)) == 0 || error_no_memory(error));
}

static bool time_add_filter(json_t *filters, const char *key, const struct flag_given *given,
                            struct error *error) {
    char text[TIME_TEXT_SIZE];
    time_ms time;
    if (!moment_read(given->name, given->value, &time, error))
        return false;
    time_format(time, text);
    return value_add(filters, key, json_string(text), error);
}

static bool filter_read(json_t *filters, const struct flag_given *given, struct error *error) {
    const char *kind = given->flag.value;
    char key[64];
    flags_key(given->name, key, sizeof key);
    if (strcmp(kind, "[BOOL]") == 0)
        return switch_add(filters, key, given, error);
    if (strcmp(kind, "N") == 0)
        return integer_add(filters, key, given->name, given->value, error);
    if (strcmp(kind, "ID,…") == 0 || strcmp(kind, "NAME,…") == 0)
        return list_add(filters, key, given, kind[0] == 'I', error);
    if (strcmp(kind, "TIME") == 0)
        return time_add_filter(filters, key, given, error);
    if (strcmp(kind, "CONDITION") == 0)
        return condition_add(filters, given->value, error);
    if (strcmp(kind, "FIELD=VALUE") == 0)
        return payload_add(filters, key, given->value, error);
    return value_add(filters, key, json_string(given->value), error);
}

static bool list_put(json_t *object, const char *key, json_t *value, struct error *error) {
    return (value && json_object_set_new(object, key, value) == 0) || error_no_memory(error);
}

/* "lock-owner" as the store knows it: lock_owner. A new reference or NULL. */
static json_t *field_name(const char *text, size_t size) {
    json_t *name = json_stringn(text, size);
    char *at = (char *)(uintptr_t)json_string_value(name);
    for (; at && *at; at++)
        *at = *at == '-' ? '_' : *at;
    return name;
}

static bool sort_read(struct list *list, const struct flags *flags, struct error *error) {
    const char *text = flags_text(flags, "--sort");
    if (!text)
        return true;
    size_t size = strcspn(text, ":");
    const char *order = text + size;
    bool descends = strcmp(order, ":desc") == 0;
    if (size == 0 || size >= SORT_MAX || (*order && !descends && strcmp(order, ":asc")))
        return error_set(error, ERROR_USAGE,
                         "--sort \"%s\": expected FIELD, FIELD:asc or FIELD:desc", text);
    return list_put(list->question, "sort", field_name(text, size), error) &&
           list_put(list->question, "descending", json_boolean(descends), error);
}

static bool page_read(struct list *list, const struct flags *flags, struct error *error) {
    int64_t limit = LIMIT_DEFAULT, page = 1;
    if (!flags_integer(flags, "--limit", 1, LIMIT_MAX, &limit, error) ||
        !flags_integer(flags, "--page", 1, INT32_MAX, &page, error))
        return false;
    list->limit = (int)limit;
    return list_put(list->question, "limit", json_integer(limit + (limit < LIMIT_MAX)), error) &&
           list_put(list->question, "offset", json_integer((page - 1) * limit), error) &&
           sort_read(list, flags, error);
}

/* ---- columns ---- */

static bool column_unknown(const struct ask_column *columns, const char *name,
                           struct error *error) {
    const char *names[64];
    struct text known = {0};
    size_t count = 0;
    for (; columns[count].name && count < 63; count++) {
        names[count] = columns[count].name;
        text_add(&known, "%s%s", count ? ", " : "", names[count]);
    }
    names[count] = NULL;
    const char *meant = suggest(name, names);
    error_set(error, ERROR_USAGE, "unknown column \"%s\" (%s%s%sknown: %s)", name,
              meant ? "did you mean \"" : "", meant ? meant : "", meant ? "\"? " : "",
              known.data ? known.data : "");
    text_clear(&known);
    return false;
}

/* The marks behind the name of a column in what a kind shows; "" if it is not there. */
static const char *marks_of(const struct ask_table *table, const char *name) {
    const char *at = table->shown ? table->shown : "";
    size_t size = strlen(name);
    for (; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, "?=!+,") == size && strncmp(at, name, size) == 0)
            return at + size;
    return "";
}

/* How a column is shown: by its type and its marks. */
static int look_of(const struct ask_column *column, const char *marks) {
    bool right = column->type == ASK_INTEGER || column->type == ASK_NUMBER;
    int look = right ? COLUMN_RIGHT : COLUMN_CUT;
    if (column->type == ASK_TIME)
        look = COLUMN_TIME;
    for (; *marks && *marks != ','; marks++)
        switch (*marks) {
        case '?':
            look |= COLUMN_OPTIONAL;
            break;
        case '=':
            look &= ~(COLUMN_CUT | COLUMN_TIME);
            break;
        case '!':
            look = COLUMN_STATE;
            break;
        case '+':
            look |= COLUMN_REST;
            break;
        }
    return look;
}

/* The name in capitals, without underscores. */
static void title_write(const char *name, char *title) {
    for (; *name; name++, title++)
        *title = *name == '_' ? ' ' : (char)toupper((unsigned char)*name);
    *title = '\0';
}

static bool column_add(struct list *list, size_t n, const char *name, struct error *error) {
    const struct ask_table *table = engine_ask_table(list->listing->kind);
    const struct ask_column *asked = table->columns;
    char *title = list->titles + n * TITLE_SIZE;
    while (asked->name && strcmp(asked->name, name) != 0)
        asked++;
    if (!asked->name || strlen(name) >= TITLE_SIZE)
        return column_unknown(table->columns, name, error);
    title_write(asked->name, title);
    int look = look_of(asked, marks_of(table, name));
    list->made[n] = (struct column){asked->name, asked->title ? asked->title : title,
                                    list->narrows ? look & ~COLUMN_OPTIONAL : look};
    return true;
}

/* The columns of a text in their order; with marks behind the names, if these are the kind's. */
static bool columns_make(struct list *list, const char *text, const char *ends,
                         struct error *error) {
    size_t count = 1;
    for (const char *at = text; *at; at++)
        count += *at == ',';
    list->columns = list->made = calloc(count + 1, sizeof *list->made);
    list->titles = calloc(count, TITLE_SIZE);
    if (!list->made || !list->titles)
        return error_no_memory(error);
    bool fine = true;
    for (size_t n = 0; fine && n < count; n++) {
        json_t *name = field_name(text, strcspn(text, ends));
        fine = name ? column_add(list, n, json_string_value(name), error) : error_no_memory(error);
        json_decref(name);
        text += strcspn(text, ",");
        text += *text == ',';
    }
    return fine;
}

static bool columns_begin(struct list *list, const struct listing *listing, const char *told,
                          struct error *error) {
    *list = (struct list){.listing = listing, .limit = INT_MAX, .narrows = told};
    list->columns = listing->columns;
    if (told)
        return columns_make(list, told, ",", error);
    return list->columns ||
           columns_make(list, engine_ask_table(listing->kind)->shown, ",?=!+", error);
}

bool list_begin(struct list *list, const struct listing *listing, struct error *error) {
    return columns_begin(list, listing, NULL, error);
}

json_t *list_filters(const struct flags *flags, struct error *error) {
    json_t *filters = json_object();
    bool fine = filters || error_no_memory(error);
    for (size_t i = 0; fine && i < flags->count; i++)
        if (flags->given[i].flag.form & FLAG_FILTER)
            fine = filter_read(filters, &flags->given[i], error);
    return json_kept(filters, fine);
}

bool list_read(struct list *list, const struct flags *flags, const struct listing *listing,
               struct error *error) {
    if (!columns_begin(list, listing, flags_text(flags, "--columns"), error))
        return false;
    list->question = json_object();
    if (!list->question)
        return error_no_memory(error);
    if (!engine_ask_table(listing->kind)->filters)
        return true;
    list->filters = list_filters(flags, error);
    return list->filters && list_put(list->question, "filters", list->filters, error) &&
           page_read(list, flags, error);
}

void list_clear(struct list *list) {
    json_decref(list->question);
    free(list->made);
    free(list->titles);
    *list = (struct list){0};
}

json_t *list_ask(const struct list *list, struct engine *engine, struct error *error) {
    return engine_ask(engine, list->listing->kind, list->question, error);
}

/* ---- printing ---- */

/* Only the columns that were asked for, in their order. */
static bool rows_narrow(json_t *rows, const struct column *columns) {
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i), *narrow = json_object();
        for (const struct column *column = columns; column->key; column++) {
            json_t *value = json_object_get(row, column->key);
            if (json_object_set(narrow, column->key, value ? value : json_null()) != 0)
                return false;
        }
        if (json_array_set_new(rows, i, narrow) != 0)
            return false;
    }
    return true;
}

static bool rows_print(const struct cli *cli, const struct list *list, json_t *rows,
                       struct error *error) {
    if (cli->json && list->narrows && !rows_narrow(rows, list->columns)) {
        json_decref(rows);
        return error_no_memory(error);
    }
    if (cli->json)
        return output_json(rows, error);
    bool fine = table_print(list->columns, rows, output_width(), error);
    if (fine && json_array_size(rows) == 0 && list->listing->things)
        output_note("no %s", list->listing->things);
    json_decref(rows);
    return fine;
}

bool list_cut(const struct list *list, const json_t *rows) {
    return json_array_size(rows) > (size_t)list->limit;
}

bool list_print(const struct cli *cli, const struct list *list, json_t *rows, int64_t total,
                struct error *error) {
    bool cut = list_cut(list, rows);
    const char *things = list->listing->things;
    if (cut)
        json_array_remove(rows, (size_t)list->limit);
    if (!rows || !rows_print(cli, list, rows, error))
        return false;
    if (cut && !cli->json && total > 0)
        output_note("%d of %lld %s", list->limit, (long long)total, things);
    else if (cut && !cli->json)
        output_note("%d %s, and more (--limit, --page)", list->limit, things);
    return true;
}

/* How many there are altogether, where the page does not show them all; 0: too many to count. */
static int64_t list_total(const struct cli *cli, struct engine *engine, const struct list *list,
                          const json_t *rows) {
    struct error ignored = {0};
    if (cli->json || !list->listing->counted || !list_cut(list, rows))
        return 0;
    json_object_set_new(list->question, "few", json_true());
    json_t *count = engine_ask(engine, ASK_COUNT, list->question, &ignored);
    int64_t total = json_integer_value(count);
    json_decref(count);
    return total;
}

static bool list_answer(const struct cli *cli, const struct list *list, struct engine *engine,
                        struct error *error) {
    const struct listing *listing = list->listing;
    json_t *rows = list_ask(list, engine, error);
    if (!rows || (listing->write && !listing->write(cli, list, rows, error))) {
        json_decref(rows);
        return false;
    }
    bool fine = list_print(cli, list, rows, list_total(cli, engine, list, rows), error);
    if (fine)
        list_warn(engine);
    return fine;
}

bool list_show(struct cli *cli, const struct flags *flags, const struct listing *listing,
               struct error *error) {
    struct list list;
    struct engine *engine = NULL;
    bool fine = list_read(&list, flags, listing, error) &&
                (engine = setup_replica(cli, flags, error)) &&
                list_answer(cli, &list, engine, error);
    engine_close(engine);
    list_clear(&list);
    return fine;
}

bool list_run(struct cli *cli, const struct flags *flags, struct error *error) {
    return list_show(cli, flags, flags->command->listing, error);
}

/* Of the program, not of a folder; by name, for a store says no more. */
static bool is_stock(const json_t *row) {
    const char *name = json_string_value(json_object_get(row, "name"));
    struct text path = {0};
    if (name && strncmp(name, "batch/", 6) == 0)
        text_add(&path, "scripts/batches/%s.lua", name + 6);
    else
        text_add(&path, "scripts/handlers/%s.lua", name ? name : "");
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
    return fine || error_no_memory(error);
}

void list_warn(struct engine *engine) {
    const char *warning = engine_ask_warning(engine);
    if (warning)
        fprintf(stderr, "moonshift: %s\n", warning);
}
