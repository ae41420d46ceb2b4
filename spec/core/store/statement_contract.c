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

static const struct check checks[] = {
    {"a parameter that is not bound is NULL, whatever it was before", fewer},
    {"a statement that has come to its end has no parameters", again},
    {"a statement that was left at a row is bound anew", left},
    {"a statement that was bound and not run is bound anew", unused},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
