/* driver_contract.c - the driver over libpq, on a server: values, rows, flights, errors. It is run
 * with spec/postgres/contracts, which says in CONTRACT_STORE where the server is. */
#include "server.h"
#include "store/postgres/db/array.h"

static int64_t count_rows(struct server *server) {
    int64_t count = -1;
    db_value(&server->db, NULL, &count, "SELECT count(*) FROM t", "");
    return count;
}

/* ---- values ---- */

static bool values_return(struct contract *c, struct db *db) {
    static const char bytes[] = "a\0b";
    size_t size = 0;
    struct row *row =
        db_query(db, &c->error, "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8", "inzTtbdt", INT64_MIN + 1,
                 -7, INT64_C(0), TIME_NONE, "ü", bytes, sizeof bytes - 1, 0.25, NULL);
    if (db_step(db, row, &c->error) != YES)
        return false;
    const char *blob = row_blob(row, 5, &size);
    bool same = row_int(row, 0) == INT64_MIN + 1 && row_int32(row, 1) == -7 && row_null(row, 2) &&
                row_time(row, 3) == TIME_NONE && strcmp(row_text(row, 4), "ü") == 0;
    same = same && size == 3 && memcmp(blob, bytes, 3) == 0 && row_real(row, 6) == 0.25 &&
           row_null(row, 7) && !row_text(row, 7);
    return same && db_step(db, row, &c->error) == NO;
}

static void values(struct contract *c) {
    struct server server;
    EXPECT(server_open(c, &server));
    bool first = values_return(c, &server.db), again = values_return(c, &server.db);
    server_close(&server);
    EXPECT(first);
    EXPECT(again);
}

/* ---- arrays ---- */

/* Binds one array to the second parameter. */
static bool bind_numbers(struct row *row, int count) {
    struct array numbers;
    array_begin(&numbers, ARRAY_INT8);
    for (int i = 0; i < count; i++)
        array_add_int(&numbers, i);
    array_end(&numbers);
    bool bound = row && statement_bind_array(row, 1, &numbers) && !numbers.data.data;
    array_clear(&numbers);
    return bound;
}

static const char counts[] = "SELECT ?1, cardinality(?2::bigint[])";

static void arrays(struct contract *c) {
    struct server server;
    int64_t kept = -1, none = -1;
    EXPECT(server_open(c, &server));
    struct row *row = db_query(&server.db, &c->error, counts, "i", INT64_C(1));
    bool fine = bind_numbers(row, 1000) && db_step(&server.db, row, &c->error) == YES;
    kept = fine ? row_int(row, 1) : -1;
    row_done(row);
    row = db_query(&server.db, &c->error, counts, "i", INT64_C(1));
    fine = fine && db_step(&server.db, row, &c->error) == YES;
    none = fine && row_null(row, 1);
    row_done(row);
    row = db_query(&server.db, &c->error, counts, "i", INT64_C(1));
    fine = fine && bind_numbers(row, 10) && bind_numbers(row, 20); /* and is not run */
    server_close(&server);
    EXPECT(fine && kept == 1000 && none == 1);
}

/* Sums of whole numbers are numerics to the server. */
static bool sums_are_whole(struct contract *c, struct db *db) {
    static const int64_t parts[] = {INT64_C(9000000000000000000), 100000000, 20000, 123456789, -5};
    bool fine = true;
    for (size_t i = 0; fine && i < sizeof parts / sizeof *parts; i++) {
        struct row *row = db_query(db, &c->error, "SELECT sum(n), sum(n)*0 FROM (VALUES(?1)) v(n)",
                                   "i", parts[i]);
        fine = db_step(db, row, &c->error) == YES && row_type(row, 0) == ROW_INTEGER &&
               row_int(row, 0) == parts[i] && row_int(row, 1) == 0;
        row_done(row);
    }
    return fine;
}

