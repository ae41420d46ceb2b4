/* payload.c - what a payload says, by the JSON functions of SQLite. */
#include "base/json.h"
#include "store/rules/ground/query.h"
#include "store/sqlite/db/driver.h"
#include "store/sqlite/db/engine.h"

/* payload_fits(payload): false, and noted, for one that older versions let in: SQLite's functions
 * may take its depth for damage, and would end the whole question. */
static void payload_fits(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    const char *text = sqlite3_value_blob(values[0]);
    size_t size = (size_t)sqlite3_value_bytes(values[0]);
    bool fits = size <= JSON_DEPTH || json_depth(text, size) <= JSON_DEPTH;
    bool *passed_over = sqlite3_user_data(context);
    *passed_over = *passed_over || !fits;
    sqlite3_result_int(context, fits);
}

bool payload_attach(struct store *store, struct error *error) {
    return sqlite3_create_function_v2(store->db.handle, "payload_fits", 1, SQLITE_UTF8,
                                      &store->passed_over, payload_fits, NULL, NULL,
                                      NULL) == SQLITE_OK ||
           db_fail(&store->db, error);
}

#define PAYLOAD "CAST(j.payload AS TEXT), "

void payload_is(struct query *query, const char *path, const json_t *value) {
    static const char *const types[] = {
        [JSON_INTEGER] = ") IN ('integer', 'real')",
        [JSON_REAL] = ") IN ('integer', 'real')",
        [JSON_STRING] = ")='text'",
        [JSON_NULL] = ")='null'",
        [JSON_TRUE] = ")='true'",
        [JSON_FALSE] = ")='false'",
    };
    query_add(query, "(json_type(" PAYLOAD);
    query_bind_new(query, json_string(path));
    query_add(query, types[json_typeof(value)]);
    if (json_is_number(value) || json_is_string(value)) {
        query_add(query, " AND json_extract(" PAYLOAD);
        query_bind_new(query, json_string(path));
        query_add(query, ")=");
        query_bind(query, value);
    }
    query_add(query, ")");
}
