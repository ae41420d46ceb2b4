/* driver.c - statements of PostgreSQL: their parameters, their rows, and values on the wire. */
#include "store/postgres/db/driver.h"
#include "store/postgres/db/array.h"
#include "store/postgres/db/spelling.h"
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Types as the server numbers them (pg_type.dat); no header of libpq has them. */
#define PG_BOOL 16
#define PG_BYTEA 17
#define PG_INT8 20
#define PG_INT2 21
#define PG_INT4 23
#define PG_TEXT 25
#define PG_OID 26
#define PG_TID 27
#define PG_FLOAT4 700
#define PG_FLOAT8 701
#define PG_NUMERIC 1700

enum { FORMAT_TEXT, FORMAT_BINARY };

static struct statement *statement_of(const struct row *row) {
    return row->statement;
}

/* ---- statements ---- */

static bool make_room(struct statement *statement) {
    size_t count = statement->count ? (size_t)statement->count : 1;
    statement->types = calloc(count, sizeof *statement->types);
    statement->values = calloc(count, sizeof *statement->values);
    statement->sizes = calloc(count, sizeof *statement->sizes);
    statement->formats = calloc(count, sizeof *statement->formats);
    statement->numbers = calloc(count, sizeof *statement->numbers);
    statement->arrays = calloc(count, sizeof *statement->arrays);
    return statement->types && statement->values && statement->sizes && statement->formats &&
           statement->numbers && statement->arrays;
}

void statement_unbind(struct statement *statement) {
    for (int at = 0; at < statement->count; at++)
        statement->values[at] = NULL;
    for (int at = 0; statement->bound > 0 && at < statement->count; at++) {
        statement->bound -= statement->arrays[at] != NULL;
        free(statement->arrays[at]);
        statement->arrays[at] = NULL;
    }
}

static void release(struct statement *statement) {
    PQclear(statement->result);
    if (statement->bound > 0)
        statement_unbind(statement);
    free(statement->arrays);
    free(statement->sql);
    free(statement->types);
    free(statement->values);
    free(statement->sizes);
    free(statement->formats);
    free(statement->numbers);
    free(statement->texts);
    free(statement);
}

static void postgres_forget(struct db *db, struct row *row) {
    (void)db;
    release(statement_of(row));
}

static bool postgres_prepare(struct db *db, struct row *row, const char *sql, bool keep,
                             struct error *error) {
    struct session *session = db->handle;
    struct statement *statement = calloc(1, sizeof *statement);
    if (!statement)
        return db_no_memory(db, error);
    size_t size = 0;
    statement->session = session;
    statement->count = spelling_write(sql, NULL, &size);
    statement->minded = spelling_minds(sql);
    statement->asked = !keep;
    statement->sql = malloc(size + 1);
    if (!statement->sql || !make_room(statement)) {
        release(statement);
        return db_no_memory(db, error);
    }
    spelling_write(sql, statement->sql, &size);
    if (keep && !session->settings) /* behind a pool the next one has another connection */
        snprintf(statement->name, sizeof statement->name, "s%u", ++session->names);
    row->statement = statement;
    return true;
}

/* ---- parameters ---- */

static void postgres_done(struct row *row) {
    struct statement *statement = statement_of(row);
    PQclear(statement->result);
    statement->result = NULL;
    statement->stands = statement->ahead = false;
}

static void set(struct statement *statement, int at, Oid type, const char *data, size_t size) {
    statement->types[at] = type;
    statement->values[at] = data;
    statement->sizes[at] = (int)size;
    statement->formats[at] = FORMAT_BINARY;
}

static void set_int(struct statement *statement, int at, int64_t value, bool null) {
    uint64_t wire = htobe64((uint64_t)value);
    memcpy(statement->numbers[at], &wire, sizeof wire);
    set(statement, at, PG_INT8, null ? NULL : statement->numbers[at], sizeof wire);
}

static void set_real(struct statement *statement, int at, double value) {
    uint64_t wire = 0;
    memcpy(&wire, &value, sizeof wire);
    wire = htobe64(wire);
    memcpy(statement->numbers[at], &wire, sizeof wire);
    set(statement, at, PG_FLOAT8, statement->numbers[at], sizeof wire);
}

/* An empty blob is no NULL. */
static void set_blob(struct statement *statement, int at, const char *data, size_t size) {
    set(statement, at, PG_BYTEA, data, size);
}

static void set_text(struct statement *statement, int at, const char *text) {
    set(statement, at, PG_TEXT, text, text ? strlen(text) : 0);
}

static void postgres_bind(struct row *row, const char *kinds, va_list values) {
    struct statement *statement = statement_of(row);
    int64_t number = 0;
    postgres_done(row);
    statement_unbind(statement);
    for (int at = 0; *kinds && at < statement->count; kinds++, at++) {
        const char *data = NULL;
        switch (*kinds) {
        case 'i':
            set_int(statement, at, va_arg(values, int64_t), false);
            break;
        case 'n':
            set_int(statement, at, va_arg(values, int), false);
            break;
        case 'z':
            number = va_arg(values, int64_t);
            set_int(statement, at, number, number == 0);
            break;
        case 'T':
            number = va_arg(values, time_ms);
            set_int(statement, at, number, number == TIME_NONE);
            break;
        case 'd':
            set_real(statement, at, va_arg(values, double));
            break;
        case 'b':
            data = va_arg(values, const char *);
            set_blob(statement, at, data, va_arg(values, size_t));
            break;
        case 't':
            set_text(statement, at, va_arg(values, const char *));
            break;
        default:
            abort(); /* the source has a letter that db.h does not list */
        }
    }
}

