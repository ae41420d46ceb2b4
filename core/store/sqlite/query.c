#include "store/sqlite/query.h"
#include "base/json.h"
#include "base/span.h"
#include <stdlib.h>
#include <string.h>

void query_add(struct query *query, const char *sql) {
    text_append(&query->sql, sql, strlen(sql));
}

void query_bind(struct query *query, const json_t *value) {
    query_add(query, "?");
    if (query->count == query->room) {
        size_t room = query->room ? query->room * 2 : 16;
        const json_t **values = realloc(query->values, room * sizeof(json_t *));
        if (!values) {
            query->failed = true;
            return;
        }
        query->values = values;
        query->room = room;
    }
    query->values[query->count++] = value;
}

void query_bind_new(struct query *query, json_t *value) {
    if (!query->owned)
        query->owned = json_array();
    if (!value || json_array_append_new(query->owned, value) != 0)
        query->failed = true;
    query_bind(query, value);
}

void query_clear(struct query *query) {
    text_clear(&query->sql);
    free(query->values);
    json_decref(query->owned);
    *query = (struct query){0};
}

/* ---- filters ---- */

static bool filter_refuse(const struct filter *filter, const char *expected, struct error *error) {
    return error_set(error, ERROR_INVALID, "filter \"%s\": expected %s", filter->name, expected);
}

static void filter_close(struct query *query, const struct filter *filter) {
    if (filter->after)
        query_add(query, filter->after);
}

enum filter_kind { FILTER_NUMBER = 1, FILTER_TEXT };

static bool filter_fits(const json_t *value, int kinds) {
    return (json_is_integer(value) && (kinds & FILTER_NUMBER)) ||
           (json_is_string(value) && (kinds & FILTER_TEXT));
}

static bool filter_any(struct query *query, const struct filter *filter, const json_t *value,
                       int kinds, const char *expected, struct error *error) {
    bool none = json_is_object(value) && json_object_size(value) == 0; /* {} of Lua: a list */
    size_t count = json_is_array(value) ? json_array_size(value) : !none;
    query_add(query, filter->sql);
    if (json_is_null(value)) {
        query_add(query, " IS NULL");
        filter_close(query, filter);
        return true;
    }
    query_add(query, " IN (");
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_is_array(value) ? json_array_get(value, i) : value;
        if (!filter_fits(one, kinds))
            return filter_refuse(filter, expected, error);
        query_add(query, i ? ", " : "");
        query_bind(query, one);
    }
    query_add(query, ")");
    filter_close(query, filter);
    return true;
}

bool filter_numbers(struct query *query, const struct filter *filter, const json_t *value,
                    struct error *error) {
    return filter_any(query, filter, value, FILTER_NUMBER, "an integer or a list of integers",
                      error);
}

bool filter_texts(struct query *query, const struct filter *filter, const json_t *value,
                  struct error *error) {
    return filter_any(query, filter, value, FILTER_TEXT, "a text or a list of texts", error);
}

bool filter_either(struct query *query, const struct filter *filter, const json_t *value,
                   struct error *error) {
    return filter_any(query, filter, value, FILTER_NUMBER | FILTER_TEXT,
                      "an integer, a text or a list of them", error);
}

bool filter_definition(struct query *query, const struct filter *filter, const json_t *value,
                       struct error *error) {
    static const char expected[] = "a name, an id or a list of them";
    const struct filter id = {filter->name, NULL, "(d.id", NULL};
    const struct filter name = {filter->name, NULL, " OR d.name", ")"};
    query_add(query, filter->sql);
    if (!filter_any(query, &id, value, FILTER_NUMBER | FILTER_TEXT, expected, error) ||
        !filter_any(query, &name, value, FILTER_NUMBER | FILTER_TEXT, expected, error))
        return false;
    filter_close(query, filter);
    return true;
}

bool filter_flag(struct query *query, const struct filter *filter, const json_t *value,
                 struct error *error) {
    if (!json_is_boolean(value))
        return filter_refuse(filter, "true or false", error);
    query_add(query, json_is_true(value) ? "(" : "NOT (");
    query_add(query, filter->sql);
    query_add(query, ")");
    return true;
}

bool filter_number(struct query *query, const struct filter *filter, const json_t *value,
                   struct error *error) {
    if (!json_is_integer(value))
        return filter_refuse(filter, "an integer", error);
    query_add(query, filter->sql);
    query_bind(query, value);
    filter_close(query, filter);
    return true;
}

bool filter_time(struct query *query, const struct filter *filter, const json_t *value,
                 struct error *error) {
    time_ms time = 0;
    struct error why = {ERROR_NONE, ""};
    if (!json_is_string(value))
        return filter_refuse(filter, "a time such as \"2026-01-01T00:00:00Z\"", error);
    if (!time_parse(json_string_value(value), &time, &why))
        return error_set(error, ERROR_INVALID, "filter \"%s\": %s", filter->name, why.text);
    query_add(query, filter->sql);
    query_bind_new(query, json_integer(time));
    filter_close(query, filter);
    return true;
}

bool filter_text(struct query *query, const struct filter *filter, const json_t *value,
                 struct error *error) {
    if (!json_is_string(value))
        return filter_refuse(filter, "a text", error);
    query_add(query, filter->sql);
    query_bind(query, value);
    filter_close(query, filter);
    return true;
}

/* ---- clauses ---- */

