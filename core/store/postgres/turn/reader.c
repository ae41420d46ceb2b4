#include "store/postgres/turn/reader.h"
#include "store/postgres/db/connection.h"
#include "store/postgres/turn/timeline.h"
#include <stdio.h>
#include <string.h>

/* Rows, and ends of runs: with fewer two connections are not worth while. A soak has fewer. */
#ifndef READER_LONG
#define READER_LONG 128
#endif

enum {
    WANTED = 200,        /* ms for which a long turn says that turns are long */
    AGAIN_EVERY = 60000, /* ms between two attempts to connect; turns wait for each */
    KEPT = 60000         /* ms for which an unused connection stays */
};

static struct reader *reader_of(const struct store *store) {
    return &postgres_of(store)->reader;
}

static bool is_open(const struct reader *reader) {
    return reader->db.driver != NULL;
}

static time_ms patience(const struct reader *reader) {
    return reader->patience ? reader->patience : READER_PATIENCE;
}

/* It was opened behind the present first connection, and is there. */
static bool is_current(const struct store *store) {
    const struct reader *reader = reader_of(store);
    return is_open(reader) && !reader->session.lost &&
           reader->generation == postgres_of(store)->session.generation;
}

/* ---- the connection ---- */

void reader_close(struct store *store) {
    struct reader *reader = reader_of(store);
    db_forget(&reader->db, reader->imports);
    reader->imports = NULL;
    reader->snapshot[0] = 0;
    db_close(&reader->db);
    reader->session = (struct session){0};
}

/* A server may have no connection left for it, and a pool lets it wait for one: the store does
 * without. */
static void reader_open(struct store *store, time_ms now) {
    struct postgres *postgres = postgres_of(store);
    struct reader *reader = &postgres->reader;
    reader->generation = postgres->session.generation;
    reader->session.spare = true;
    reader->db.deadline = now + patience(reader);
    if (!session_open(&reader->session, &reader->db, &postgres->address, NULL))
        reader_close(store);
    reader->db.deadline = 0;
    reader->tried = reader->used = clock_monotonic();
}

void reader_prepare(struct store *store) {
    const struct postgres *postgres = postgres_of(store);
    const struct reader *reader = &postgres->reader;
    const time_ms now = clock_monotonic();
    if (is_open(reader) && (!is_current(store) || now >= reader->used + KEPT))
        reader_close(store);
    if (now < reader->wanted && !is_open(reader) && !postgres->session.lost &&
        !postgres->address.pooled && (!reader->tried || now >= reader->tried + AGAIN_EVERY))
        reader_open(store, now);
}

/* ---- the snapshot ---- */

/* A page says where its rows are. They stay there until the transaction ends: nobody may rewrite
 * the table, as VACUUM FULL does, once the second connection has let go of it. */
struct row *reader_ask(struct store *store, struct error *error) {
    if (!is_current(store) || clock_monotonic() >= reader_of(store)->wanted ||
        !db_run(&store->db, error, "LOCK TABLE ready IN ACCESS SHARE MODE", ""))
        return NULL;
    struct row *row = db_query(&store->db, error, "SELECT pg_export_snapshot()", "");
    return row && statement_send_ahead(row, error) ? row : NULL;
}

/* It becomes part of a statement, which takes no parameters. */
static bool is_name(const char *text) {
    return text && strspn(text, "0123456789ABCDEF-") == strlen(text);
}

bool reader_answer(struct store *store, struct row *row, struct error *error) {
    struct reader *reader = reader_of(store);
    reader->snapshot[0] = 0;
    if (!row)
        return true;
    enum answer step = db_step(&store->db, row, error);
    const char *text = step == YES ? row_text(row, 0) : NULL;
    if (is_name(text))
        snprintf(reader->snapshot, sizeof reader->snapshot, "%s", text);
    if (step == YES)
        row_done(row);
    return step != FAILED;
}

static bool take_over(struct reader *reader) {
    char sql[sizeof reader->snapshot + 40];
    snprintf(sql, sizeof sql, "SET TRANSACTION SNAPSHOT '%s'", reader->snapshot);
    reader->imports = db_prepare(&reader->db, sql, NULL, 0, NULL);
    return reader->imports && db_run_row(&reader->db, reader->imports, NULL);
}

/* Two servers that were one may know snapshots of the same name. */
static bool ask_server(struct reader *reader) {
    reader->server = db_query(&reader->db, NULL, "SELECT " TIMELINE, "");
    return reader->server && statement_send_ahead(reader->server, NULL);
}

static bool is_same_server(const struct store *store) {
    struct reader *reader = reader_of(store);
    if (db_step(&reader->db, reader->server, NULL) != YES)
        return false;
    bool same = row_int(reader->server, 0) == postgres_of(store)->timeline.server;
    row_done(reader->server);
    return same;
}

/* ---- a page ---- */

bool reader_fits(struct store *store, const struct ready_page *page) {
    struct reader *reader = reader_of(store);
    int64_t rows = 0;
    for (size_t i = 0; i < page->count; i++)
        rows += page->lists[i].quota;
    const bool fits = rows >= READER_LONG && store->endings.count >= READER_LONG;
    if (fits)
        reader->wanted = clock_monotonic() + WANTED;
    return fits;
}

struct db *reader_begin(struct store *store) {
    struct reader *reader = reader_of(store);
    if (!reader->snapshot[0] || postgres_of(store)->session.minded)
        return NULL;
    session_enter(&reader->session);
    reader->used = clock_monotonic();
    reader->db.deadline = reader->used + patience(reader);
    if (db_run(&reader->db, NULL, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "") &&
        take_over(reader) && ask_server(reader))
        return &reader->db;
    reader_close(store);
    return NULL;
}

bool reader_send(struct store *store) {
    struct reader *reader = reader_of(store);
    bool sent = db_run(&reader->db, NULL, "COMMIT", "");
    if (sent)
        session_push(&reader->session);
    else
        reader_close(store);
    return sent;
}

bool reader_land(struct store *store) {
    struct reader *reader = reader_of(store);
    if (!session_land(&reader->session, NULL, NULL) || !is_same_server(store)) {
        reader_close(store);
        return false;
    }
    session_leave(&reader->session);
    reader->db.deadline = 0;
    db_forget(&reader->db, reader->imports);
    reader->imports = NULL;
    return true;
}
