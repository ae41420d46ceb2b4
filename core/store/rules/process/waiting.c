#include "store/rules/process/waiting.h"
#include "store/rules/command/commands.h"

#define LIVING "SELECT id FROM live WHERE instance_id=?1 AND id<>?2 AND id>?3"

/* The next ids behind `after`, at most COMMAND_IDS. */
static bool waiting_ids(struct store *store, int64_t instance, int64_t token, int64_t running,
                        int64_t after, struct ids *ids, int64_t *list, struct error *error) {
    struct row *rows =
        token ? db_query(&store->db, error, LIVING " AND execution=?4 ORDER BY id LIMIT ?5",
                         "iiiin", instance, running, after, token, COMMAND_IDS)
              : db_query(&store->db, error, LIVING " ORDER BY id LIMIT ?4", "iiin", instance,
                         running, after, COMMAND_IDS);
    enum answer step = NO;
    *ids = (struct ids){list, 0};
    while ((step = db_step(&store->db, rows, error)) == YES)
        list[ids->count++] = row_int(rows, 0);
    return step == NO;
}

bool waiting_remove(struct store *store, int64_t instance, int64_t token, int64_t running,
                    time_ms now, struct error *error) {
    int64_t list[COMMAND_IDS], after = 0;
    struct ids ids = {list, 0};
    do {
        if (!waiting_ids(store, instance, token, running, after, &ids, list, error))
            return false;
        if (ids.count && !commands_cancel(store, ids, now, error))
            return false;
        after = ids.count ? list[ids.count - 1] : after;
    } while (ids.count == COMMAND_IDS);
    return true;
}