static void made_values(struct contract *c) {
    struct server server;
    EXPECT(server_open(c, &server));
    struct row *row = db_query(&server.db, &c->error,
                               "SELECT 1=1, 1=2, 1.5, avg(n), 42, 'a ? of ''?1''', 7::smallint,"
                               " 0.5::real FROM (VALUES(1),(2)) v(n)",
                               "");
    bool fine = db_step(&server.db, row, &c->error) == YES && row_int(row, 0) == 1 &&
                row_int(row, 1) == 0 && row_type(row, 2) == ROW_REAL && row_real(row, 3) == 1.5;
    fine = fine && strcmp(row_text(row, 4), "42") == 0 && row_int(row, 6) == 7 &&
           strcmp(row_text(row, 5), "a ? of '?1'") == 0 && strcmp(row_text(row, 7), "0.5") == 0;
    bool sums = fine && sums_are_whole(c, &server.db);
    server_close(&server);
    EXPECT(fine);
    EXPECT(sums);
}

static void numbered(struct contract *c) {
    struct server server;
    const json_t *one = json_integer(5), *two = json_string("x");
    const json_t *const given[] = {one, two};
    EXPECT(server_open(c, &server));
    struct row *row = db_query(&server.db, &c->error, "SELECT ?2, ?1+?1", "it", INT64_C(4), "b");
    bool fine = db_step(&server.db, row, &c->error) == YES && row_int(row, 1) == 8 &&
                strcmp(row_text(row, 0), "b") == 0;
    row = db_prepare(&server.db, "SELECT 1 WHERE 5=? AND 'x'=?", given, 2, &c->error);
    bool bare = db_step(&server.db, row, &c->error) == YES;
    db_forget(&server.db, row);
    server_close(&server);
    json_decref((json_t *)(uintptr_t)one);
    json_decref((json_t *)(uintptr_t)two);
    EXPECT(fine);
    EXPECT(bare);
}

/* ---- flights ---- */

static bool put(struct server *server, int64_t id, struct error *error) {
    return db_run(&server->db, error, "INSERT INTO t(id) VALUES(?1)", "i", id);
}

static void queued(struct contract *c) {
    struct server server;
    EXPECT(server_open(c, &server));
    session_enter(&server.session);
    bool fine = db_run(&server.db, &c->error, "BEGIN", "");
    for (int64_t i = 0; fine && i < 1000; i++)
        fine = put(&server, i, &c->error);
    size_t waits = server.session.count;
    fine = fine && db_run(&server.db, &c->error, "UPDATE t SET name='x' WHERE id<10", "");
    int changed = db_changes(&server.db);
    fine = fine && db_run(&server.db, &c->error, "COMMIT", "") &&
           session_land(&server.session, NULL, &c->error);
    session_leave(&server.session);
    int64_t count = count_rows(&server);
    server_close(&server);
    EXPECT(fine);
    EXPECT(waits > 0);
    EXPECT(changed == 10);
    EXPECT(count == 1000);
}

/* Questions that are sent ahead are answered in one wait, in any order. */
static void asked_together(struct contract *c) {
    struct server server;
    int64_t first = 0, second = 0;
    EXPECT(server_open(c, &server));
    struct db *db = &server.db;
    struct row *one = db_query(db, &c->error, "SELECT 1::bigint", "");
    struct row *two = db_query(db, &c->error, "SELECT 2::bigint", "");
    const int64_t before = server.session.waits;
    bool fine = db_ahead(one, &c->error) && db_ahead(two, &c->error);
    fine = fine && db_first(db, two, &second, &c->error) == YES;
    fine = fine && db_first(db, one, &first, &c->error) == YES;
    const int64_t waits = server.session.waits - before;
    server_close(&server);
    EXPECT(fine && first == 1 && second == 2);
    EXPECT(waits == 1);
    EXPECT(!db_ahead(NULL, &c->error));
}

/* The statement that is refused says nothing; what waits next tells, and so does all that follows.
 */
