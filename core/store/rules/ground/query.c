#include "store/rules/ground/query.h"
#include "base/json.h"
#include "base/list.h"
#include "time/span.h"
#include <stdlib.h>
#include <string.h>

void query_add(struct query *query, const char *sql) {
    text_append(&query->sql, sql, strlen(sql));
}

void query_bind(struct query *query, const json_t *value) {
    query_add(query, "?");
    const json_t **values = list_room(query->values, query->count, sizeof *values);
    if (!values) {
        query->failed = true;
        return;
    }
    query->values = values;
    values[query->count++] = value;
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

size_t filter_count(const json_t *value) {
    bool none = json_is_object(value) && json_object_size(value) == 0; /* {} of Lua: a list */
    return json_is_array(value) ? json_array_size(value) : !none;
}

const json_t *filter_value(const json_t *value, size_t at) {
    return json_is_array(value) ? json_array_get(value, at) : value;
}

static bool filter_any(struct query *query, const struct filter *filter, const json_t *value,
                       int kinds, const char *expected, struct error *error) {
    size_t count = filter_count(value);
    query_add(query, filter->sql);
    if (json_is_null(value)) {
        query_add(query, " IS NULL");
        filter_close(query, filter);
        return true;
    }
    query_add(query, count ? " IN (" : " IN (NULL");
    for (size_t i = 0; i < count; i++) {
        const json_t *one = filter_value(value, i);
        query_add(query, i ? ", " : "");
        if (filter_fits(one, kinds))
            query_bind(query, one);
        else if (json_is_integer(one)) /* is its text */
            query_bind_new(query, json_sprintf("%lld", (long long)json_integer_value(one)));
        else
            return filter_refuse(filter, expected, error);
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

/* filter_numbers of a list made on the way; takes the reference. */
static bool filter_numbers_of(struct query *query, const struct filter *filter, json_t *numbers,
                              struct error *error) {
    bool added = filter_numbers(query, filter, numbers, error);
    if (!query->owned)
        query->owned = json_array();
    query->failed = query->failed || json_array_append_new(query->owned, numbers) != 0;
    return added;
}

static bool filter_refuse_name(const struct filter *filter, const char *name,
                               const char *const *names, struct error *error) {
    struct text known = {0};
    for (; *names; names++) {
        const char *joint = names[1] ? ", " : " or ";
        text_add(&known, "%s%s", known.size ? joint : "", *names);
    }
    error_set(error, ERROR_INVALID, "filter \"%s\": \"%s\" (expected %s)", filter->name,
              name ? name : "?", known.data ? known.data : "another");
    text_clear(&known);
    return false;
}

bool filter_names(struct query *query, const struct filter *filter, const json_t *value,
                  const char *const *names, bool numbered, struct error *error) {
    json_t *places = json_array();
    for (size_t i = 0; i < filter_count(value); i++) {
        const char *name = json_string_value(filter_value(value, i));
        int place = 0;
        while (name && names[place] && strcmp(names[place], name) != 0)
            place++;
        if (!name || !names[place]) {
            json_decref(places);
            return filter_refuse_name(filter, name, names, error);
        }
        json_array_append_new(places, json_integer(place));
    }
    if (numbered)
        return filter_numbers_of(query, filter, places, error);
    json_decref(places);
    return filter_texts(query, filter, value, error);
}

/* The number behind the last slash of "name/number"; else NULL: a new reference. */
static json_t *executor_id(const char *text) {
    const char *slash = strrchr(text, '/');
    char *end = NULL;
    long long id = slash && slash[1] ? strtoll(slash + 1, &end, 10) : 0;
    return end && !*end ? json_integer(id) : NULL;
}

bool filter_executor(struct query *query, const struct filter *filter, const json_t *value,
                     struct error *error) {
    json_t *ids = json_array(), *names = json_array();
    size_t count = filter_count(value);
    bool fine = ids && names;
    for (size_t i = 0; fine && i < count; i++) {
        const json_t *one = filter_value(value, i);
        json_t *id = json_is_string(one) ? executor_id(json_string_value(one)) : NULL;
        fine = filter_fits(one, FILTER_NUMBER | FILTER_TEXT);
        if (fine && (id || json_is_integer(one)))
            json_array_append(ids, id ? id : json_unchanged(one));
        else if (fine)
            json_array_append(names, json_unchanged(one));
        json_decref(id);
    }
    const struct filter by_id = {.name = filter->name, .sql = filter->sql, .after = " OR "};
    const struct filter by_name = {
        .name = filter->name, .sql = "SELECT id FROM executor WHERE name", .after = "))"};
    if (!fine) {
        json_decref(ids);
        json_decref(names);
        return filter_refuse(filter, "an executor (its name, name/id or id) or a list", error);
    }
    query_add(query, "(");
    filter_numbers_of(query, &by_id, ids, error);
    query_add(query, filter->sql);
    query_add(query, " IN (");
    fine = filter_texts(query, &by_name, names, error);
    query->failed = query->failed || json_array_append_new(query->owned, names) != 0;
    return fine;
}

bool filter_definition(struct query *query, const struct filter *filter, const json_t *value,
                       struct error *error) {
    static const char expected[] = "a name, an id or a list of them";
    const struct filter id = {.name = filter->name, .sql = "(CAST(d.id AS TEXT)"};
    const struct filter name = {.name = filter->name, .sql = " OR d.name", .after = ")"};
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
    bool any = *json_string_value(value) == '\0';
    query_add(query, any ? "" : "replace(");
    query_add(query, filter->sql);
    query_add(query, any ? " IS NOT NULL" : ", ");
    if (any)
        return true;
    query_bind(query, value);
    query_add(query, ", '')<>");
    query_add(query, filter->sql);
    return true;
}

/* ---- clauses ---- */

static bool can_find(const struct ask_column *column) {
    return column->use == ASK_FIND || column->use == ASK_BOTH;
}

static bool can_sort(const struct ask_column *column) {
    return column->sql && (column->use == ASK_SORT || column->use == ASK_BOTH);
}

static bool query_unknown(const char *name, const struct ask_table *table, struct error *error) {
    const char *names[128];
    size_t count = 0;
    for (const struct filter *filter = table->filters; filter && filter->name; filter++)
        if (filter->add && count < 64)
            names[count++] = filter->name;
    for (const struct ask_column *column = table->columns; column->name && count < 127; column++)
        if (can_find(column))
            names[count++] = column->name;
    names[count] = NULL;
    return error_unknown(error, ERROR_INVALID, "unknown filter", name, names, NULL);
}

/* The filter of this name: the table's, or made of a column. False: there is none. */
static bool filter_named(const char *name, const struct ask_table *table, struct filter *found) {
    for (const struct filter *filter = table->filters; filter && filter->name; filter++)
        if (filter->add && strcmp(filter->name, name) == 0) {
            *found = *filter;
            return true;
        }
    for (const struct ask_column *column = table->columns; column->name; column++)
        if (can_find(column) && strcmp(column->name, name) == 0) {
            bool number = column->type == ASK_INTEGER;
            *found = (struct filter){
                .name = name, .add = number ? filter_numbers : filter_texts, .sql = column->sql};
            return true;
        }
    return false;
}

bool query_where(struct query *query, const json_t *filters, const struct ask_table *table,
                 struct error *error) {
    const char *name = NULL, *joint = " WHERE ";
    json_t *value = NULL;
    if (filters && !json_is_object(filters) && json_array_size(filters))
        return error_set(error, ERROR_INVALID, "filters: expected names and values");
    json_object_foreach(json_unchanged(filters), name, value) {
        struct filter filter;
        if (!filter_named(name, table, &filter))
            return query_unknown(name, table, error);
        query_add(query, joint);
        if (!filter.add(query, &filter, value, error))
            return false;
        joint = " AND ";
    }
    return true;
}

static const struct ask_column *first_sort(const struct ask_column *columns) {
    while (!can_sort(columns))
        columns++;
    return columns;
}

static const char *query_sort(const char *name, const struct ask_column *columns,
                              struct error *error) {
    const char *names[64];
    size_t count = 0;
    if (!name)
        return first_sort(columns)->sql;
    for (const struct ask_column *column = columns; column->name && count < 63; column++) {
        if (can_sort(column) && strcmp(column->name, name) == 0)
            return column->sql;
        if (can_sort(column))
            names[count++] = column->name;
    }
    names[count] = NULL;
    error_unknown(error, ERROR_INVALID, "cannot sort by", name, names, "expected");
    return NULL;
}

bool query_page(struct query *query, const struct store_page *page, const struct ask_table *table,
                struct error *error) {
    const struct ask_column *columns = table->columns;
    static const struct store_page all = {.limit = 10000};
    if (!page)
        page = &all;
    const char *sort = query_sort(page->sort, columns, error);
    const char *first = first_sort(columns)->sql, *way = page->descending ? " DESC" : "";
    if (!sort)
        return false;
    if (table->group)
        text_add(&query->sql, " GROUP BY %s", table->group);
    if (!page->sort && table->order)
        text_add(&query->sql, " ORDER BY %s", table->order);
    else
        text_add(&query->sql, " ORDER BY %s%s", sort, way);
    if (strcmp(sort, first) != 0)
        text_add(&query->sql, ", %s%s", first, way);
    text_add(&query->sql, " LIMIT %d OFFSET %lld", page->limit, (long long)page->offset);
    return true;
}

/* "SELECT …" of the columns that have SQL, and where they are from. */
static void query_select(struct query *query, const struct ask_table *table,
                         const struct ask_column *columns) {
    const char *joint = "SELECT ";
    query->columns = columns;
    for (const struct ask_column *column = columns; column->name; column++)
        if (column->sql) {
            query_add(query, joint);
            query_add(query, column->sql);
            joint = ", ";
        }
    query_add(query, table->from);
}

/* ---- rows ---- */

static json_t *column_json(struct row *row, int at) {
    const char *text = row_text(row, at);
    return text ? json_read(text, strlen(text), "column", NULL) : NULL;
}

bool query_put_instant(json_t *object, const char *key, time_ms time) {
    return time == TIME_NEVER ? json_put_text(object, key, "never")
                              : json_put_time(object, key, time);
}

static bool column_put(json_t *object, const struct ask_column *column, struct row *row, int at) {
    switch (column->type) {
    case ASK_INTEGER:
    case ASK_NUMBER:
    case ASK_TEXT:
        return json_put(object, column->name, query_column(row, at));
    case ASK_TIME:
        return query_put_instant(object, column->name, row_time(row, at));
    case ASK_FLAG:
        return json_put(object, column->name, json_boolean(row_int(row, at) != 0));
    case ASK_LIST:
    case ASK_OBJECT:
    case ASK_VALUE:
        return json_put(object, column->name, column_json(row, at));
    }
    return false;
}

static json_t *columns_read(const struct query *query, struct store *store, struct row *row,
                            struct error *error) {
    json_t *object = json_object();
    int at = 0;
    for (const struct ask_column *column = query->columns; column->name; column++)
        if (column->sql && !column_put(object, column, row, at++)) {
            json_decref(object);
            return error_null(db_no_memory(&store->db, error));
        }
    return object;
}

static json_t *query_read_all(const struct query *query, struct store *store, struct row *rows,
                              query_read *read, struct error *error) {
    json_t *array = json_array();
    enum answer step = array ? YES : FAILED;
    while (step == YES && (step = db_step(&store->db, rows, error)) == YES) {
        json_t *value = read ? read(store, rows, error) : columns_read(query, store, rows, error);
        if (!value || json_array_append_new(array, value) != 0)
            step = FAILED;
    }
    if (step == NO)
        return array;
    if (error && error->code == ERROR_NONE)
        db_no_memory(&store->db, error);
    json_decref(array);
    return NULL;
}

json_t *query_rows(struct query *query, struct store *store, const char *asked, query_read *read,
                   struct error *error) {
    bool own = false;
    if (query->failed || query->sql.failed)
        return error_null(db_no_memory(&store->db, error));
    if (!look_begin(store, &own, error))
        return NULL;
    store->db.question = asked;
    struct row *rows = db_prepare(&store->db, query->sql.data, query->values, query->count, error);
    if (rows && error)
        error->code = ERROR_NONE;
    json_t *array = rows ? query_read_all(query, store, rows, read, error) : NULL;
    db_forget(&store->db, rows);
    look_end(store, own);
    return array;
}

json_t *query_list(struct store *store, const struct ask_table *table, const json_t *filters,
                   const struct store_page *page, struct error *error) {
    struct query query = {0};
    json_t *rows = NULL;
    const struct ask_column id[] = {*first_sort(table->columns), {0}};
    query_select(&query, table, page && page->ids ? id : table->columns);
    bool fine = query_where(&query, filters, table, error);
    if (fine && page && page->after) {
        query_add(&query, json_object_size(filters) ? " AND " : " WHERE ");
        query_add(&query, first_sort(table->columns)->sql);
        query_add(&query, ">");
        query_bind_new(&query, json_integer(page->after));
    }
    if (fine && query_page(&query, page, table, error))
        rows = query_rows(&query, store, table->asked, NULL, error);
    query_clear(&query);
    return rows;
}

json_t *query_column(struct row *row, int column) {
    switch (row_type(row, column)) {
    case ROW_NULL:
        return json_null();
    case ROW_INTEGER:
        return json_integer(row_int(row, column));
    case ROW_REAL:
        return json_real(row_real(row, column));
    case ROW_TEXT:
        return json_string(row_text(row, column));
    }
    return NULL;
}

bool query_put_time(json_t *object, const char *key, struct row *row, int column) {
    return json_put_time(object, key, row_time(row, column));
}
