/* query.h - from filters (a JSON object that users write) to SQL with bound parameters
 * (rules §11). Every piece of SQL text comes from a table in this program, every value is bound. */
#pragma once

#include "base/text.h"
#include "job/ask.h"
#include "store/rules/ground/state.h"

struct query {
    struct text sql;
    const json_t **values; /* scalars: integer, real, text; borrowed */
    size_t count;
    json_t *owned;                     /* values made on the way */
    const struct ask_column *columns;  /* of query_list */
    bool failed;                       /* memory ran out */
    const struct store_engine *engine; /* of questions for jobs */
};

/* How many values a filter is given: those of a list, or one. {} of Lua is a list, and empty. */
size_t filter_count(const json_t *value);
const json_t *filter_value(const json_t *value, size_t at);

/* sql IN (values) after: a number or a list of numbers; null: IS NULL. */
filter_add filter_numbers;
/* The same for text. */
filter_add filter_texts;
/* filter_texts of some of `names` (NULL-terminated); `numbered`: filter_numbers of their places. */
bool filter_names(struct query *query, const struct filter *filter, const json_t *value,
                  const char *const *names, bool numbered, struct error *error);
/* An executor's id in the column `sql`: by its name, "name/id" or id, or a list of them. */
filter_add filter_executor;
/* A definition `d` by its id or its name, or a list of both: sql … after. */
filter_add filter_definition;
/* true: (sql), false: NOT (sql). */
filter_add filter_flag;
/* sql ? after, one number; one ISO time. */
filter_add filter_number, filter_time;
/* The text `sql` contains this one. */
filter_add filter_text;

/* A condition on the stream `s` and the definition `d` of the table `row`, which has jobs or
 * entries of the log; closed by a parenthesis. */
#define IN_STREAM(row)                                                                             \
    row ".stream IN (SELECT s.id FROM stream s JOIN definition d ON d.id=s.definition WHERE "
#define OF_CATEGORY(row) IN_STREAM(row) "nullif(s.category, '')"
#define OF_TOPIC(row) IN_STREAM(row) "nullif(s.topic, '')"
#define OF_DEPLOYMENT(row) IN_STREAM(row) "nullif(s.deployment, 0)"
/* Adds " WHERE …" for all filters (may be NULL) of the table. Unknown names are refused with "did
 * you mean". */
bool query_where(struct query *query, const json_t *filters, const struct ask_table *table,
                 struct error *error);

void query_add(struct query *query, const char *sql);
/* One bound parameter: adds "?" to the text. */
void query_bind(struct query *query, const json_t *value);
void query_bind_new(struct query *query, json_t *value); /* takes the reference */

/* " ORDER BY … LIMIT … OFFSET …" by a column that can be sorted by; the first such is the default.
 * `page` NULL: the first 10 000. */
bool query_page(struct query *query, const struct store_page *page, const struct ask_table *table,
                struct error *error);

/* A whole question to a table that has `from`: the filters, the page, and the rows as the columns
 * say. */
json_t *query_list(struct store *store, const struct ask_table *table, const json_t *filters,
                   const struct store_page *page, struct error *error);

/* Runs it in one state of the store: every row through `read` (NULL: as the columns of query_list
 * say), into an array. NULL: error. `asked` says what for, should it take too long: a literal. */
typedef json_t *query_read(struct store *store, struct row *row, struct error *error);
json_t *query_rows(struct query *query, struct store *store, const char *asked, query_read *read,
                   struct error *error);

void query_clear(struct query *query);

/* An instant, "never" for TIME_NEVER, null for TIME_NONE. */
bool query_put_instant(json_t *object, const char *key, time_ms time);

/* Row helpers: NULL columns become null. */
json_t *query_column(struct row *row, int column);
bool query_put_time(json_t *object, const char *key, struct row *row, int column);
