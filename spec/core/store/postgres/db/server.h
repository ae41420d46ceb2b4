/* server.h - a session with the server of CONTRACT_STORE, below any store, and the run of checks
 * that open what they need. */
#ifndef MOONSHIFT_SPEC_STORE_POSTGRES_DB_SERVER_H
#define MOONSHIFT_SPEC_STORE_POSTGRES_DB_SERVER_H

#include "../../contract.h"
#include "store/postgres/db/driver.h"

struct server {
    struct address address;
    struct session session;
    struct db db;
};

static bool server_open(struct contract *c, struct server *server) {
    *server = (struct server){0};
    contract_url(c, false);
    return address_read(&server->address, c->url, &c->error) &&
           session_open(&server->session, &server->db, &server->address, &c->error) &&
           db_execute(&server->db, "CREATE TEMPORARY TABLE t(id bigint PRIMARY KEY, name text)",
                      &c->error);
}

static void server_close(struct server *server) {
    db_close(&server->db);
    address_clear(&server->address);
}

/* Each check opens what it needs. */
static bool check_one(struct contract *c, const struct check *check) {
    c->failure = NULL;
    c->error = (struct error){ERROR_NONE, ""};
    check->run(c);
    printf("%s - %s\n", c->failure ? "not ok" : "ok", check->sentence);
    if (c->failure)
        printf("# line %d: expected %s; last error: %s\n", c->line, c->failure, c->error.text);
    fflush(stdout);
    return !c->failure;
}

static int run_checks(const struct check *checks, size_t count) {
    struct contract c = {.directory = "/tmp/moonshift-contract-XXXXXX"};
    int passed = 0, failed = 0;
    if (!getenv("CONTRACT_STORE")) {
        printf("  pending no server: run it with spec/postgres/contracts\n0 passed, 0 failed\n");
        return 0;
    }
    if (!mkdtemp(c.directory))
        return 1;
    for (size_t i = 0; i < count; i++)
        *(check_one(&c, &checks[i]) ? &passed : &failed) += 1;
    folder_remove(c.directory);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}

#endif
