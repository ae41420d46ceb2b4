#include "store/sql/db.h"
#include "base/json.h"
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void db_close(struct db *db) {
    for (size_t i = 0; i < db->room; i++)
        db_forget(db, db->entries[i].row);
    free(db->entries);
    if (db->driver)
        db->driver->close(db);
    free(db->name);
    *db = (struct db){0};
}

bool db_fail(struct db *db, struct error *error) {
    return db->driver->fail(db, error);
}

bool db_late(const struct db *db, struct error *error) {
    return error_set(error, ERROR_FAILED,
                     "store \"%s\": the question for %s took longer than %g s (expected one "
                     "that looks at less: other filters, pages by id)",
                     db->name, db->question ? db->question : "this", (double)db->budget / 1000);
}

bool db_no_memory(const struct db *db, struct error *error) {
    return error_set(error, ERROR_FAILED, "store \"%s\": out of memory", db->name);
}

void db_question_begin(struct db *db) {
    db->deadline = clock_monotonic() + db->budget;
    db->driver->watch(db, true);
}

void db_question_end(struct db *db) {
    db->driver->watch(db, false);
    db->deadline = 0;
    db->question = NULL;
    db->patient = false;
}

void db_question_patient(struct db *db) {
    db_question_end(db);
    db->patient = true;
}

/* ---- statements ---- */

static struct db_entry *db_slot(struct db_entry *entries, size_t room, const char *sql) {
    size_t at = (size_t)((uintptr_t)sql * 0x9e3779b97f4a7c15u >> 20) & (room - 1);
    while (entries[at].sql && entries[at].sql != sql)
        at = (at + 1) & (room - 1);
    return &entries[at];
}

static bool db_grow(struct db *db) {
    size_t room = db->room ? db->room * 2 : 256;
    struct db_entry *entries = calloc(room, sizeof *entries);
    if (!entries)
        return false;
    for (size_t i = 0; i < db->room; i++)
        if (db->entries[i].sql)
            *db_slot(entries, room, db->entries[i].sql) = db->entries[i];
    free(db->entries);
    db->entries = entries;
    db->room = room;
    return true;
}

static struct row *db_make(struct db *db, const char *sql, bool keep, struct error *error) {
    struct row *row = malloc(sizeof *row);
    if (!row)
        return error_null(db_no_memory(db, error));
    *row = (struct row){.driver = db->driver};
    if (db->driver->prepare(db, row, sql, keep, error))
        return row;
    free(row);
    return NULL;
}

static struct row *db_kept(struct db *db, const char *sql, struct error *error) {
    struct db_entry *entry = db->room ? db_slot(db->entries, db->room, sql) : NULL;
    if (entry && entry->sql)
        return entry->row; /* also without memory: a transaction must end */
    if (db->count * 2 >= db->room && !db_grow(db))
        return error_null(db_no_memory(db, error));
    struct row *row = db_make(db, sql, true, error);
    if (!row)
        return NULL;
    *db_slot(db->entries, db->room, sql) = (struct db_entry){sql, row};
    db->count++;
    return row;
}

/* ---- what is written later ---- */

static bool is_word(const char *at, const char *word) {
    const size_t size = strlen(word);
    return strncmp(at, word, size) == 0 && !isalnum((unsigned char)at[size]) && at[size] != '_';
}

static bool names_kept(const char *sql, const char *const *tables) {
    static const char *const verbs[] = {"FROM ", "JOIN ", "INTO ", "UPDATE "};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        for (const char *at = strstr(sql, verbs[i]); at; at = strstr(at + 1, verbs[i]))
            for (const char *const *table = tables; *table; table++)
                if (is_word(at + strlen(verbs[i]), *table))
                    return true;
    return false;
}

static bool row_names(struct row *row, const char *sql, int keeper, const struct db_keeps *keeps) {
    const unsigned bit = 1u << keeper;
    if (!(row->seen & bit) && names_kept(sql, keeps->tables))
        row->names |= bit;
    row->seen |= bit;
    return row->names & bit;
}

/* Writes what is kept if the statement may ask for it. */
static bool meets_kept(struct db *db, struct row *row, const char *sql, struct error *error) {
    bool done = row != NULL;
    for (int i = 0; done && i < DB_KEEPERS; i++)
        if (db->keeps[i] && row_names(row, sql, i, db->keeps[i]))
            done = db->keeps[i]->write(db, error);
    return done;
}

static struct row *db_bound(struct db *db, struct error *error, const char *sql, const char *kinds,
                            va_list values) {
    struct row *row = db_kept(db, sql, error);
    if (!meets_kept(db, row, sql, error))
        return NULL;
    db->driver->bind(row, kinds, values);
    return row;
}

/* ---- asking ---- */

