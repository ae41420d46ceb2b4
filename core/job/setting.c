#include "job/setting.h"
#include "base/json.h"
#include "base/text.h"
#include "job/acquisitions.h"
#include "job/caller/origin.h"
#include "job/caller/user_scopes.h"
#include "job/counts.h"
#include "job/notify.h"
#include "job/reach.h"
#include "job/stock.h"
#include "job/store_url.h"
#include "time/span.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A setting being written: its place in the struct and what an error calls it. */
struct target {
    const struct setting *setting;
    void *field;
    const char *label;
    struct error *error;
};

static bool refuse(const struct target *target, const json_t *value, const char *expected) {
    return json_refuse(target->label, value, expected, target->error);
}

static bool refuse_bounds(const struct target *target, const json_t *value, const char *kind) {
    char expected[128];
    snprintf(expected, sizeof expected, "%s from %lld to %lld", kind,
             (long long)target->setting->low, (long long)target->setting->high);
    return refuse(target, value, expected);
}

static bool set_bool(const struct target *target, const json_t *value) {
    if (!json_is_boolean(value))
        return refuse(target, value, "true or false");
    *(bool *)target->field = json_is_true(value);
    return true;
}

static bool set_int(const struct target *target, const json_t *value) {
    int64_t number;
    if (!json_whole(value, target->setting->low, target->setting->high, &number))
        return refuse_bounds(target, value, "a whole number");
    *(int *)target->field = (int)number;
    return true;
}

static bool set_auto(const struct target *target, const json_t *value) {
    const char *word = json_string_value(value);
    int64_t number = 0;
    if (!(word && strcmp(word, "auto") == 0) &&
        !json_whole(value, target->setting->low, target->setting->high, &number))
        return refuse_bounds(target, value, "auto, or a whole number");
    *(int *)target->field = (int)number;
    return true;
}

static bool set_int64(const struct target *target, const json_t *value) {
    if (!json_whole(value, target->setting->low, target->setting->high, target->field))
        return refuse(target, value, "a whole number of 64 bits");
    return true;
}

static bool set_factor(const struct target *target, const json_t *value) {
    double number = json_is_number(value) ? json_number_value(value) : -1;
    if (!(number >= (double)target->setting->low && number <= (double)target->setting->high))
        return refuse_bounds(target, value, "a number");
    *(double *)target->field = number;
    return true;
}

static bool set_span(const struct target *target, const json_t *value) {
    struct span span;
    if (!span_from_json(value, target->label, &span, target->error))
        return false;
    if (span.months)
        return refuse(target, value, "days or less, such as \"30d\": months have no fixed length");
    time_ms ms = span.days * INT64_C(86400000) + span.ms;
    if (ms < target->setting->low)
        return refuse(target, value, "a duration longer than 0, such as \"5m\"");
    *(time_ms *)target->field = ms;
    return true;
}

static bool set_span_off(const struct target *target, const json_t *value) {
    bool off = json_is_false(value) ||
               (json_is_string(value) && strcmp(json_string_value(value), "off") == 0);
    bool as = target->setting->kind == SETTING_SPAN_AS && json_is_null(value);
    if (!off && !as)
        return set_span(target, value);
    *(time_ms *)target->field = as ? -1 : 0;
    return true;
}

static const struct {
    const char *name;
    int shift;
} units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
#define UNITS (sizeof units / sizeof *units)

/* "64MiB" as bytes; -1 if it is not that. */
static int64_t parse_size(const char *text) {
    int64_t number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && number < INT64_C(1) << 32; at++)
        number = number * 10 + (*at - '0');
    if (at == text)
        return -1;
    while (*at == ' ')
        at++;
    for (size_t i = 0; i < UNITS; i++)
        if (strcmp(at, units[i].name) == 0)
            return number << units[i].shift;
    return -1;
}

static bool set_size(const struct target *target, const json_t *value) {
    int64_t size = -1, low = target->setting->low, high = target->setting->high;
    if (json_is_string(value))
        size = parse_size(json_string_value(value));
    else if (!json_whole(value, low, high, &size))
        size = -1;
    if (size < low || size > high)
        return refuse_bounds(target, value, "a size such as \"64MiB\", or bytes,");
    *(int64_t *)target->field = size;
    return true;
}