static bool query_unknown(const char *name, const struct filter *table, struct error *error) {
    const char *names[40];
    size_t count = 0;
    while (table[count].name && count < 39) {
        names[count] = table[count].name;
        count++;
    }
    names[count] = NULL;
    const char *meant = suggest(name, names);
    if (meant)
        return error_set(error, ERROR_INVALID, "unknown filter \"%s\" (did you mean \"%s\"?)", name,
                         meant);
    return error_set(error, ERROR_INVALID, "unknown filter \"%s\"", name);
}

bool query_where(struct query *query, const json_t *filters, const struct filter *table,
                 struct error *error) {
    const char *name = NULL, *joint = " WHERE ";
    json_t *value = NULL;
    if (filters && !json_is_object(filters) && json_array_size(filters))
        return error_set(error, ERROR_INVALID, "filters: expected names and values");
    json_object_foreach((json_t *)filters, name, value) {
        const struct filter *filter = table;
        while (filter->name && strcmp(filter->name, name) != 0)
            filter++;
        if (!filter->name)
            return query_unknown(name, table, error);
        query_add(query, joint);
        if (!filter->add(query, filter, value, error))
            return false;
        joint = " AND ";
    }
    return true;
}

static const char *query_sort(const char *name, const char *const *sorts, struct error *error) {
    const char *names[40];
    size_t count = 0;
    if (!name)
        return sorts[1];
    for (; sorts[count * 2] && count < 39; count++) {
        if (strcmp(sorts[count * 2], name) == 0)
            return sorts[count * 2 + 1];
        names[count] = sorts[count * 2];
    }
    names[count] = NULL;
    const char *meant = suggest(name, names);
    struct text known = {0};
    for (size_t i = 0; i < count; i++)
        text_add(&known, "%s%s", i ? ", " : "", names[i]);
    if (meant)
        error_set(error, ERROR_INVALID, "cannot sort by \"%s\" (did you mean \"%s\"?)", name,
                  meant);
    else
        error_set(error, ERROR_INVALID, "cannot sort by \"%s\" (expected %s)", name,
                  known.data ? known.data : "another");
    text_clear(&known);
    return NULL;
}

bool query_page(struct query *query, const struct store_page *page, const char *const *sorts,
                struct error *error) {
    static const struct store_page all = {.limit = 10000};
    if (!page)
        page = &all;
    const char *sort = query_sort(page->sort, sorts, error);
    if (!sort)
        return false;
    const char *way = page->descending ? " DESC" : "";
    text_add(&query->sql, " ORDER BY %s%s", sort, way);
    if (strcmp(sort, sorts[1]) != 0)
        text_add(&query->sql, ", %s%s", sorts[1], way);
    text_add(&query->sql, " LIMIT %d OFFSET %lld", page->limit, (long long)page->offset);
    return true;
}

/* ---- rows ---- */

static void query_bind_values(const struct query *query, sqlite3_stmt *statement) {
    for (size_t i = 0; i < query->count; i++) {
        const json_t *value = query->values[i];
        int at = (int)i + 1;
        if (json_is_integer(value))
            sqlite3_bind_int64(statement, at, json_integer_value(value));
        else if (json_is_real(value))
            sqlite3_bind_double(statement, at, json_real_value(value));
        else
            sqlite3_bind_text(statement, at, json_string_value(value), -1, SQLITE_STATIC);
    }
}

static json_t *query_read_all(struct store *store, sqlite3_stmt *rows, query_read *read,
                              struct error *error) {
    json_t *array = json_array();
    int step = array ? 1 : -1;
    while (step > 0 && (step = db_step(&store->db, rows, error)) > 0) {
        json_t *value = read(store, rows, error);
        if (!value || json_array_append_new(array, value) != 0)
            step = -1;
    }
    if (step == 0)
        return array;
    if (error && error->code == ERROR_NONE)
        error_set(error, ERROR_FAILED, "store \"%s\": out of memory", store->db.name);
    json_decref(array);
    return NULL;
}

/* The question may be longer than SQLite takes: that is the asker's fault, and the only one left.
 */
static void query_refuse(struct store *store, struct error *error) {
    const char *why = sqlite3_errmsg(store->db.handle);
    if (strstr(why, "too many") || strstr(why, "too large") || strstr(why, "too big"))
        error_set(error, ERROR_INVALID, "filters: too long a question (%s)", why);
    else
        db_fail(&store->db, error);
}

json_t *query_rows(struct query *query, struct store *store, const char *asked, query_read *read,
                   struct error *error) {
    bool own = false;
    sqlite3_stmt *statement = NULL;
    json_t *array = NULL;
    if (query->failed || query->sql.failed) {
        error_set(error, ERROR_FAILED, "store \"%s\": out of memory", store->db.name);
        return NULL;
    }
    if (!look_begin(store, &own, error))
        return NULL;
    store->db.question = asked;
    if (sqlite3_prepare_v2(store->db.handle, query->sql.data, -1, &statement, NULL) == SQLITE_OK) {
        query_bind_values(query, statement);
        if (error)
            error->code = ERROR_NONE;
        array = query_read_all(store, statement, read, error);
    } else
        query_refuse(store, error);
    sqlite3_finalize(statement);
    look_end(store, own);
    return array;
}

json_t *query_column(sqlite3_stmt *row, int column) {
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL:
        return json_null();
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(row, column));
    case SQLITE_FLOAT:
        return json_real(sqlite3_column_double(row, column));
    default:
        return json_string(db_column_text(row, column));
    }
}

bool query_put_time(json_t *object, const char *key, sqlite3_stmt *row, int column) {
    return json_put_time(object, key, db_column_time(row, column));
}
