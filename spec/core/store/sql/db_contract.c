/* db_contract.c - the statements that a connection keeps, on a database that has none. */
#include "../contract.h"
#include "store/sql/db.h"

static bool prepare(struct db *db, struct row *row, const char *sql, bool keep,
                    struct error *error) {
    (void)db, (void)sql, (void)error;
    row->statement = NULL;
    return keep;
}

static void forget(struct db *db, struct row *row) {
    (void)db;
    (void)row;
}

static void bind(struct row *row, const char *kinds, va_list values) {
    (void)row, (void)kinds, (void)values;
}

static void disconnect(struct db *db) {
    (void)db;
}

static const struct db_driver nothing = {
    .close = disconnect, .prepare = prepare, .forget = forget, .bind = bind};

/* COMMIT and ROLLBACK are prepared before there is a transaction. Neither may need memory then. */
static void known(struct contract *c) {
    static const char statements[1000];
    struct db db = {.driver = &nothing};
    size_t made = 0, room = 0;
    do
        EXPECT(db_query(&db, &c->error, &statements[made++], ""));
    while (db.count * 2 < db.room);
    room = db.room;
    bool again = db_query(&db, &c->error, &statements[0], "") != NULL;
    bool same = db.room == room && db.count == made;
    again = again && db_query(&db, &c->error, &statements[made], "");
    bool wider = db.room > room && db.count == made + 1;
    db_close(&db);
    EXPECT(again && same && wider);
}

static const struct check checks[] = {
    {"a statement that is kept is found without more memory", known},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
