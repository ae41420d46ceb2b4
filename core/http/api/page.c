#include "http/api/page.h"
#include "base/json.h"
#include "base/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 64, HASH_SIZE = 16 };

/* ---- the cursor: 16 digits of the hash, a letter, and where ---- */

static bool refuse_cursor(struct error *error) {
    return error_set(error, ERROR_INVALID,
                     "after: it is not of this question (expected the `next` of its page before)");
}

static json_t *key_read(const char *hex) {
    const size_t size = strlen(hex) / 2;
    char *text = calloc(1, size + 1);
    unsigned byte;
    for (size_t i = 0; text && i < size && sscanf(hex + 2 * i, "%2x", &byte) == 1; i++)
        text[i] = (char)byte;
    json_t *key = text ? json_string(text) : NULL;
    free(text);
    return key;
}

static bool cursor_read(struct page *page, const char *text, struct error *error) {
    char hash[HASH_SIZE + 1];
    snprintf(hash, sizeof hash, "%016" PRIx64, (uint64_t)page->hash);
    if (strlen(text) < HASH_SIZE + 2 || strncmp(text, hash, HASH_SIZE) != 0)
        return refuse_cursor(error);
    const char form = text[HASH_SIZE], *value = text + HASH_SIZE + 1;
    if (form == 'k' && page->walks)
        return json_put(page->asked, "key", key_read(value)) || error_no_memory(error);
    char *end = NULL;
    const int64_t number = strtoll(value, &end, 10);
    if (*end || number < 1 || form != (page->by_id ? 'i' : 'o'))
        return refuse_cursor(error);
    if (!page->by_id && number > PAGE_DEEPEST)
        return error_set(
            error, ERROR_INVALID,
            "after: a page that deep is not read (sort by id, or narrow the question)");
    page->offset = page->by_id ? 0 : number;
    return json_put(page->asked, page->by_id ? "after" : "offset", json_integer(number)) ||
           error_no_memory(error);
}

static json_t *cursor_of_key(const struct page *page, const char *key) {
    struct text text = {0};
    text_add(&text, "%016" PRIx64 "k", (uint64_t)page->hash);
    for (; *key; key++)
        text_add(&text, "%02x", (unsigned)(unsigned char)*key);
    json_t *cursor = text.data ? json_string(text.data) : NULL;
    text_clear(&text);
    return cursor;
}

static json_t *cursor_of(const struct page *page, const json_t *last) {
    const int64_t at = page->by_id ? json_int(last, "id") : page->offset + page->limit;
    return json_sprintf("%016" PRIx64 "%c%" PRId64, (uint64_t)page->hash, page->by_id ? 'i' : 'o',
                        at);
}

/* ---- reading ---- */

static bool hash_of(struct page *page, const struct call *call, struct error *error) {
    json_t *what = json_pack("{ss sO sO*}", "path", call->exchange->path, "filters",
                             json_object_get(page->asked, "filters"), "sort",
                             json_object_get(call->options, "sort"));
    char *text = what ? json_dumps(what, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    page->hash = text ? text_hash(text) : 0;
    json_decref(what);
    free(text);
    return page->hash || error_no_memory(error);
}

static bool read_limit(struct page *page, const struct call *call, struct error *error) {
    const json_t *limit = json_object_get(call->options, "limit");
    page->limit = PAGE_ROWS;
    return !limit || json_whole(limit, 1, PAGE_MOST, &page->limit) ||
           json_refuse("limit", limit, "a whole number from 1 to 1000", error);
}

static bool read_sort(struct page *page, const struct call *call) {
    const char *sort = json_text(call->options, "sort");
    if (!sort)
        return true;
    bool descends = *sort == '-';
    return json_put_text(page->asked, "sort", sort + descends) &&
           json_put(page->asked, "descending", json_boolean(descends));
}

/* Rows are sorted by the first column that can be, unless told. */
static bool is_by_id(const struct ask_table *table, const char *sort) {
    const struct ask_column *column = table->columns;
    while (column->use != ASK_SORT && column->use != ASK_BOTH)
        column++;
    return strcmp(sort ? sort : column->name, "id") == 0 && !table->group && !table->order;
}

bool page_read(struct page *page, const struct call *call, enum ask_kind kind,
               const json_t *filters, struct error *error) {
    const struct ask_table *table = engine_ask_table(kind);
    const char *after = json_text(call->options, "after"), *sort = json_text(call->options, "sort");
    *page = (struct page){.kind = kind};
    if (!read_limit(page, call, error))
        return false;
    page->walks = kind == ASK_LOG;
    page->by_id = is_by_id(table, sort);
    page->asked =
        json_pack("{sO sI}", "filters", filters, "limit", (json_int_t)(page->limit + !page->walks));
    return page->asked && read_sort(page, call)
               ? hash_of(page, call, error) && (!after || cursor_read(page, after, error))
               : error_no_memory(error);
}

void page_clear(struct page *page) {
    json_decref(page->asked);
    page->asked = NULL;
}

/* ---- answering ---- */

static bool check_fields(const struct ask_table *table, char *list, struct error *error) {
    const char *names[COLUMNS_MAX + 1];
    size_t count = 0;
    for (const struct ask_column *column = table->columns; column->name && count < COLUMNS_MAX;
         column++)
        names[count++] = column->name;
    names[count] = NULL;
    for (char *part; (part = strsep(&list, ","));)
        if (!is_one_of(part, names))
            return error_unknown(error, ERROR_INVALID, "fields: unknown column", part, names,
                                 "expected");
    return true;
}

/* The row with these columns alone. */
static json_t *narrow(json_t *row, const char *fields) {
    json_t *some = json_object();
    for (size_t size; some && *fields; fields += size + (fields[size] == ',')) {
        size = strcspn(fields, ",");
        json_t *value = json_object_getn(row, fields, size);
        if (json_object_setn(some, fields, size, value ? value : json_null()) != 0)
            return NULL;
    }
    return some;
}

static bool narrow_all(const struct page *page, const char *fields, json_t *rows,
                       struct error *error) {
    char *copy = strdup(fields);
    bool done =
        copy ? check_fields(engine_ask_table(page->kind), copy, error) : error_no_memory(error);
    for (size_t i = 0; done && i < json_array_size(rows); i++)
        done = json_array_set_new(rows, i, narrow(json_array_get(rows, i), fields)) == 0 ||
               error_no_memory(error);
    free(copy);
    return done;
}

/* Where the next page begins; null: there is none. A row too many says that there is, and goes. */
static json_t *next_of(const struct page *page, const json_t *answer, json_t *rows) {
    const size_t count = json_array_size(rows);
    if (page->walks)
        return count == (size_t)page->limit ? cursor_of_key(page, json_text(answer, "key"))
                                            : json_null();
    if (count <= (size_t)page->limit)
        return json_null();
    json_array_remove(rows, count - 1);
    return cursor_of(page, json_array_get(rows, count - 2));
}

json_t *page_answer(const struct page *page, const struct call *call, json_t *answer,
                    struct error *error) {
    const char *fields = json_text(call->options, "fields");
    json_t *rows = json_incref(page->walks ? json_object_get(answer, "rows") : answer);
    json_t *next = next_of(page, answer, rows);
    json_decref(answer);
    if (fields && !narrow_all(page, fields, rows, error)) {
        json_decref(rows);
        json_decref(next);
        return NULL;
    }
    json_t *whole = json_pack("{so so}", "items", rows, "next", next);
    if (!whole)
        error_no_memory(error);
    return whole;
}
