/* failing.c - an executor whose turns fail one after the other says so where it is looked for: in a
 * transaction of its own, which asks for nothing but its row. */
#include "base/json.h"
#include "store/rules/ground/transaction.h"
#include "store/store.h"
#include <stdlib.h>
#include <string.h>

/* The settings of the executor with what fails; NULL: no memory. */
static char *failing_settings(const char *text, const char *reason, time_ms since) {
    json_t *settings = text ? json_read(text, strlen(text), "executor", NULL) : json_object();
    bool fine = settings && json_put_text(settings, "failure", reason) &&
                json_put(settings, "failing", reason ? json_integer(since) : NULL);
    char *written = fine ? json_dumps(settings, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(settings);
    return written;
}

static bool failing_write(struct store *store, const char *reason, time_ms since,
                          struct error *error) {
    struct row *row = db_query(&store->db, error, "SELECT settings FROM executor WHERE id=?1", "i",
                               store->self.id);
    enum answer step = db_step(&store->db, row, error);
    char *text = step == YES ? failing_settings(row_text(row, 0), reason, since) : NULL;
    if (step != YES)
        return step == NO;
    row_done(row);
    bool done = text ? db_run(&store->db, error, "UPDATE executor SET settings=?2 WHERE id=?1",
                              "it", store->self.id, text)
                     : db_no_memory(&store->db, error);
    free(text);
    return done;
}

bool store_failing(struct store *store, const char *reason, time_ms since, struct error *error) {
    bool own = false;
    if (!store->self.id)
        return true;
    /* A turn would look at more as it begins. */
    return unit_begin(store, STORE_CREATION, &own, error) &&
           unit_end(store, own, failing_write(store, reason, since, error), error);
}
