/* query.h - from filters (a JSON object that users write) to SQL with bound parameters
 * (rules §11). Every piece of SQL text comes from a table in this program, every value is bound. */
#ifndef MOONSHIFT_STORE_SQLITE_QUERY_H
#define MOONSHIFT_STORE_SQLITE_QUERY_H

#include "base/text.h"
#include "store/sqlite/connection.h"

struct query {
    struct text sql;
    const json_t **values; /* scalars: integer, real, text; borrowed */
    size_t count, room;
    json_t *owned; /* values made on the way */
    bool failed;   /* memory ran out */
};

struct filter;

/* Adds a condition for `value`; false: error (the filter's name is known to the caller). */
typedef bool filter_add(struct query *query, const struct filter *filter, const json_t *value,
                        struct error *error);

struct filter {
    const char *name;
    filter_add *add;
    const char *sql;   /* what `add` makes of it is its own affair */
    const char *after; /* closes what `sql` opens; NULL: nothing */
};

/* sql IN (values) after: a number or a list of numbers; null: IS NULL. */
filter_add filter_numbers;
/* The same for text; and for either. */
filter_add filter_texts, filter_either;
/* A definition `d` by its id or its name, or a list of both: sql … after. */
filter_add filter_definition;
/* true: (sql), false: NOT (sql). */
filter_add filter_flag;
/* sql ? after, one number; one ISO time, one text. */
filter_add filter_number, filter_time, filter_text;
/* Of jobs: fields of the payload by their path; tables go deeper, a list is any of its values. */
filter_add filter_payload;
/* The SQL function payload_fits of this connection. */
bool payload_attach(struct store *store, struct error *error);

/* Adds " WHERE …" for all filters (may be NULL); unknown names are refused with "did you mean". The
 * table ends with a NULL name. */
bool query_where(struct query *query, const json_t *filters, const struct filter *table,
                 struct error *error);

void query_add(struct query *query, const char *sql);
/* One bound parameter: adds "?" to the text. */
void query_bind(struct query *query, const json_t *value);
void query_bind_new(struct query *query, json_t *value); /* takes the reference */

/* " ORDER BY … LIMIT … OFFSET …"; `sorts` is a list of name, SQL pairs ending with NULL; the first
 * is the default. `page` NULL: the first 10 000. */
bool query_page(struct query *query, const struct store_page *page, const char *const *sorts,
                struct error *error);

/* Runs it in one state of the store: every row through `read`, into an array. NULL: error. `asked`
 * says what for, should it take too long: a literal. */
typedef json_t *query_read(struct store *store, sqlite3_stmt *row, struct error *error);
json_t *query_rows(struct query *query, struct store *store, const char *asked, query_read *read,
                   struct error *error);

void query_clear(struct query *query);

/* Row helpers: NULL columns become null. */
json_t *query_column(sqlite3_stmt *row, int column);
bool query_put_time(json_t *object, const char *key, sqlite3_stmt *row, int column);

#endif
