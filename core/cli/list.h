/* list.h - the flags that select and page what a list shows. */
#pragma once

#include "cli/shown/table.h"
#include "cli/words/flags.h"
#include "engine/engine.h"

/* To be put among the flags of every list. */
#define COLUMNS_FLAG                                                                               \
    { "--columns", "NAME,…", "show these columns, in this order" }

/* To be put at the head of a list's flags; `sort` says what it can be ordered by. */
#define LIST_FLAGS(sort)                                                                           \
    COLUMNS_FLAG, {"--limit", "N", "rows at most (50)"},                                           \
        {"--page", "N", "which page of so many rows, from 1"}, {                                   \
        "--sort", "FIELD[:desc]", sort                                                             \
    }
#define LIST_PAGE_FLAGS LIST_FLAGS("order by a field; the default is id")

struct list;

/* What a list shows. */
struct listing {
    enum ask_kind kind;
    const char *things;           /* "jobs" */
    const struct column *columns; /* NULL: those that the kind shows; else they end with a NULL key,
                                     unless --columns names others */
    /* Changes rows as people are to see them; NULL: they are shown as they are. */
    bool (*write)(const struct cli *cli, const struct list *list, json_t *rows,
                  struct error *error);
    bool counted; /* of a page that is not all, how many there are altogether is said */
};

struct list {
    const struct listing *listing;
    json_t *question; /* { filters, sort, descending, offset, limit }; asks for a row more
                         than `limit`, to know whether there are more */
    json_t *filters;  /* of the question; the flags' names with underscores */
    int limit;
    const struct column *columns; /* that are shown: the listing's, or made */
    struct column *made;
    char *titles; /* of those */
    bool narrows; /* --columns is given */
};

/* The columns that the listing shows unless told. list_clear in any case afterwards. */
bool list_begin(struct list *list, const struct listing *listing, struct error *error);
/* Turns every given flag that is a filter into one. The name of the value in the flag's help says
 * how it is read:
 *   - "N": an integer; "ID,…": several;
 *   - "[BOOL]": a switch;
 *   - "NAME,…": texts between commas;
 *   - "FIELD=VALUE": a member of the payload;
 *   - "CONDITION": a comparison of a variable, as amount>100; all of them must hold;
 *   - any other: one text.
 * A flag given twice means any of both. Of a kind without filters --columns alone is read.
 * list_clear in any case afterwards. */
bool list_read(struct list *list, const struct flags *flags, const struct listing *listing,
               struct error *error);
/* The filters alone, as they are in a question. A new reference or NULL. */
json_t *list_filters(const struct flags *flags, struct error *error);
void list_clear(struct list *list);

/* Asks for the rows. NULL: error is filled. */
json_t *list_ask(const struct list *list, struct engine *engine, struct error *error);

/* Says on standard error what the questions have left out. */
void list_warn(struct engine *engine);

/* Prints the rows as one document, or as a table. Takes `rows` over; NULL: error is filled. Of an
 * empty table standard error says "no <things>". A row beyond the page is not printed, but standard
 * error says that there are more, or, if `total` is above 0, of how many these are: "50 of 121
 * jobs". */
bool list_print(const struct cli *cli, const struct list *list, json_t *rows, int64_t total,
                struct error *error);
/* The whole of a list. */
bool list_show(struct cli *cli, const struct flags *flags, const struct listing *listing,
               struct error *error);
/* The same of the verb's own listing. */
bool list_run(struct cli *cli, const struct flags *flags, struct error *error);

/* True if the page has a row too many. */
bool list_cut(const struct list *list, const json_t *rows);

/* On a terminal, puts the stock handlers of the first `count` rows behind the folder's own. */
bool list_own_first(json_t *rows, size_t count, struct error *error);
