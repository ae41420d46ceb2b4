#include "store/rules/fleet/remote.h"
#include "base/json.h"
#include "store/rules/create/occurrence.h"
#include "store/rules/place/places.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool row_insert(struct store *store, const char *name, const char *topics, time_ms now,
                       int64_t *id, struct error *error) {
    return db_value(&store->db, error, id,
                    "INSERT INTO executor(name, started, lease, seen, aware, state, kind, topics)"
                    " VALUES(?1, ?2, ?3, ?2, 0, ?4, 1, ?5) RETURNING id",
                    "tiint", name, now, TIME_NEVER, (int)EXECUTOR_LIVE, topics) == YES;
}

/* What an executor leaves: runs whose locks were taken away count no more. */
static bool row_gone(struct store *store, int64_t id, struct error *error) {
    return place_uncount_owner(store, id, error) && occurrence_forget(store, id, error) &&
           db_run(&store->db, error, "UPDATE executor SET state=?2 WHERE id=?1", "in", id,
                  (int)EXECUTOR_GONE);
}

/* One that has not fetched for long; NO: there is none. */
static enum answer row_old(struct store *store, time_ms now, int64_t *id, struct error *error) {
    return db_value(&store->db, error, id,
                    "SELECT id FROM executor WHERE kind=1 AND state<>0 AND seen<?1 AND NOT EXISTS"
                    "(SELECT 1 FROM locks l WHERE l.owner=executor.id) LIMIT 1",
                    "i", now - REMOTE_KEPT);
}

static bool rows_tidy(struct store *store, time_ms now, struct error *error) {
    int64_t id = 0;
    enum answer found;
    while ((found = row_old(store, now, &id, error)) == YES)
        if (!row_gone(store, id, error))
            return false;
    return found == NO;
}

/* YES: its row is there, and says these topics and that it was seen of late. */
static enum answer row_find(struct store *store, const char *name, const char *topics, time_ms now,
                            struct self *self, bool *stale, struct error *error) {
    struct row *row = db_query(&store->db, error,
                               "SELECT id, seen, draining, topics FROM executor"
                               " WHERE kind=1 AND state<>0 AND name=?1 ORDER BY id LIMIT 1",
                               "t", name);
    enum answer found = db_step(&store->db, row, error);
    if (found != YES)
        return found;
    const char *before = row_text(row, 3);
    self->id = row_int(row, 0);
    self->draining = row_int(row, 2) != 0;
    *stale = row_int(row, 1) + REMOTE_SEEN <= now || !before || strcmp(before, topics) != 0;
    row_done(row);
    return YES;
}

static bool row_keep(struct store *store, const char *name, const char *topics, time_ms now,
                     struct self *self, struct error *error) {
    bool stale = false;
    enum answer found = row_find(store, name, topics, now, self, &stale, error);
    if (found == NO)
        return rows_tidy(store, now, error) &&
               row_insert(store, name, topics, now, &self->id, error);
    return found == YES && (!stale || db_run(&store->db, error,
                                             "UPDATE executor SET seen=?2, topics=?3 WHERE id=?1",
                                             "iit", self->id, now, topics));
}

bool remote_join(struct store *store, const char *name, const json_t *topics, time_ms lock,
                 time_ms now, struct self *self, struct error *error) {
    char *text = json_write(topics, NULL);
    *self = (struct self){.lease = lock, .lease_until = now + lock, .now = now, .remote = true};
    bool done =
        text ? row_keep(store, name, text, now, self, error) : db_no_memory(&store->db, error);
    snprintf(self->owner, sizeof self->owner, "%s/%lld", name, (long long)self->id);
    free(text);
    return done;
}