/* Refuses a text with what it is but for its passwords. */
static bool refuse_text(const struct target *target, const json_t *value) {
    static const char expected[] = "a text without control characters";
    char shown[STORE_SHOWN];
    const char *text = json_string_value(value);
    if (target->setting->kind != SETTING_STORE || json_is_null(value))
        return refuse(target, value, expected);
    json_t *hidden = json_string(text ? store_url_show(text, shown) : "…");
    refuse(target, hidden, expected);
    json_decref(hidden);
    return false;
}

static bool set_text(const struct target *target, const json_t *value) {
    char **field = target->field, *copy = NULL;
    if (!json_is_null(value) || target->setting->low) {
        const char *text = json_string_value(value);
        if (!text || utf8_has_control(text))
            return refuse_text(target, value);
        if (!*text)
            return refuse(target, value, "a text that is not empty");
        if (json_string_length(value) > (size_t)target->setting->high)
            return error_set(target->error, ERROR_INVALID,
                             "%s: %zu bytes, at most %lld are allowed", target->label,
                             json_string_length(value), (long long)target->setting->high);
        copy = strdup(text);
        if (!copy)
            return error_no_memory(target->error);
    }
    free(*field);
    *field = copy;
    return true;
}

/* "/var/lib/shop.db", "./shop.db" and "shop.db" name no scheme. */
static bool is_path(const char *text) {
    return *text == '/' || *text == '.' || !strchr(text, ':');
}

static bool set_store(const struct target *target, const json_t *value) {
    const char *text = json_string_value(value);
    if (!text || !*text || !is_path(text))
        return set_text(target, value);
    json_t *url = json_sprintf("sqlite:%s", text);
    bool fine = url ? set_text(target, url) : error_no_memory(target->error);
    json_decref(url);
    return fine;
}

static bool set_list(const struct target *target, const json_t *value) {
    bool empty_object = json_is_object(value) && json_object_size(value) == 0; /* {} of Lua */
    if (!json_is_null(value) && !json_is_array(value) && !empty_object)
        return refuse(target, value, "a list of texts");
    for (size_t i = 0; i < json_array_size(value); i++)
        if (json_string_length(json_array_get(value, i)) == 0)
            return refuse(target, value, "a list of texts");
    return json_keep(target->field, value) || error_no_memory(target->error);
}

static bool set_notify(const struct target *target, const json_t *value) {
    return notify_set(target->field, value, target->label, target->error);
}

static bool set_stock(const struct target *target, const json_t *value) {
    return (!json_is_array(value) || stock_check(value, target->label, target->error)) &&
           set_list(target, value);
}

static bool set_reach(const struct target *target, const json_t *value) {
    const enum reach_entries entries = (enum reach_entries)target->setting->low;
    return reach_check(value, entries, target->label, target->error) && set_list(target, value);
}

static bool set_origins(const struct target *target, const json_t *value) {
    return origins_check(value, target->label, target->error) && set_list(target, value);
}

static bool set_users(const struct target *target, const json_t *value) {
    return user_scopes_set(target->field, value, target->label, target->error);
}

static bool set_acquisitions(const struct target *target, const json_t *value) {
    return acquisitions_set(target->field, value, target->error);
}

/* A number or an object if it is one. Any other text stays a text, which a refusal quotes. NULL: no
 * memory. */
static json_t *scalar_from_text(const char *text) {
    struct error error = {0};
    json_t *value = json_read(text, strlen(text), "setting", &error);
    if (!value && error.code == ERROR_FAILED)
        return NULL;
    if (json_is_number(value) || json_is_boolean(value) || json_is_object(value))
        return value;
    json_decref(value);
    return json_string(text);
}

/* "MIN:MAX", either side empty; without a colon a scalar. */
static json_t *pair_from_text(const char *text) {
    const char *colon = strchr(text, ':');
    if (!colon)
        return scalar_from_text(text);
    char low[32];
    size_t size = (size_t)(colon - text);
    if (size >= sizeof low)
        return json_string(text);
    memcpy(low, text, size);
    low[size] = 0;
    json_t *pair = json_array();
    bool fine =
        pair && json_array_append_new(pair, size ? scalar_from_text(low) : json_null()) == 0 &&
        json_array_append_new(pair, colon[1] ? scalar_from_text(colon + 1) : json_null()) == 0;
    return json_kept(pair, fine);
}