bool statement_bind_array(struct row *row, int at, struct array *array) {
    struct statement *statement = statement_of(row);
    const struct text data = array->data;
    if (data.failed)
        return false;
    array->data = (struct text){0};
    set(statement, at, array_oid(array), data.data, data.size);
    free(statement->arrays[at]);
    statement->bound += statement->arrays[at] == NULL;
    statement->arrays[at] = data.data;
    return true;
}

bool statement_send_ahead(struct row *row, struct error *error) {
    struct statement *statement = statement_of(row);
    return session_send_ahead(statement->session, statement, error);
}

/* Of a question that is made of filters: the server finds the types out. */
static void postgres_bind_value(struct row *row, int at, const json_t *value) {
    struct statement *statement = statement_of(row);
    char *number = statement->numbers[at];
    const size_t room = sizeof *statement->numbers;
    const char *text = json_string_value(value);
    if (json_is_integer(value))
        snprintf(number, room, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(number, room, "%.17g", json_real_value(value));
    statement->types[at] = 0;
    statement->formats[at] = FORMAT_TEXT;
    statement->values[at] = json_is_number(value) ? number : text;
}

/* ---- running ---- */

static enum answer next_row(struct row *row) {
    struct statement *statement = statement_of(row);
    if (++statement->at < PQntuples(statement->result))
        return YES;
    postgres_done(row);
    return NO;
}

static enum answer postgres_step(struct db *db, struct row *row, struct error *error) {
    struct statement *statement = statement_of(row);
    if (statement->stands)
        return next_row(row);
    if (!statement->ahead && !session_send(db->handle, statement, error))
        return FAILED;
    bool landed = statement->result || session_land(db->handle, statement, error);
    statement->ahead = false;
    if (!landed)
        return FAILED;
    statement->stands = true;
    statement->at = -1;
    free(statement->texts);
    statement->texts = NULL;
    return next_row(row);
}

static bool begins(const char *sql, const char *words) {
    return strncmp(sql, words, strlen(words)) == 0;
}

/* What happened behind a savepoint is known before the savepoint is given up; and with a return to
 * it the transaction is sound again. */
static bool run_kept(struct db *db, struct row *row, struct error *error) {
    struct session *session = db->handle;
    struct statement *statement = statement_of(row);
    if (begins(statement->sql, "ROLLBACK TO "))
        session_return(session);
    if (begins(statement->sql, "RELEASE ") && !session_land(session, NULL, error))
        return false;
    return session_send(session, statement, error) &&
           (session->queues || session_land(session, NULL, error));
}

/* If it does not change so many rows, the next wait fails. */
static bool run_counted(struct db *db, struct row *row, int wanted, struct error *error) {
    struct session *session = db->handle;
    if (!session_send(session, statement_of(row), error))
        return false;
    session->flight[session->count - 1].counted = true;
    session->flight[session->count - 1].wanted = wanted;
    return session->queues || session_land(session, NULL, error);
}

static bool postgres_execute(struct db *db, const char *sql, struct error *error) {
    return session_execute(db->handle, sql, error);
}

static int postgres_changes(struct db *db, struct error *error) {
    struct session *session = db->handle;
    return session_land(session, NULL, error) ? session->changes : -1;
}

static bool postgres_fail(struct db *db, struct error *error) {
    const struct session *session = db->handle;
    return error_set(error, session->failure.code ? session->failure.code : ERROR_FAILED, "%s",
                     session->failure.text);
}

static void postgres_watch(struct db *db, bool on) {
    (void)db; /* each wait looks at the deadline */
    (void)on;
}

static void postgres_close(struct db *db) {
    session_close(db->handle);
}

/* ---- columns ---- */

static const char *cell(const struct row *row, int column) {
    const struct statement *statement = statement_of(row);
    if (!statement->stands || PQgetisnull(statement->result, statement->at, column))
        return NULL;
    return PQgetvalue(statement->result, statement->at, column);
}

static Oid column_type(const struct row *row, int column) {
    return PQftype(statement_of(row)->result, column);
}

static uint64_t wire_64(const char *data) {
    uint64_t wire = 0;
    memcpy(&wire, data, sizeof wire);
    return be64toh(wire);
}

static uint32_t wire_32(const char *data) {
    uint32_t wire = 0;
    memcpy(&wire, data, sizeof wire);
    return be32toh(wire);
}

static int16_t wire_16(const char *data) {
    uint16_t wire = 0;
    memcpy(&wire, data, sizeof wire);
    return (int16_t)be16toh(wire);
}

/* A numeric, as sums are: a count of digits of base 10 000, the power of the first one, a sign, the
 * number of decimals, and the digits. */
static double numeric_real(const char *data) {
    int count = wire_16(data), power = wire_16(data + 2);
    double value = 0;
    for (int i = 0; i < count; i++)
        value = value * 10000 + wire_16(data + 8 + 2 * i);
    for (int i = count - 1; i < power; i++)
        value *= 10000;
    for (int i = count - 1; i > power; i--)
        value /= 10000;
    return wire_16(data + 4) ? -value : value;
}

static int64_t numeric_integer(const char *data) {
    int count = wire_16(data), power = wire_16(data + 2);
    int64_t value = 0;
    for (int i = 0; i <= power; i++)
        value = value * 10000 + (i < count ? wire_16(data + 8 + 2 * i) : 0);
    return wire_16(data + 4) ? -value : value;
}

static double float_4(const char *data) {
    uint32_t wire = wire_32(data);
    float value = 0;
    memcpy(&value, &wire, sizeof value);
    return value;
}

static double float_8(const char *data) {
    uint64_t wire = wire_64(data);
    double value = 0;
    memcpy(&value, &wire, sizeof value);
    return value;
}

static enum row_type postgres_type(struct row *row, int column) {
    const char *data = cell(row, column);
    if (!data)
        return ROW_NULL;
    switch (column_type(row, column)) {
    case PG_BOOL:
    case PG_INT2:
    case PG_INT4:
    case PG_INT8:
    case PG_OID:
    case PG_TID:
        return ROW_INTEGER;
    case PG_FLOAT4:
    case PG_FLOAT8:
        return ROW_REAL;
    case PG_NUMERIC:
        return wire_16(data + 6) ? ROW_REAL : ROW_INTEGER;
    default:
        return ROW_TEXT;
    }
}

static int64_t postgres_integer(struct row *row, int column) {
    const char *data = cell(row, column);
    if (!data)
        return 0;
    switch (column_type(row, column)) {
    case PG_BOOL:
        return *data;
    case PG_INT2:
        return wire_16(data);
    case PG_INT4:
        return (int32_t)wire_32(data);
    case PG_OID:
        return wire_32(data);
    case PG_TID: /* a block, and a place in it */
        return (int64_t)wire_32(data) << 16 | (uint16_t)wire_16(data + 4);
    case PG_INT8:
        return (int64_t)wire_64(data);
    case PG_NUMERIC:
        return numeric_integer(data);
    case PG_FLOAT4:
        return (int64_t)float_4(data);
    case PG_FLOAT8:
        return (int64_t)float_8(data);
    default:
        return strtoll(data, NULL, 10);
    }
}

static double postgres_real(struct row *row, int column) {
    const char *data = cell(row, column);
    if (!data)
        return 0;
    switch (column_type(row, column)) {
    case PG_FLOAT4:
        return float_4(data);
    case PG_FLOAT8:
        return float_8(data);
    case PG_NUMERIC:
        return numeric_real(data);
    case PG_BOOL:
    case PG_INT2:
    case PG_INT4:
    case PG_INT8:
    case PG_OID:
        return (double)postgres_integer(row, column);
    default:
        return strtod(data, NULL);
    }
}

/* Numbers are written once a row and column, into room of the statement's own. */
static const char *number_text(struct row *row, int column, bool whole) {
    struct statement *statement = statement_of(row);
    size_t columns = (size_t)PQnfields(statement->result);
    if (!statement->texts)
        statement->texts = calloc(columns, sizeof *statement->texts);
    if (!statement->texts)
        return "";
    char *text = statement->texts[column];
    if (whole)
        snprintf(text, sizeof *statement->texts, "%lld", (long long)postgres_integer(row, column));
    else
        snprintf(text, sizeof *statement->texts, "%.15g", postgres_real(row, column));
    return text;
}

static const char *postgres_text(struct row *row, int column) {
    switch (postgres_type(row, column)) {
    case ROW_NULL:
        return NULL;
    case ROW_INTEGER:
        return number_text(row, column, true);
    case ROW_REAL:
        return number_text(row, column, false);
    case ROW_TEXT:
        break;
    }
    return cell(row, column); /* libpq puts a NUL behind every value */
}

static const void *postgres_blob(struct row *row, int column, size_t *size) {
    const char *data = cell(row, column);
    *size =
        data ? (size_t)PQgetlength(statement_of(row)->result, statement_of(row)->at, column) : 0;
    return data;
}

const struct db_driver postgres_driver = {
    .close = postgres_close,
    .prepare = postgres_prepare,
    .forget = postgres_forget,
    .bind = postgres_bind,
    .bind_value = postgres_bind_value,
    .step = postgres_step,
    .run = run_kept,
    .run_counted = run_counted,
    .ahead = statement_send_ahead,
    .done = postgres_done,
    .type = postgres_type,
    .integer = postgres_integer,
    .real = postgres_real,
    .text = postgres_text,
    .blob = postgres_blob,
    .changes = postgres_changes,
    .execute = postgres_execute,
    .fail = postgres_fail,
    .watch = postgres_watch,
};
