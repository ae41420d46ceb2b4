/* driver_contract.c - statements of questions are prepared once, as long as they are asked again
 * and are not large. */
#include "../../contract.h"
#include "store/rules/ground/kinds.h"
#include "store/sqlite/db/connection.h"

enum { TIMES = 20, LARGE = 5000 };

/* The statement of a question for jobs by so many ids; NULL: there is none. */
static sqlite3_stmt *of_ids(struct store *store, int ids) {
    char sql[64] = "j.id IN (?";
    for (int i = 1; i < ids && i < 10; i++)
        strcat(sql, ", ?");
    strcat(sql, ids < 10 ? ")" : ", ?");
    sqlite3_stmt *one = NULL;
    while ((one = sqlite3_next_stmt(store->db.handle, one)) && !strstr(sqlite3_sql(one), sql))
        continue;
    return one;
}

/* How many jobs there are of these ids: numbers from `first` on. */
static size_t ask(struct contract *c, int64_t first, int ids) {
    json_t *list = json_array();
    for (int i = 0; i < ids; i++)
        json_array_append_new(list, json_integer(first + i));
    json_t *filters = json_pack("{so}", "id", list);
    json_t *jobs = store_jobs(c->store, filters, NULL, NOW, &c->error);
    size_t count = json_array_size(jobs);
    json_decref(jobs);
    json_decref(filters);
    return count;
}

static void again(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    EXPECT(ask(c, id, 1) == 1);
    const sqlite3_stmt *kept = of_ids(c->store, 1);
    EXPECT(kept);
    for (int i = 1; i < TIMES; i++)
        EXPECT(ask(c, id + i % 2, 1) == (i % 2 ? 0 : 1) && of_ids(c->store, 1) == kept);
    EXPECT(sqlite3_stmt_status(of_ids(c->store, 1), SQLITE_STMTSTATUS_RUN, 0) == TIMES);
}

/* One that is asked often stays, whatever is asked beside it; of the others the last ones. */
static void some(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    for (int ids = 2; ids < 10; ids++)
        EXPECT(ask(c, id, 1) == 1 && ask(c, id, ids) == 1);
    EXPECT(of_ids(c->store, 1) && of_ids(c->store, 9) && !of_ids(c->store, 2));
    EXPECT(sqlite3_stmt_status(of_ids(c->store, 1), SQLITE_STMTSTATUS_RUN, 0) == 8);
}

static void large(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    EXPECT(ask(c, id, LARGE) == 1 && !of_ids(c->store, LARGE));
}

/* The statement outlives what it was prepared for. */
static void schema(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    EXPECT(ask(c, id, 1) == 1);
    EXPECT(db_execute(&c->store->db, "CREATE INDEX beside ON job(created)", &c->error));
    EXPECT(ask(c, id, 1) == 1 && ask(c, id + 1, 1) == 0);
}

static const struct check checks[] = {
    {"a question that is asked again is not prepared again", again},
    {"what is asked often is kept, beside the last ones of others", some},
    {"the statement of a long list is not kept", large},
    {"a statement that is kept sees a schema that has changed", schema},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