/* Two whole numbers as an array or under their names; one that is absent stays as it is. */
static bool read_pair(const json_t *value, const char *const *names, int64_t low, int64_t high,
                      int64_t pair[2]) {
    size_t found = 0,
           size = json_is_array(value) ? json_array_size(value) : json_object_size(value);
    if (!json_is_array(value) && !json_is_object(value))
        return false;
    for (size_t i = 0; i < 2; i++) {
        const json_t *side =
            json_is_array(value) ? json_array_get(value, i) : json_object_get(value, names[i]);
        found += side != NULL;
        if (side && !json_is_null(side) && !json_whole(side, low, high, &pair[i]))
            return false;
    }
    return found == size;
}

/* The value, or what its text stands for. A new reference. */
static json_t *pair_of(const json_t *value) {
    if (json_is_string(value))
        return pair_from_text(json_string_value(value));
    return json_incref(json_unchanged(value));
}

static bool set_range(const struct target *target, const json_t *value) {
    static const char *const names[] = {"min", "max"};
    int64_t pair[2] = {INT64_MIN, INT64_MAX}, *field = target->field;
    json_t *given = pair_of(value);
    if (!given)
        return error_no_memory(target->error);
    bool fine = json_is_null(given) || read_pair(given, names, INT64_MIN, INT64_MAX, pair);
    json_decref(given);
    if (!fine)
        return refuse(target, value, "{min, max} or \"MIN:MAX\", whole numbers, either side open");
    field[0] = pair[0];
    field[1] = pair[1];
    return true;
}

static bool set_workers(const struct target *target, const json_t *value) {
    static const char *const names[] = {"core", "max"};
    int64_t low = target->setting->low, high = target->setting->high, pair[2] = {-1, -1};
    int *field = target->field;
    json_t *given = pair_of(value);
    if (!given)
        return error_no_memory(target->error);
    if (json_whole(given, low, high, &pair[0]))
        pair[1] = pair[0];
    bool fine = pair[1] > 0 || read_pair(given, names, low, high, pair);
    json_decref(given);
    if (!fine || pair[0] < low || pair[1] < pair[0])
        return refuse_bounds(target, value, "a whole number, {core, max} or \"CORE:MAX\",");
    field[0] = (int)pair[0];
    field[1] = (int)pair[1];
    return true;
}

static const struct {
    const char *words[3], *expected;
} kinds[] = {
    [SETTING_FAIR] = {{[FAIR_OFF] = "off", [FAIR_TENANT] = "tenant", [FAIR_LANE] = "lane"},
                      "\"tenant\", \"lane\" or \"off\""},
    [SETTING_MISSING] = {{"refuse", "incident"}, "\"refuse\" or \"incident\""},
    [SETTING_CRON] = {{"auto", "quartz", "unix"}, "\"auto\", \"quartz\" or \"unix\""},
    [SETTING_HISTORY] = {{"none", "failures", "full"}, "\"none\", \"failures\" or \"full\""},
};

static bool set_word(const struct target *target, const json_t *value) {
    const char *given = json_is_false(value) ? "off" : json_string_value(value);
    for (unsigned i = 0; given && i < 3; i++) {
        const char *word = kinds[target->setting->kind].words[i];
        if (word && strcmp(given, word) == 0) {
            *(unsigned *)target->field = i;
            return true;
        }
    }
    return refuse(target, value, kinds[target->setting->kind].expected);
}

static bool set_scope(const struct target *target, const json_t *value) {
    const char *given = json_string_value(value);
    if (!given || (strcmp(given, "instance") != 0 && strcmp(given, "root") != 0))
        return refuse(target, value, "\"instance\" or \"root\"");
    *(bool *)target->field = *given == 'r';
    return true;
}

static bool set_counts(const struct target *target, const json_t *value) {
    return counts_set(target->field, value, target->setting->low, target->setting->high) ||
           refuse_bounds(target, value, "names with whole numbers");
}

/* { name = span or "off" }: the spans in ms. */
static bool set_spans(const struct target *target, const json_t *value) {
    bool none = json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0);
    json_t **field = target->field, *spans = json_object(), *span;
    const char *name;
    bool fine =
        spans && (none || json_is_object(value) || refuse(target, value, "names with durations"));
    if (fine && !none)
        json_object_foreach(json_unchanged(value), name, span) {
            time_ms ms = 0;
            struct target one = {target->setting, &ms, target->label, target->error};
            fine = fine && set_span_off(&one, span) &&
                   json_object_set_new(spans, name, json_integer(ms)) == 0;
        }
    if (fine) {
        json_decref(*field);
        *field = json_object_size(spans) ? json_incref(spans) : NULL;
    }
    json_decref(spans);
    return fine;
}