struct row *db_query(struct db *db, struct error *error, const char *sql, const char *kinds, ...) {
    va_list values;
    va_start(values, kinds);
    struct row *row = db_bound(db, error, sql, kinds, values);
    va_end(values);
    return row;
}

struct row *db_prepare(struct db *db, const char *sql, const json_t *const *values, size_t count,
                       struct error *error) {
    struct row *row = db_make(db, sql, false, error);
    if (row && !meets_kept(db, row, sql, error)) {
        db_forget(db, row);
        return NULL;
    }
    for (size_t i = 0; row && i < count; i++)
        db->driver->bind_value(row, (int)i, values[i]);
    return row;
}

void db_forget(struct db *db, struct row *row) {
    if (row)
        row->driver->forget(db, row);
    free(row);
}

bool db_ahead(struct row *row, struct error *error) {
    return row && (!row->driver->ahead || row->driver->ahead(row, error));
}

enum answer db_step(struct db *db, struct row *row, struct error *error) {
    return row ? db->driver->step(db, row, error) : FAILED;
}

bool db_run_row(struct db *db, struct row *row, struct error *error) {
    if (db->driver->run)
        return db->driver->run(db, row, error);
    enum answer step = NO;
    while ((step = db_step(db, row, error)) == YES)
        continue;
    return step == NO;
}

bool db_run_counted(struct db *db, struct row *row, int wanted, struct error *error) {
    if (db->driver->run_counted)
        return row && db->driver->run_counted(db, row, wanted, error);
    if (!row || !db_run_row(db, row, error))
        return false;
    int count = db_changes(db);
    return count == wanted ||
           error_set(error, ERROR_DAMAGED, "store \"%s\": " DB_MISCOUNTED, db->name, count, wanted);
}

bool db_run_list(struct db *db, struct error *error, const char *sql, const char *kinds,
                 va_list values) {
    struct row *row = db_bound(db, error, sql, kinds, values);
    return row && db_run_row(db, row, error);
}

bool db_run(struct db *db, struct error *error, const char *sql, const char *kinds, ...) {
    va_list values;
    va_start(values, kinds);
    bool done = db_run_list(db, error, sql, kinds, values);
    va_end(values);
    return done;
}

enum answer db_first(struct db *db, struct row *row, int64_t *value, struct error *error) {
    enum answer step = db_step(db, row, error);
    if (step == YES) {
        *value = row_int(row, 0);
        row_done(row);
    }
    return step;
}

enum answer db_value(struct db *db, struct error *error, int64_t *value, const char *sql,
                     const char *kinds, ...) {
    va_list values;
    va_start(values, kinds);
    struct row *row = db_bound(db, error, sql, kinds, values);
    va_end(values);
    return row ? db_first(db, row, value, error) : FAILED;
}

enum { INTO_MOST = 8 };

/* Where a column goes. */
struct into {
    char kind;
    void *to;
    size_t room; /* of a text */
};

static void column_read(struct row *row, int column, const struct into *into) {
    const char *text = strchr("tj", into->kind) ? row_text(row, column) : NULL;
    switch (into->kind) {
    case 'n':
        *(int *)into->to = row_int32(row, column);
        break;
    case 'f':
        *(bool *)into->to = row_int(row, column) != 0;
        break;
    case 'T':
        *(time_ms *)into->to = row_time(row, column);
        break;
    case 't':
        snprintf(into->to, into->room, "%s", text ? text : "");
        break;
    case 'j':
        *(json_t **)into->to = text ? json_read(text, strlen(text), "column", NULL) : NULL;
        break;
    default:
        *(int64_t *)into->to = row_int(row, column);
    }
}

enum answer db_read(struct db *db, struct error *error, const char *sql, const char *kinds, ...) {
    struct into into[INTO_MOST];
    int count = 0;
    va_list values;
    va_start(values, kinds);
    for (; *kinds != '<'; kinds++, count++) {
        into[count] = (struct into){.kind = *kinds, .to = va_arg(values, void *)};
        into[count].room = *kinds == 't' ? va_arg(values, size_t) : 0;
    }
    struct row *row = db_bound(db, error, sql, kinds + 1, values);
    va_end(values);
    enum answer step = db_step(db, row, error);
    for (int i = 0; step == YES && i < count; i++)
        column_read(row, i, &into[i]);
    if (step == YES)
        row_done(row);
    return step;
}

bool db_execute(struct db *db, const char *sql, struct error *error) {
    return db->driver->execute(db, sql, error);
}

int db_changes(struct db *db) {
    int count = db->driver->changes(db, NULL);
    return count > 0 ? count : 0;
}

bool db_count(struct db *db, int *count, struct error *error) {
    *count = db->driver->changes(db, error);
    return *count >= 0;
}
