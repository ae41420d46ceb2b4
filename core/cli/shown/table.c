#include "cli/shown/table.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/shown/output.h"
#include "cli/words/relative.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN_GAP 2
#define COLUMN_LEAST 6    /* a column is not cut below this */
#define COLUMN_MESSAGE 20 /* of the message, before names are cut */
#define COLUMN_NAME 24    /* of a name, before the message is cut further */

/* One character of valid UTF-8; moves *text behind it. */
static uint32_t character(const char **text) {
    const unsigned char *byte = (const unsigned char *)*text;
    int more = (*byte >= 0x80) + (*byte >= 0xe0) + (*byte >= 0xf0);
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
    bool terminal;
    time_ms now;
    char **cells; /* row by row */
    int *widths;  /* by column; 0: left out */
};

static void table_clear(struct table *table) {
    for (size_t i = 0; table->cells && i < table->column_count * table->row_count; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table->widths);
}

/* "a; b" of a list of texts. */
static char *list_text(const json_t *list) {
    struct text text = {0};
    size_t i;
    json_t *value;
    text_append(&text, "", 0);
    json_array_foreach(list, i, value) {
        char *part = output_value(value, false);
        text_add(&text, "%s%s", i ? "; " : "", part ? part : "");
        free(part);
    }
    return text.data;
}

/* "to=a@b.example, size=3" of an object. */
static char *object_text(const json_t *object) {
    struct text text = {0};
    const char *key;
    json_t *value;
    text_append(&text, "", 0);
    json_object_foreach(json_unchanged(object), key, value) {
        char *part = output_value(value, false), *name = output_clean(key, false);
        text_add(&text, "%s%s=%s", text.size ? ", " : "", name ? name : "", part ? part : "");
        free(part);
        free(name);
    }
    return text.data;
}

/* What a terminal shows of a value; elsewhere it is as it was. */
static char *cell_text(const struct table *table, const json_t *value, int look) {
    char relative[RELATIVE_SIZE];
    if (!table->terminal)
        return output_value(value, false);
    if (json_is_array(value))
        return list_text(value);
    if (json_is_object(value))
        return object_text(value);
    if ((look & COLUMN_TIME) && json_is_string(value) &&
        relative_time(json_string_value(value), table->now, relative))
        return strdup(relative);
    return output_value(value, false);
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
        table->cells[i] = cell_text(table, json_object_get(row, key),
                                    table->columns[i % table->column_count].look);
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

/* Takes from the widest of the columns that look like this, and of equal ones from the last, until
 * the line fits or they have only `least` left. */
static void table_shrink(struct table *table, int width, int mask, int look, int least) {
    for (int over = table_width(table) - width; over > 0; over--) {
        int *widest = NULL;
        for (size_t i = 0; i < table->column_count; i++)
            if ((table->columns[i].look & mask) == look && table->widths[i] > least &&
                (!widest || table->widths[i] >= *widest))
                widest = &table->widths[i];
        if (!widest)
            return;
        (*widest)--;
    }
}

/* What gets the rest of the room gives way first, then long names, then all of them. */
static void table_fit(struct table *table, int width) {
    table_shrink(table, width, COLUMN_REST, COLUMN_REST, COLUMN_MESSAGE);
    table_shrink(table, width, COLUMN_CUT | COLUMN_REST, COLUMN_CUT, COLUMN_NAME);
    table_shrink(table, width, COLUMN_CUT, COLUMN_CUT, COLUMN_LEAST);
}

static const struct {
    const char *word, *colour;
} colours[] = {
    {"dead", "31"},      {"failed", "31"},    {"gone", "31"},     {"overdue", "31"},
    {"locked", "32"},    {"live", "32"},      {"active", "32"},   {"successful", "32"},
    {"suspended", "33"}, {"waiting", "33"},   {"draining", "33"}, {"filling", "33"},
    {"scheduled", "36"}, {"cancelled", "33"}, {"deleted", "33"},  {"ready", "32"},
};

static const char *colour_of(const struct column *column, const char *cell) {
    if (!(column->look & COLUMN_STATE))
        return NULL;
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
        if (strcmp(colours[i].word, cell) == 0)
            return colours[i].colour;
    return NULL;
}

/* A line as it grows: blanks are held back until a text stands behind them. */
struct line {
    struct text text;
    int width; /* of the line at most; 0: any */
    int at, blanks;
    bool colours;
};

/* `size` bytes that are `own` columns wide, as far as they fit. */
static void line_add(struct line *line, const char *text, size_t size, int own,
                     const char *colour) {
    int room = line->width - line->at - line->blanks;
    if (own == 0 || (line->width && room <= 0))
        return;
    char *part = strndup(text, size);
    if (part && line->width && own > room) {
        part[table_text_fit(part, room)] = '\0';
        own = table_text_width(part);
    }
    text_add(&line->text, "%*s", line->blanks, "");
    if (colour && line->colours)
        text_add(&line->text, "\033[%sm%s\033[0m", colour, part ? part : "");
    else
        text_add(&line->text, "%s", part ? part : "");
    line->at += line->blanks + own;
    line->blanks = 0;
    free(part);
}

/* One cell into the line, cut with an ellipsis. */
static void cell_add(struct line *line, const char *text, int width, bool right,
                     const char *colour) {
    int own = table_text_width(text);
    size_t size = own <= width ? strlen(text) : table_text_fit(text, width - 1);
    if (own <= width) {
        line->blanks += right ? width - own : 0;
        line_add(line, text, size, own, colour);
        line->blanks += right ? 0 : width - own;
        return;
    }
    struct text cut = {0};
    text_append(&cut, text, size);
    text_add(&cut, "…");
    own = cut.data ? table_text_width(cut.data) : 0;
    if (cut.data)
        line_add(line, cut.data, cut.size, own, colour);
    line->blanks += width - own;
    text_clear(&cut);
}

/* `row` -1: the titles. */
static void row_add(struct text *out, const struct table *table, long row, int width) {
    struct line line = {.width = width, .colours = table->terminal && output_colours()};
    bool first = true;
    for (size_t i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        if (table->widths[i] == 0)
            continue;
        const char *cell =
            row < 0 ? column->title : table->cells[(size_t)row * table->column_count + i];
        line.blanks += first ? 0 : COLUMN_GAP;
        first = false;
        cell_add(&line, cell, table->widths[i], column->look & COLUMN_RIGHT,
                 row < 0 ? "1" : colour_of(column, cell));
    }
    text_add(out, "%s\n", line.text.data ? line.text.data : "");
    text_clear(&line.text);
}

bool table_add(struct text *out, const struct column *columns, const json_t *rows, int width,
               struct error *error) {
    struct table table = {
        .columns = columns, .terminal = width > 0, .now = clock_now(clock_system())};
    if (json_array_size(rows) == 0)
        return true;
    bool fine = table_read(&table, rows);
    for (size_t i = 0; fine && i < table.column_count; i++)
        table.widths[i] = column_width(&table, i);
    if (fine && width > 0)
        table_fit(&table, width);
    for (long row = -1; fine && row < (long)table.row_count; row++)
        row_add(out, &table, row, width);
    table_clear(&table);
    return (fine && !out->failed) || error_no_memory(error);
}

bool table_print(const struct column *columns, const json_t *rows, int width, struct error *error) {
    struct text out = {0};
    bool fine = table_add(&out, columns, rows, width, error);
    output_add("%s", fine && out.data ? out.data : "");
    text_clear(&out);
    return fine;
}