bool setting_set(const struct setting *setting, struct settings *settings, const json_t *value,
                 const char *label, struct error *error) {
    static bool (*const setters[])(const struct target *, const json_t *) = {
        [SETTING_BOOL] = set_bool,         [SETTING_INT] = set_int,
        [SETTING_AUTO] = set_auto,         [SETTING_INT64] = set_int64,
        [SETTING_FACTOR] = set_factor,     [SETTING_SPAN] = set_span,
        [SETTING_SPAN_OFF] = set_span_off, [SETTING_SPAN_AS] = set_span_off,
        [SETTING_SIZE] = set_size,         [SETTING_TEXT] = set_text,
        [SETTING_STORE] = set_store,       [SETTING_LIST] = set_list,
        [SETTING_STOCK] = set_stock,       [SETTING_NOTIFY] = set_notify,
        [SETTING_RANGE] = set_range,       [SETTING_WORKERS] = set_workers,
        [SETTING_SCOPE] = set_scope,       [SETTING_ACQUISITIONS] = set_acquisitions,
        [SETTING_FAIR] = set_word,         [SETTING_MISSING] = set_word,
        [SETTING_CRON] = set_word,         [SETTING_HISTORY] = set_word,
        [SETTING_COUNTS] = set_counts,     [SETTING_SPANS] = set_spans,
        [SETTING_REACH] = set_reach,       [SETTING_ORIGINS] = set_origins,
        [SETTING_USERS] = set_users,
    };
    struct target target = {setting, (char *)settings + setting->offset, label, error};
    return setters[setting->kind](&target, value);
}

json_t *setting_from_text(const struct setting *setting, const char *text) {
    switch (setting->kind) {
    case SETTING_TEXT:
    case SETTING_STORE:
    case SETTING_RANGE:
    case SETTING_WORKERS:
        return json_string(text);
    case SETTING_LIST:
    case SETTING_STOCK:
    case SETTING_REACH:
    case SETTING_ORIGINS:
        return names_from_text(text);
    case SETTING_COUNTS:
        return counts_from_text(text);
    case SETTING_SPANS:
    case SETTING_NOTIFY:
        return names_with_texts(text);
    case SETTING_BOOL:
    case SETTING_INT:
    case SETTING_AUTO:
    case SETTING_INT64:
    case SETTING_FACTOR:
    case SETTING_SPAN:
    case SETTING_SPAN_OFF:
    case SETTING_SPAN_AS:
    case SETTING_SIZE:
    case SETTING_SCOPE:
    case SETTING_ACQUISITIONS:
    case SETTING_USERS:
    case SETTING_FAIR:
    case SETTING_MISSING:
    case SETTING_CRON:
    case SETTING_HISTORY:
        return scalar_from_text(text);
    }
    return NULL;
}

static json_t *span_value(time_ms ms) {
    char text[TIME_TEXT_SIZE];
    span_format(ms, text);
    return json_string(text);
}

static json_t *spans_value(const json_t *spans) {
    json_t *value = spans ? json_object() : json_null(), *span;
    const char *name;
    json_object_foreach(json_unchanged(spans), name, span) {
        time_ms ms = json_integer_value(span);
        json_object_set_new(value, name, ms ? span_value(ms) : json_string("off"));
    }
    return value;
}

static json_t *side_value(int64_t side, int64_t open) {
    return side == open ? json_null() : json_integer(side);
}

static json_t *range_value(const int64_t range[2]) {
    if (range[0] == INT64_MIN && range[1] == INT64_MAX)
        return json_null();
    return json_pack("[o, o]", side_value(range[0], INT64_MIN), side_value(range[1], INT64_MAX));
}

static json_t *text_value(const char *text) {
    return text ? json_string(text) : json_null();
}

static json_t *span_setting_value(enum setting_kind kind, time_ms span) {
    if (span < 0)
        return json_null();
    return span || kind == SETTING_SPAN ? span_value(span) : json_false();
}

static json_t *list_value(const struct setting *setting, const json_t *list) {
    if (setting->kind == SETTING_SPANS)
        return spans_value(list);
    return list ? json_deep_copy(list) : json_null();
}

