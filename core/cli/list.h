/* list.h - the flags that select and page what a list shows. */
#ifndef MOONSHIFT_CLI_LIST_H
#define MOONSHIFT_CLI_LIST_H

#include "cli/flags.h"
#include "store/store.h"

/* To be put at the head of a list's flags; `sort` says what it can be ordered by. */
#define LIST_FLAGS(sort)                                                                           \
    {"--limit", "N", "rows at most (50)"}, {"--page", "N", "which page of so many rows, from 1"},  \
    {                                                                                              \
        "--sort", "FIELD[:desc]", sort                                                             \
    }
#define LIST_PAGE_FLAGS LIST_FLAGS("order by a field; the default is id")

struct list {
    json_t *filters;        /* an object; the flags' names with underscores */
    struct store_page page; /* asks for a row more than `limit`, to know whether there are more */
    int limit;
    char sort[64];
};

/* Every given flag of the list `filters` (ended by a NULL name) becomes a filter; what its help
 * calls the value says how it is read: "N" an integer, "ID,…" several, "[BOOL]" a switch,
 * "NAME,…" texts between commas, "FIELD=VALUE" a member of the payload, else one text. A flag given
 * twice means any of both. list_clear in any case afterwards. */
bool list_read(struct list *list, const struct flags *flags, const struct flag *filters,
               struct error *error);
void list_clear(struct list *list);

/* Says on standard error what the questions have left out. */
void list_warn(struct store *store);

/* Prints the rows as one document, or as a table. Takes `rows` over; NULL: error is filled. Of an
 * empty table standard error says "no <things>". */
struct column;
bool list_print(const struct cli *cli, const struct column *columns, json_t *rows,
                const char *things, struct error *error);

/* The same of a page: a row beyond it is not printed, but standard error says that there are more,
 * or, if `total` is above 0, of how many these are: "50 of 121 jobs". */
bool list_print_page(const struct cli *cli, const struct list *list, const struct column *columns,
                     json_t *rows, int64_t total, const char *things, struct error *error);

/* True if the page has a row too many. */
bool list_cut(const struct list *list, const json_t *rows);

/* On a terminal, puts the stock handlers of the first `count` rows behind the folder's own. */
bool list_own_first(json_t *rows, size_t count, struct error *error);

#endif