static void refused(struct contract *c) {
    struct server server;
    struct error other = {0};
    EXPECT(server_open(c, &server));
    session_enter(&server.session);
    bool sent = db_run(&server.db, &c->error, "BEGIN", "") && put(&server, 1, &c->error) &&
                put(&server, 1, &c->error) && put(&server, 2, &c->error);
    int changed = db_changes(&server.db);
    bool after = put(&server, 3, &other);
    session_leave(&server.session);
    bool back = db_run(&server.db, &c->error, "ROLLBACK", "");
    bool again = put(&server, 4, &c->error) && count_rows(&server) == 1;
    server_close(&server);
    EXPECT(sent);
    EXPECT(changed == 0);
    EXPECT(!after && strstr(other.text, "duplicate key"));
    EXPECT(back && again);
}

/* One part of a transaction fails, and the others stay. */
static void returned(struct contract *c) {
    struct server server;
    struct error other = {0};
    EXPECT(server_open(c, &server));
    struct db *db = &server.db;
    session_enter(&server.session);
    bool sent = db_run(db, &c->error, "BEGIN", "") && put(&server, 1, &c->error) &&
                db_run(db, &c->error, "SAVEPOINT part", "") && put(&server, 2, &c->error) &&
                put(&server, 1, &c->error);
    bool released = db_run(db, &other, "RELEASE part", "");
    bool back = db_run(db, &c->error, "ROLLBACK TO part", "") &&
                db_run(db, &c->error, "RELEASE part", "") && put(&server, 3, &c->error) &&
                db_run(db, &c->error, "COMMIT", "") &&
                session_land(&server.session, NULL, &c->error);
    session_leave(&server.session);
    int64_t count = count_rows(&server);
    server_close(&server);
    EXPECT(sent && !released && strstr(other.text, "duplicate key"));
    EXPECT(back && count == 2);
}

static void unknown_table(struct contract *c) {
    struct server server;
    struct error other = {0};
    static const char sql[] = "SELECT 1 FROM later";
    int64_t value = 0;
    EXPECT(server_open(c, &server));
    bool first = db_value(&server.db, &other, &value, sql, "") == FAILED;
    bool made = db_execute(&server.db,
                           "CREATE TEMPORARY TABLE later(); INSERT INTO later "
                           "DEFAULT VALUES",
                           &c->error);
    bool second = db_value(&server.db, &c->error, &value, sql, "") == YES && value == 1;
    server_close(&server);
    EXPECT(first && other.code == ERROR_CONFIG);
    EXPECT(made && second);
}

static void two_at_once(struct contract *c) {
    struct server server;
    int64_t sum = 0;
    EXPECT(server_open(c, &server));
    struct row *outer = db_query(&server.db, &c->error, "SELECT generate_series(1, 3)::bigint", "");
    while (db_step(&server.db, outer, &c->error) == YES) {
        int64_t inner = 0;
        db_value(&server.db, &c->error, &inner, "SELECT ?1*10", "i", row_int(outer, 0));
        sum += inner + row_int(outer, 0);
    }
    server_close(&server);
    EXPECT(sum == 66);
}

/* ---- ends ---- */

static void too_long(struct contract *c) {
    struct server server;
    struct error other = {0};
    EXPECT(server_open(c, &server));
    server.db.budget = 50;
    server.db.question = "naps";
    db_question_begin(&server.db);
    bool ended = !db_run(&server.db, &other, "SELECT pg_sleep(60)", "");
    db_question_end(&server.db);
    bool on = put(&server, 1, &c->error);
    server_close(&server);
    EXPECT(ended && strstr(other.text, "the question for naps took longer than 0.05 s"));
    EXPECT(on);
}

static _Atomic bool stop;

static int hurried(void) {
    return stop;
}

static void ended_at_once(struct contract *c) {
    struct server server;
    EXPECT(server_open(c, &server));
    server.db.budget = 60000;
    server.db.hurried = hurried;
    stop = true;
    db_question_begin(&server.db);
    bool ended = !db_run(&server.db, &c->error, "SELECT pg_sleep(60)", "");
    db_question_end(&server.db);
    server_close(&server);
    EXPECT(ended);
}

