/* statement_contract.c - the parameters of kept statements, in every engine: none outlives what it
 * was bound for. */
#include "contract.h"

static const char three[] = "SELECT coalesce(?1, 'none'), coalesce(?2, -1), coalesce(?3, 'none')";

/* The row that the statement stands at has these values. */
static bool reads(struct row *row, const char *first, int64_t second, const char *third) {
    return strcmp(row_text(row, 0), first) == 0 && row_int(row, 1) == second &&
           strcmp(row_text(row, 2), third) == 0;
}

static void fewer(struct contract *c) {
    struct db *db = &c->store->db;
    struct row *row = db_query(db, &c->error, three, "tit", "one", INT64_C(2), "three");
    EXPECT(db_step(db, row, &c->error) == YES && reads(row, "one", 2, "three"));
    EXPECT(db_step(db, row, &c->error) == NO);
    row = db_query(db, &c->error, three, "t", "one");
    EXPECT(db_step(db, row, &c->error) == YES && reads(row, "one", -1, "none"));
    row_done(row);
    row = db_query(db, &c->error, three, "");
    EXPECT(db_step(db, row, &c->error) == YES && reads(row, "none", -1, "none"));
    row_done(row);
}

static void again(struct contract *c) {
    struct db *db = &c->store->db;
    struct row *row = db_query(db, &c->error, three, "tit", "one", INT64_C(2), "three");
    EXPECT(db_step(db, row, &c->error) == YES && db_step(db, row, &c->error) == NO);
    EXPECT(db_step(db, row, &c->error) == YES && reads(row, "none", -1, "none"));
    row_done(row);
    row = db_query(db, &c->error, three, "tit", "one", INT64_C(2), "three");
    EXPECT(db_step(db, row, &c->error) == YES);
    row_done(row);
    EXPECT(db_step(db, row, &c->error) == YES && reads(row, "none", -1, "none"));
    row_done(row);
}

/* The caller of the first one has gone on without a word. */
static void left(struct contract *c) {
    struct db *db = &c->store->db;
    char *text = strdup("one");
    struct row *row = db_query(db, &c->error, three, "tit", text, INT64_C(2), "three");
    EXPECT(row && db_step(db, row, &c->error) == YES);
    free(text);
    row = db_query(db, &c->error, three, "tit", "four", INT64_C(5), "six");
    EXPECT(db_step(db, row, &c->error) == YES && reads(row, "four", 5, "six"));
    row_done(row);
}

/* Nor has one that was bound and never run. */
static void unused(struct contract *c) {
    struct db *db = &c->store->db;
    char *text = strdup("one");
    EXPECT(db_query(db, &c->error, three, "tit", text, INT64_C(2), text));
    free(text);
    struct row *row = db_query(db, &c->error, three, "");
    EXPECT(db_step(db, row, &c->error) == YES && reads(row, "none", -1, "none"));
    row_done(row);
}

static const char row_of[] = "SELECT 7, ?1, CASE WHEN ?1>2 THEN 1 ELSE 0 END, CAST(NULL AS BIGINT),"
                             " ?2, ?3";

/* Each letter of db_read. */
static void into_variables(struct contract *c) {
    struct db *db = &c->store->db;
    int64_t big = 0;
    int small = 0;
    bool more = false;
    time_ms none = 0;
    char text[4] = "";
    json_t *value = NULL;
    EXPECT(db_read(db, &c->error, row_of, "infTtj<itt", &big, &small, &more, &none, text,
                   sizeof text, &value, INT64_C(3), "cut off", "{\"a\": 1}") == YES);
    EXPECT(big == 7 && small == 3 && more && none == TIME_NONE && strcmp(text, "cut") == 0);
    EXPECT(json_integer_value(json_object_get(value, "a")) == 1);
    json_decref(value);
    EXPECT(db_read(db, &c->error, row_of, "infTtj<itt", &big, &small, &more, &none, text,
                   sizeof text, &value, INT64_C(2), NULL, "no JSON") == YES);
    EXPECT(small == 2 && !more && !*text && !value);
    EXPECT(db_read(db, &c->error, "SELECT value FROM meta WHERE key=?1", "i<t", &big,
                   "no such key") == NO &&
           big == 7);
}

static const struct check checks[] = {
    {"the first row goes into variables; without one they stay as they are", into_variables},
    {"a parameter that is not bound is NULL, whatever it was before", fewer},
    {"a statement that has come to its end has no parameters", again},
    {"a statement that was left at a row is bound anew", left},
    {"a statement that was bound and not run is bound anew", unused},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