static json_t *pair_value(enum setting_kind kind, const void *field) {
    const int *pair = field;
    if (kind == SETTING_RANGE)
        return range_value(field);
    return pair[0] == pair[1] ? json_integer(*pair) : json_pack("[i, i]", pair[0], pair[1]);
}

static json_t *number_value(enum setting_kind kind, const void *field) {
    if (kind == SETTING_BOOL)
        return json_boolean(*(const bool *)field);
    if (kind == SETTING_FACTOR)
        return json_real(*(const double *)field);
    if (kind == SETTING_INT64 || kind == SETTING_SIZE)
        return json_integer(*(const int64_t *)field);
    int number = *(const int *)field;
    return kind == SETTING_AUTO && !number ? json_string("auto") : json_integer(number);
}

static json_t *word_value(const struct setting *setting, const unsigned *field) {
    return json_string(kinds[setting->kind].words[*field]);
}

static json_t *shown_value(enum setting_kind kind, const char *text) {
    char shown[STORE_SHOWN];
    return text_value(kind == SETTING_STORE && text ? store_url_show(text, shown) : text);
}

json_t *setting_value(const struct setting *setting, const struct settings *settings) {
    const void *field = (const char *)settings + setting->offset;
    switch (setting->kind) {
    case SETTING_BOOL:
    case SETTING_INT:
    case SETTING_AUTO:
    case SETTING_INT64:
    case SETTING_SIZE:
    case SETTING_FACTOR:
        return number_value(setting->kind, field);
    case SETTING_SPAN:
    case SETTING_SPAN_AS:
    case SETTING_SPAN_OFF:
        return span_setting_value(setting->kind, *(const time_ms *)field);
    case SETTING_TEXT:
    case SETTING_STORE:
        return shown_value(setting->kind, *(char *const *)field);
    case SETTING_LIST:
    case SETTING_STOCK:
    case SETTING_REACH:
    case SETTING_ORIGINS:
    case SETTING_USERS:
    case SETTING_NOTIFY:
    case SETTING_COUNTS:
    case SETTING_ACQUISITIONS:
    case SETTING_SPANS:
        return list_value(setting, *(json_t *const *)field);
    case SETTING_RANGE:
    case SETTING_WORKERS:
        return pair_value(setting->kind, field);
    case SETTING_SCOPE:
        return json_string(*(const bool *)field ? "root" : "instance");
    case SETTING_FAIR:
    case SETTING_MISSING:
    case SETTING_CRON:
    case SETTING_HISTORY:
        return word_value(setting, field);
    }
    return NULL;
}

static void add_size(struct text *out, int64_t size) {
    size_t unit = UNITS;
    while (unit > 0 && (size == 0 || size & ((INT64_C(1) << units[unit - 1].shift) - 1)))
        unit--;
    if (unit)
        text_add(out, "%lld%s", (long long)(size >> units[unit - 1].shift), units[unit - 1].name);
    else
        text_add(out, "%lld", (long long)size);
}

static void add_value(struct text *out, const json_t *value, const char *none) {
    const char *own = json_string_value(value);
    char *text = own || json_is_null(value) ? NULL : json_write(value, NULL);
    if (text)
        own = text;
    text_add(out, "%s", own ? own : none);
    free(text);
}

static void add_list(struct text *out, const json_t *list, const char *separator) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        text_add(out, "%s", i ? separator : "");
        add_value(out, json_array_get(list, i), "");
    }
}

static bool is_names(const struct setting *setting) {
    return setting->kind == SETTING_LIST || setting->kind == SETTING_STOCK ||
           setting->kind == SETTING_REACH || setting->kind == SETTING_ORIGINS;
}

char *setting_text(const struct setting *setting, const struct settings *settings) {
    struct text out = {0};
    json_t *value = setting_value(setting, settings);
    if (setting->kind == SETTING_SIZE)
        add_size(&out, json_integer_value(value));
    else if (json_is_false(value) && setting->kind != SETTING_BOOL)
        text_add(&out, "off");
    else if (setting->kind == SETTING_COUNTS && json_is_object(value))
        counts_write(&out, value);
    else if (json_is_object(value) &&
             (setting->kind == SETTING_SPANS || setting->kind == SETTING_NOTIFY))
        names_write(&out, value);
    else if (json_is_array(value))
        add_list(&out, value, is_names(setting) ? "," : ":");
    else
        add_value(&out, value, "-");
    if (!value || out.failed)
        text_clear(&out);
    json_decref(value);
    return out.data;
}
