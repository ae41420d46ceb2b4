/* table.h - lists for people: aligned columns, cut to the terminal's width. */
#ifndef MOONSHIFT_CLI_TABLE_H
#define MOONSHIFT_CLI_TABLE_H

#include "base/error.h"
#include <jansson.h>

enum {
    COLUMN_LEFT = 0,
    COLUMN_RIGHT = 1,    /* numbers stand at the right edge */
    COLUMN_OPTIONAL = 2, /* left out while every row has nothing here */
    COLUMN_CUT = 4,      /* free text: shortened where the line would be too wide */
};

struct column {
    const char *key;   /* of the row's object */
    const char *title; /* "HANDLER" */
    int look;          /* of the above */
};

/* Prints the rows (objects) under their titles; columns end with a NULL key. Nothing at all if
 * there is no row. `width` 0: as wide as it gets; else no line is wider. */
bool table_print(const struct column *columns, const json_t *rows, int width, struct error *error);

/* Terminal columns of valid UTF-8: wide characters take two, combining ones none. */
int table_text_width(const char *text);

/* Bytes of the longest start of `text` that is at most `width` columns wide. */
size_t table_text_fit(const char *text, int width);

#endif
