#include "base/json.h"
#include "cli/output.h"
#include "cli/setup.h"
#include "cli/table.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "lock_owner" as a title: "LOCK OWNER", or as a heading: "lock owner". */
static char *title_of(const char *key, bool upper) {
    char *title = strdup(key);
    for (char *at = title; at && *at; at++)
        *at = (char)(*at == '_' ? ' ' : upper ? toupper((unsigned char)*at) : *at);
    return title;
}

static bool columns_make(struct column *columns, json_t *row) {
    const char *key;
    json_t *value;
    json_object_foreach(row, key, value) {
        columns->key = key;
        columns->title = title_of(key, true);
        columns->look = COLUMN_OPTIONAL | (json_is_number(value) ? COLUMN_RIGHT : COLUMN_CUT);
        if (!columns->title)
            return false;
        columns++;
    }
    return true;
}

/* Rows that all have the members of the first one. */
static bool rows_print(json_t *rows, struct error *error) {
    json_t *first = json_array_get(rows, 0);
    size_t count = json_object_size(first);
    struct column *columns = calloc(count + 1, sizeof *columns);
    bool fine = columns && columns_make(columns, first);
    if (!fine)
        error_set(error, ERROR_FAILED, "out of memory");
    fine = fine && table_print(columns, rows, output_width(), error);
    for (size_t i = 0; columns && i < count; i++)
        free((void *)columns[i].title);
    free(columns);
    return fine;
}

static bool section_print(const char *key, json_t *value, struct error *error) {
    char *title = title_of(key, false);
    output_add("\n%s\n", title ? title : key);
    free(title);
    if (json_is_array(value))
        return rows_print(value, error);
    output_fields(value);
    return true;
}

/* What is one value stands first, each list and group under a heading behind it. */
static bool stats_print(json_t *stats, struct error *error) {
    const char *key;
    json_t *value, *plain = json_object();
    bool fine = plain || error_set(error, ERROR_FAILED, "out of memory");
    json_object_foreach(stats, key, value) {
        if (fine && !json_is_array(value) && !json_is_object(value))
            json_put(plain, key, json_incref(value));
    }
    if (fine)
        output_fields(plain);
    json_decref(plain);
    json_object_foreach(stats, key, value) {
        size_t size = json_is_array(value) ? json_array_size(value) : json_object_size(value);
        if (fine && size > 0)
            fine = section_print(key, value, error);
    }
    return fine;
}

static bool stats_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct store *store = setup_store(cli, flags, STORE_READ, error);
    json_t *stats = store ? store_stats(store, clock_now(clock_system()), error) : NULL;
    store_close(store);
    if (!stats)
        return false;
    if (cli->json)
        return output_json(stats, error);
    bool fine = stats_print(stats, error);
    json_decref(stats);
    return fine;
}

const struct cli_command stats_commands[] = {
    {"stats", "", "show what waits, who works, and how much was done", "", NULL, 0, 0, false, false,
     stats_run},
    {0},
};
