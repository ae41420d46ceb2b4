/* schema.h - empties the schema of a store on a server that spec/postgres/prepare.lua has prepared:
 * the one of the check before, or of another contract. That takes a tenth of making one, in a
 * session that stays open. */
#ifndef MOONSHIFT_SPEC_SCHEMA_H
#define MOONSHIFT_SPEC_SCHEMA_H

#include "store/postgres/db/driver.h"
#include <stdio.h>
#include <string.h>

struct schema_session {
    struct address address;
    struct session session;
    struct db db;
};

static inline void schema_close(struct schema_session *to) {
    if (to->db.driver)
        db_close(&to->db);
    address_clear(&to->address);
    *to = (struct schema_session){0};
}

static inline bool schema_ask(struct schema_session *to, const char *url, const char *sql) {
    struct error error = {ERROR_NONE, ""};
    if (to->db.driver && session_execute(&to->session, sql, &error))
        return true;
    schema_close(to);
    return address_read(&to->address, url, &error) &&
           session_open(&to->session, &to->db, &to->address, &error) &&
           session_execute(&to->session, sql, &error);
}

/* False: the server was not prepared for it. A schema that is not there is empty. */
static inline bool schema_empty(const char *url) {
    static struct schema_session to;
    const char *name = strstr(url, "schema=");
    char sql[96];
    name = name ? name + strlen("schema=") : "";
    snprintf(sql, sizeof sql, "SELECT spec.empty('%.*s')", (int)strcspn(name, "&"), name);
    if (schema_ask(&to, url, sql))
        return true;
    schema_close(&to);
    return false;
}

#endif
