#include "store/rules/fleet/remote.h"
#include "base/json.h"
#include "store/rules/create/occurrence.h"
#include "store/rules/place/places.h"
#include "store/rules/record/metric.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TIDIED_MAX = 16,        /* rows that one fetch looks at */
    REMOTE_GONE_KEPT = 1000 /* rows of workers that are gone: names for the history */
};

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

/* Those that hold nothing, of the next that have not fetched for long; *looked: at how many. */
static bool rows_old(struct store *store, time_ms now, int64_t *ids, int *count, int *looked,
                     struct error *error) {
    struct tidied *tidied = &store->tidied;
    struct row *row = db_query(&store->db, error,
                               "SELECT seen, id, id IN (SELECT owner FROM locks) FROM executor"
                               " WHERE kind=1 AND state=?1 AND (seen, id)>(?2, ?3) AND seen<?4"
                               " ORDER BY seen, id LIMIT ?5",
                               "niiin", (int)EXECUTOR_LIVE, tidied->seen, tidied->id,
                               now - REMOTE_KEPT, TIDIED_MAX);
    enum answer step = NO;
    for (*looked = *count = 0; (step = db_step(&store->db, row, error)) == YES; ++*looked) {
        tidied->seen = row_int(row, 0);
        tidied->id = row_int(row, 1);
        if (!row_int(row, 2))
            ids[(*count)++] = tidied->id;
    }
    return step == NO;
}

/* Those that are gone longest: state, how many stay, and how many go at most. */
#define FORGOTTEN                                                                                  \
    "(SELECT id FROM executor WHERE kind=1 AND state=?1 AND (seen, id)<(SELECT seen, id"           \
    " FROM executor WHERE kind=1 AND state=?1 ORDER BY seen DESC, id DESC LIMIT 1 OFFSET ?2)"      \
    " ORDER BY seen, id LIMIT ?3)"

/* The history names executors by the others. */
static bool rows_forget(struct store *store, int most, struct error *error) {
    static const char *const statements[] = {METRIC_FOLD(FORGOTTEN), METRIC_FORGET(FORGOTTEN),
                                             "DELETE FROM executor WHERE id IN " FORGOTTEN};
    bool done = true;
    for (size_t i = 0; done && i < sizeof statements / sizeof *statements; i++)
        done = db_run(&store->db, error, statements[i], "nnn", (int)EXECUTOR_GONE,
                      REMOTE_GONE_KEPT - 1, most);
    return done;
}

/* A few at a time, as workers may be many; each row that is written lets more than one go. Behind
 * the last one it begins anew, a while later. */
static bool rows_tidy(struct store *store, time_ms now, struct error *error) {
    struct tidied *tidied = &store->tidied;
    int64_t ids[TIDIED_MAX];
    int count = 0, looked = 0;
    if (now < tidied->again)
        return true;
    if (!rows_old(store, now, ids, &count, &looked, error))
        return false;
    if (looked < TIDIED_MAX)
        *tidied = (struct tidied){.again = now + REMOTE_SEEN};
    for (int i = 0; i < count; i++)
        if (!row_gone(store, ids[i], error))
            return false;
    return count == 0 || rows_forget(store, count, error);
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

/* What is asked for all at once. */
struct workers {
    struct set set; /* first */
    struct fetch *const *list;
    char **topics; /* of each, as its row would say them */
    time_ms now;
};

static bool workers_read(struct set *set, struct store *store, struct row *row,
                         struct error *error) {
    const struct workers *workers = (struct workers *)set;
    enum answer step;
    while ((step = db_step(&store->db, row, error)) == YES) {
        const char *name = row_text(row, 2), *topics = row_text(row, 3);
        bool fresh = row_int(row, 1) + REMOTE_SEEN > workers->now && topics;
        for (size_t i = 0; fresh && i < set->count; i++)
            if (strcmp(workers->list[i]->worker, name) == 0 &&
                strcmp(workers->topics[i], topics) == 0)
                workers->list[i]->row = row_int(row, 0);
    }
    return step == NO;
}

static bool workers_ask(struct store *store, struct workers *workers, const char **names,
                        size_t count, struct error *error) {
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        names[i] = workers->list[i]->worker;
        workers->topics[i] = json_write(workers->list[i]->topics, NULL);
        done = workers->topics[i] || db_no_memory(&store->db, error);
    }
    workers->set =
        (struct set){.kind = SET_WORKERS, .texts = {names}, .count = count, .read = workers_read};
    return done && store->engine->set(store, &workers->set, error);
}

bool store_fetch_ahead(struct store *store, struct fetch *const *list, size_t count, time_ms now,
                       struct error *error) {
    if (!store->engine->sets || count < 2)
        return true;
    struct workers workers = {
        .list = list, .topics = calloc(count, sizeof *workers.topics), .now = now};
    const char **names = calloc(count, sizeof *names);
    bool done = (workers.topics && names) || db_no_memory(&store->db, error);
    done = done && workers_ask(store, &workers, names, count, error);
    for (size_t i = 0; workers.topics && i < count; i++)
        free(workers.topics[i]);
    free(workers.topics);
    free(names);
    return done;
}

static bool row_keep(struct store *store, const char *name, const char *topics, time_ms now,
                     struct self *self, struct error *error) {
    bool stale = false;
    enum answer found = row_find(store, name, topics, now, self, &stale, error);
    if (found != NO && !stale)
        return found == YES;
    if (!rows_tidy(store, now, error))
        return false;
    return found == NO
               ? row_insert(store, name, topics, now, &self->id, error)
               : db_run(&store->db, error, "UPDATE executor SET seen=?2, topics=?3 WHERE id=?1",
                        "iit", self->id, now, topics);
}

bool remote_join(struct store *store, const struct fetch *fetch, time_ms now, struct self *self,
                 struct error *error) {
    char *text = fetch->row ? NULL : json_write(fetch->topics, NULL);
    *self = (struct self){.id = fetch->row,
                          .lease = fetch->lock,
                          .lease_until = now + fetch->lock,
                          .now = now,
                          .remote = true};
    bool done = fetch->row || (text ? row_keep(store, fetch->worker, text, now, self, error)
                                    : db_no_memory(&store->db, error));
    snprintf(self->owner, sizeof self->owner, "%s/%lld", fetch->worker, (long long)self->id);
    free(text);
    return done;
}
