/* spelling.c - how the server is to read a statement of the rules, or of this engine.
 *
 * A function that fits its arguments better is taken before one of the server's that takes any,
 * wherever it is. So each name says that the server's is meant. */
#include "store/postgres/db/spelling.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVER "pg_catalog."

/* Those that a statement calls; what SQL has a form of its own for, as extract, is the server's. */
static const char *const functions[] = {
    "array_position",
    "clock_timestamp",
    "concat_ws",
    "convert_from",
    "count",
    "current_database",
    "current_schema",
    "current_setting",
    "floor",
    "get_bit",
    "has_schema_privilege",
    "has_sequence_privilege",
    "has_table_privilege",
    "jsonb_array_elements_text",
    "jsonb_typeof",
    "length",
    "max",
    "min",
    "octet_length",
    "pg_advisory_unlock",
    "pg_advisory_unlock_all",
    "pg_advisory_xact_lock",
    "pg_advisory_xact_lock_shared",
    "pg_backend_pid",
    "pg_current_snapshot",
    "pg_current_wal_insert_lsn",
    "pg_export_snapshot",
    "pg_has_role",
    "pg_is_in_recovery",
    "pg_last_wal_receive_lsn",
    "pg_last_wal_replay_lsn",
    "pg_last_xact_replay_timestamp",
    "pg_sequence_last_value",
    "pg_snapshot_xmax",
    "pg_stat_get_wal_senders",
    "pg_terminate_backend",
    "pg_try_advisory_lock",
    "pg_walfile_name",
    "quote_ident",
    "repeat",
    "replace",
    "row_number",
    "set_bit",
    "set_config",
    "setval",
    "string_agg",
    "string_to_array",
    "substr",
    "sum",
    "unnest",
};

/* Behind a text in quotes that begins here; anything else is one character. */
static const char *skip(const char *at) {
    const char *end = *at == '\'' ? strchr(at + 1, '\'') : NULL;
    return end ? end + 1 : at + 1;
}

static bool in_word(char byte) {
    return isalnum((unsigned char)byte) || byte == '_' || byte == '.' || byte == '"';
}

/* Of several arrays, without a schema, unnest is a form of SQL. */
static bool is_form(const char *name, const char *arguments) {
    const char *end = arguments + 1 + strcspn(arguments + 1, ",()");
    return strncmp(name, "unnest", strlen("unnest")) == 0 && *end == ',';
}

/* The size of the name of a function of the server that is called here; 0: none. */
static size_t called(const char *sql, const char *at) {
    size_t size = 0;
    if (!isalpha((unsigned char)*at) || (at > sql && in_word(at[-1])))
        return 0;
    while (in_word(at[size]))
        size++;
    for (size_t i = 0; at[size] == '(' && i < sizeof functions / sizeof *functions; i++)
        if (strlen(functions[i]) == size && strncmp(functions[i], at, size) == 0)
            return is_form(at, at + size) ? 0 : size;
    return 0;
}

static void spelling_put(char *to, size_t *size, const char *data, size_t length) {
    if (to)
        memcpy(to + *size, data, length);
    *size += length;
}

/* Writes a parameter, whose number is its own or the next one. Returns what is behind it. */
static const char *put_parameter(char *to, size_t *size, const char *at, int *count) {
    char number[16], *end = NULL;
    const long given = strtol(at + 1, &end, 10);
    *count = end > at + 1 ? (int)given : *count + 1;
    spelling_put(to, size, number, (size_t)snprintf(number, sizeof number, "$%d", *count));
    return end > at + 1 ? end : at + 1;
}

int spelling_write(const char *sql, char *to, size_t *size) {
    int most = 0, count = 0;
    *size = 0;
    for (const char *at = sql; *at;) {
        const size_t name = called(sql, at);
        const char *next = name ? at + name : skip(at);
        if (name)
            spelling_put(to, size, SERVER, strlen(SERVER));
        if (*at == '?')
            next = put_parameter(to, size, at, &count);
        else
            spelling_put(to, size, at, (size_t)(next - at));
        most = count > most ? count : most;
        at = next;
    }
    if (to)
        to[*size] = 0;
    return most;
}

/* ---- which statements matter ---- */

/* The name of a table, as a whole word. */
static bool names(const char *at, const char *table) {
    size_t size = strlen(table);
    return strncmp(at, table, size) == 0 && !isalnum((unsigned char)at[size]) && at[size] != '_';
}

static bool writes(const char *sql, const char *verb, const char *table) {
    for (const char *at = strstr(sql, verb); at; at = strstr(at + 1, verb))
        if (names(at + strlen(verb), table))
            return true;
    return false;
}

bool spelling_minds(const char *sql) {
    static const char *const writing[][2] = {{"INTO ", "ready"},        {"UPDATE ", "ready"},
                                             {"DELETE FROM ", "ready"}, {"INTO ", "lane"},
                                             {"UPDATE ", "lane"},       {"DELETE FROM ", "lane"},
                                             {"INTO ", "job"},          {"UPDATE ", "job"},
                                             {"INTO ", "parked"},       {"DELETE FROM ", "parked"}};
    for (size_t i = 0; i < sizeof writing / sizeof *writing; i++)
        if (writes(sql, writing[i][0], writing[i][1]))
            return true;
    return false;
}
