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
    json_t *filters; /* an object; the flags' names with underscores */
    struct store_page page;
    char sort[64];
};

/* Every given flag of the list `filters` (ended by a NULL name) becomes a filter; what its help
 * calls the value says how it is read: "N" an integer, "ID,…" several, "[BOOL]" a switch,
 * "NAME,…" texts between commas, "FIELD=VALUE" a member of the payload, else one text. A flag given
 * twice means any of both. list_clear in any case afterwards. */
bool list_read(struct list *list, const struct flags *flags, const struct flag *filters,
               struct error *error);
void list_clear(struct list *list);

/* Prints the rows as one document, or as a table. Takes `rows` over; NULL: error is filled. */
struct column;
bool list_print(const struct cli *cli, const struct column *columns, json_t *rows,
                struct error *error);

#endif
