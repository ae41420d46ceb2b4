/* table.h - lists for people: aligned columns, cut to the terminal's width. */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include <jansson.h>

enum {
    COLUMN_LEFT = 0,
    COLUMN_RIGHT = 1,    /* numbers stand at the right edge */
    COLUMN_OPTIONAL = 2, /* left out while every row has nothing here */
    COLUMN_CUT = 4,      /* free text: shortened where the line would be too wide */
    COLUMN_REST = 8,     /* with COLUMN_CUT: gets the room that the other columns leave */
    COLUMN_TIME = 16,    /* an instant: on a terminal, how far from now */
    COLUMN_STATE = 32,   /* a word that has a colour on a terminal */
};

struct column {
    const char *key;   /* of the row's object */
    const char *title; /* "HANDLER" */
    int look;          /* of the above */
};

/* Prints the rows (objects) under their titles; columns end with a NULL key. Nothing at all if
 * there is no row. `width` 0: as wide as it gets, with values as JSON has them; else it is that of
 * a terminal: no line is wider, times are relative, lists are texts, and there may be colours. */
bool table_print(const struct column *columns, const json_t *rows, int width, struct error *error);

/* Appends the same to a text. */
bool table_add(struct text *out, const struct column *columns, const json_t *rows, int width,
               struct error *error);

/* Terminal columns of valid UTF-8: wide characters take two, combining ones none. */
int table_text_width(const char *text);

/* Bytes of the longest start of `text` that is at most `width` columns wide. */
size_t table_text_fit(const char *text, int width);
