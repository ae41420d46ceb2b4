#include "store/request.h"
#include "base/crash_point.h"
#include "base/json.h"
#include "store/rules/ground/state.h"
#include <stdlib.h>
#include <string.h>

enum { PURGED = 100 };

static bool used(const struct store_request *request, struct error *error) {
    return error_set(error, ERROR_CONFLICT,
                     "request \"%s\": the key was used for something else (expected the same"
                     " content, or another key)",
                     request->key);
}

static enum answer request_look_up(struct store *store, const struct store_request *request,
                                   json_t **answer, time_ms now, struct error *error) {
    struct row *row =
        db_query(&store->db, error,
                 "SELECT hash, answer FROM request WHERE scope=?1 AND key=?2 AND until>?3", "iti",
                 request->scope, request->key, now);
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step;
    bool same = strcmp(row_text(row, 0), request->hash) == 0;
    const char *text = row_text(row, 1);
    *answer = same ? json_read(text, strlen(text), "answer", error) : NULL;
    row_done(row);
    if (!same)
        used(request, error);
    return *answer ? YES : FAILED;
}

enum answer store_request_find(struct store *store, const struct store_request *request,
                               json_t **answer, time_ms now, struct error *error) {
    bool own = false;
    if (!look_begin(store, &own, error))
        return FAILED;
    enum answer found = request_look_up(store, request, answer, now, error);
    look_end(store, own);
    return found;
}

bool store_requests_purge(struct store *store, time_ms now, struct error *error) {
    return db_run(&store->db, error,
                  "DELETE FROM request WHERE (scope, key) IN"
                  " (SELECT scope, key FROM request WHERE until<=?1 ORDER BY until LIMIT ?2)",
                  "in", now, (int)PURGED);
}

bool store_request_keep(struct store *store, const struct store_request *request,
                        const json_t *answer, time_ms now, struct error *error) {
    char *text = json_write(answer, NULL);
    bool done = text ? db_run(&store->db, error,
                              "INSERT INTO request(scope, key, hash, answer, until)"
                              " VALUES(?1, ?2, ?3, ?4, ?5)"
                              " ON CONFLICT(scope, key) DO UPDATE SET hash=excluded.hash,"
                              " answer=excluded.answer, until=excluded.until",
                              "ittti", request->scope, request->key, request->hash, text,
                              now + store->rules->request_ttl) &&
                           CRASH_POINT("request_kept")
                     : error_no_memory(error);
    free(text);
    return done;
}