static void lost(struct contract *c) {
    struct server server, killer;
    struct error other = {0};
    int64_t process = 0, gone = 0;
    EXPECT(server_open(c, &server));
    db_value(&server.db, &c->error, &process, "SELECT pg_backend_pid()", "");
    EXPECT(server_open(c, &killer));
    db_value(&killer.db, &c->error, &gone, "SELECT pg_terminate_backend(?1::int, 60000)", "i",
             process);
    server_close(&killer);
    bool told = !put(&server, 1, &other);
    bool back = session_reopen(&server.session, &server.address, &c->error) &&
                db_execute(&server.db, "CREATE TEMPORARY TABLE t(id bigint)", &c->error) &&
                put(&server, 1, &c->error);
    server_close(&server);
    EXPECT(gone && told && other.code == ERROR_UNAVAILABLE);
    EXPECT(back);
}

/* Its number of rows is none that a caller could take for damage. */
static void lost_before_count(struct contract *c) {
    struct server server;
    struct error other = {0};
    int count = 0;
    EXPECT(server_open(c, &server));
    bool sent = db_execute(&server.db, "BEGIN", &c->error);
    server.session.queues = true;
    sent =
        sent && db_run(&server.db, &c->error, "SELECT pg_terminate_backend(pg_backend_pid())", "");
    bool counted = db_count(&server.db, &count, &other);
    server_close(&server);
    EXPECT(sent && !counted && other.code == ERROR_UNAVAILABLE);
}

/* Nothing may go on as if such a commit had not taken place. */
static void lost_in_commit(struct contract *c) {
    struct server server;
    struct error other = {0};
    EXPECT(server_open(c, &server));
    server.session.ending = true;
    bool told = !db_run(&server.db, &other, "SELECT pg_terminate_backend(pg_backend_pid())", "");
    server_close(&server);
    EXPECT(told && other.code == ERROR_IO);
}

static void too_much(struct contract *c) {
    static const char much[] = "SELECT repeat('x', 2000000000)";
    struct server server;
    struct error own = {0}, asked = {0};
    EXPECT(server_open(c, &server));
    bool fine = db_step(&server.db, db_query(&server.db, &own, much, ""), &own) == FAILED;
    struct row *row = db_prepare(&server.db, much, NULL, 0, &asked);
    fine = fine && db_step(&server.db, row, &asked) == FAILED;
    db_forget(&server.db, row);
    server_close(&server);
    EXPECT(fine && own.code == ERROR_FAILED && strstr(own.text, "requested length too large"));
    EXPECT(!strstr(own.text, "filters"));
    EXPECT(asked.code == ERROR_INVALID && strstr(asked.text, "filters: too long a question"));
}

static void shared_session(struct contract *c) {
    struct server server;
    struct error other = {0};
    int64_t one = 0;
    EXPECT(server_open(c, &server));
    bool fine = db_value(&server.db, &c->error, &one, "SELECT 1", "") == YES &&
                db_execute(&server.db, "DEALLOCATE ALL", &c->error) &&
                db_value(&server.db, &other, &one, "SELECT 1", "") == FAILED;
    server_close(&server);
    EXPECT(fine && other.code == ERROR_CONFIG && strstr(other.text, SESSION_SHARED));
}

static const struct check checks[] = {
    {"values come back as they were given", values},
    {"an array goes with the statement that it was bound to", arrays},
    {"booleans, sums and small numbers are read as numbers", made_values},
    {"parameters go by their numbers, or in order", numbered},
    {"what only runs in a transaction is queued", queued},
    {"questions that are sent ahead wait once", asked_together},
    {"an error of a queued statement is that of the next wait", refused},
    {"a transaction goes back to a savepoint, and on from there", returned},
    {"a statement that was refused can be asked again", unknown_table},
    {"rows of one statement stay while another one runs", two_at_once},
    {"a question ends with its budget", too_long},
    {"a question ends at once when there is hurry", ended_at_once},
    {"a lost connection is told, and made anew", lost},
    {"a queued statement that is lost has no number of rows", lost_before_count},
    {"a connection that is lost during a commit is no matter to try again", lost_in_commit},
    {"a limit of the server is the asker's matter in a question of filters alone", too_much},
    {"a session that others change is told", shared_session},
};

int main(void) {
    return run_checks(checks, sizeof checks / sizeof *checks);
}
