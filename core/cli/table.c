#include "cli/table.h"
#include "base/text.h"
#include "cli/output.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN_GAP 2
#define COLUMN_LEAST 6 /* a column is not cut below this */

/* One character of valid UTF-8; moves *text behind it. */
static uint32_t character(const char **text) {
    const unsigned char *byte = (const unsigned char *)*text;
    int more = *byte < 0x80 ? 0 : *byte < 0xe0 ? 1 : *byte < 0xf0 ? 2 : 3;
    uint32_t code = more == 0 ? *byte : *byte & (0x3fu >> more);
    for (int i = 1; i <= more && byte[i]; i++)
        code = code << 6 | (byte[i] & 0x3f);
    size_t left = strlen(*text);
    *text += (size_t)more < left ? (size_t)more + 1 : left;
    return code;
}

struct range {
    uint32_t first, last;
};

static const struct range nothing[] = {
    {0x300, 0x36f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0x1f3fb, 0x1f3ff},
};
static const struct range wide[] = {
    {0x1100, 0x115f}, {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xac00, 0xd7a3},
    {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
    {0x2705, 0x2705}, {0x1f300, 0x1f64f}, {0x1f680, 0x1faff}, {0x20000, 0x3fffd},
};

static bool range_holds(const struct range *list, size_t count, uint32_t code) {
    for (size_t i = 0; i < count; i++)
        if (code >= list[i].first && code <= list[i].last)
            return true;
    return false;
}

static int character_width(uint32_t code) {
    if (code < 0x300)
        return 1;
    if (range_holds(nothing, sizeof nothing / sizeof *nothing, code))
        return 0;
    return range_holds(wide, sizeof wide / sizeof *wide, code) ? 2 : 1;
}

int table_text_width(const char *text) {
    int width = 0;
    while (*text)
        width += character_width(character(&text));
    return width;
}

size_t table_text_fit(const char *text, int width) {
    const char *at = text;
    while (*at) {
        const char *next = at;
        width -= character_width(character(&next));
        if (width < 0)
            break;
        at = next;
    }
    return (size_t)(at - text);
}

struct table {
    const struct column *columns;
    size_t column_count, row_count;
    char **cells; /* row by row */
    int *widths;  /* by column; 0: left out */
};

static void table_clear(struct table *table) {
    for (size_t i = 0; table->cells && i < table->column_count * table->row_count; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table->widths);
}

static bool table_read(struct table *table, const json_t *rows) {
    while (table->columns[table->column_count].key)
        table->column_count++;
    table->row_count = json_array_size(rows);
    table->cells = calloc(table->column_count * table->row_count + 1, sizeof *table->cells);
    table->widths = calloc(table->column_count + 1, sizeof *table->widths);
    if (!table->cells || !table->widths)
        return false;
    for (size_t i = 0; i < table->row_count * table->column_count; i++) {
        const json_t *row = json_array_get(rows, i / table->column_count);
        const char *key = table->columns[i % table->column_count].key;
        table->cells[i] = output_value(json_object_get(row, key), false);
        if (!table->cells[i])
            return false;
    }
    return true;
}

static int column_width(const struct table *table, size_t column) {
    int width = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        int cell = table_text_width(table->cells[row * table->column_count + column]);
        width = cell > width ? cell : width;
    }
    if (width == 0 && (table->columns[column].look & COLUMN_OPTIONAL))
        return 0;
    int title = table_text_width(table->columns[column].title);
    return width > title ? width : title;
}

static int table_width(const struct table *table) {
    int width = -COLUMN_GAP;
    for (size_t i = 0; i < table->column_count; i++)
        width += table->widths[i] ? table->widths[i] + COLUMN_GAP : 0;
    return width;
}

/* Takes from the widest column that may be cut, and of equal ones from the last, until the line
 * fits. */
static void table_fit(struct table *table, int width) {
    for (int over = table_width(table) - width; over > 0; over--) {
        int *widest = NULL;
        for (size_t i = 0; i < table->column_count; i++)
            if ((table->columns[i].look & COLUMN_CUT) && table->widths[i] > COLUMN_LEAST &&
                (!widest || table->widths[i] >= *widest))
                widest = &table->widths[i];
        if (!widest)
            return;
        (*widest)--;
    }
}

/* One cell into the line, cut with an ellipsis. */
static void cell_add(struct text *line, const char *text, int width, bool right) {
    int own = table_text_width(text);
    if (own <= width) {
        text_add(line, "%*s%s%*s", right ? width - own : 0, "", text, right ? 0 : width - own, "");
        return;
    }
    size_t size = table_text_fit(text, width - 1);
    text_append(line, text, size);
    text_add(line, "…");
    own = width - 1;
    for (const char *at = text; at < text + size;)
        own -= character_width(character(&at));
    text_add(line, "%*s", own, "");
}

static void line_print(struct text *line, int width) {
    while (line->size > 0 && line->data[line->size - 1] == ' ')
        line->data[--line->size] = '\0';
    size_t size = width > 0 && line->data ? table_text_fit(line->data, width) : line->size;
    output_add("%.*s\n", (int)size, line->data ? line->data : "");
    text_clear(line);
}

/* `row` -1: the titles. */
static void row_print(const struct table *table, long row, int width) {
    struct text line = {0};
    for (size_t i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        if (table->widths[i] == 0)
            continue;
        const char *cell =
            row < 0 ? column->title : table->cells[(size_t)row * table->column_count + i];
        if (line.size > 0)
            text_add(&line, "%*s", COLUMN_GAP, "");
        cell_add(&line, cell, table->widths[i], column->look & COLUMN_RIGHT);
    }
    line_print(&line, width);
}

bool table_print(const struct column *columns, const json_t *rows, int width, struct error *error) {
    struct table table = {.columns = columns};
    if (json_array_size(rows) == 0)
        return true;
    bool fine = table_read(&table, rows);
    for (size_t i = 0; fine && i < table.column_count; i++)
        table.widths[i] = column_width(&table, i);
    if (fine && width > 0)
        table_fit(&table, width);
    for (long row = -1; fine && row < (long)table.row_count; row++)
        row_print(&table, row, width);
    table_clear(&table);
    return fine || error_set(error, ERROR_FAILED, "out of memory");
}
