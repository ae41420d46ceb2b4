#include "store/rules/process/turn.h"
#include "base/crash_point.h"
#include "base/json.h"
#include "store/rules/ground/bulk_rows.h"
#include "store/rules/ground/defined.h"
#include "store/rules/ground/engine.h"
#include "store/rules/ground/frames.h"
#include "store/rules/ground/unit_ahead.h"
#include "store/rules/process/lane.h"
#include "store/rules/process/large_value.h"
#include "store/rules/process/order.h"
#include "store/rules/process/signal_ahead.h"
#include "store/rules/process/subscription.h"
#include "store/rules/process/user_task.h"
#include "store/rules/process/waiting.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURN_ENDS "DELETE FROM body_turn WHERE id=?1"

/* ---- turns ---- */

enum answer body_turn_rev(struct store *store, int64_t id, int64_t *rev, struct error *error) {
    const struct frame_change *change = frame_find(store, id);
    const struct asked_entry *ahead = unit_ahead_find(store, ASKED_TURN, id, 0);
    enum answer found = YES;
    if (ahead && !change)
        *rev = ahead->value;
    if (ahead && !change)
        return ahead->count ? YES : NO;
    if (!change || store->bodies.closed)
        found = db_value(
            &store->db, error, rev,
            "SELECT t.rev FROM body_turn t WHERE t.id=?1 AND " OPEN_BODY("closed") "=0", "i", id);
    if (change)
        *rev = change->rev;
    return found;
}

bool body_turn_write(struct store *store, const struct unit_turn *one, int64_t rev,
                     struct error *error) {
    unit_ahead_forget(store, ASKED_TURN, one->id);
    if (!one->frame)
        return frame_drop(store, one->id) &&
               unit_row(store, error, ROWS_TURN_ENDS, TURN_ENDS, "i", one->id);
    if (one->rev)
        return frame_keep(store, one->id, rev, one->frame, true, error);
    return unit_row(store, error, ROWS_TURN,
                    "INSERT INTO body_turn(id, body, rev, frame) VALUES(?1, ?2, ?3, ?4)", "iiit",
                    one->id, one->body, rev, one->frame);
}

/* ---- counts ---- */

static struct body_count *count_find(struct store *store, int64_t id) {
    struct bodies *bodies = &store->bodies;
    for (size_t i = 0; i < bodies->count; i++)
        if (bodies->list[i].id == id)
            return &bodies->list[i];
    return NULL;
}

static bool count_add(struct store *store, const struct unit_body *one, struct error *error) {
    struct bodies *bodies = &store->bodies;
    struct body_count *count = count_find(store, one->id);
    if (!one->ended)
        return true;
    if (!count && bodies->count == BODIES_KEPT && !bodies_hook.flush(store, error))
        return false;
    if (!count) {
        count = &bodies->list[bodies->count++];
        *count = (struct body_count){.id = one->id};
    }
    count->ended += one->ended;
    return true;
}

enum answer body_guard(struct store *store, const struct unit_body *one, struct error *error) {
    const struct body_count *count = count_find(store, one->id);
    int64_t ended = 0;
    if (!one->seen || one->turns)
        return YES;
    enum answer found = db_value(&store->db, error, &ended,
                                 "SELECT ended FROM body WHERE id=?1 AND closed=0", "i", one->id);
    if (found != YES)
        return found;
    return ended + (count ? count->ended : 0) == one->seen - 1 ? YES : NO;
}

/* ---- the end of the last turn ---- */

/* What the job that leaves a body is of. */
struct leaver {
    int64_t instance, token, lane;
    char activity[JOB_NAME_MAX + 32], handler[2 * JOB_NAME_MAX + 64];
};

static enum answer leaver_read(struct store *store, int64_t body, struct leaver *leaver,
                               struct error *error) {
    char key[256];
    enum answer step = db_read(&store->db, error,
                               "SELECT b.instance, b.token, b.activity, v.key FROM body b"
                               " JOIN process_version v ON v.id=b.version WHERE b.id=?1",
                               "iitt<i", &leaver->instance, &leaver->token, leaver->activity,
                               sizeof leaver->activity, key, sizeof key, body);
    if (step != YES)
        return step;
    snprintf(leaver->handler, sizeof leaver->handler, "process/%s/%s", key, leaver->activity);
    leaver->activity[strcspn(leaver->activity, "#")] = '\0';
    return lane_of(store, leaver->instance, &leaver->lane, error);
}

static bool leave_order(struct store *store, int64_t body, struct error *error) {
    struct leaver leaver = {0};
    enum answer found = leaver_read(store, body, &leaver, error);
    if (found != YES)
        return found == NO;
    struct job_spec spec = {.job = {.handler = leaver.handler,
                                    .instance_id = leaver.instance,
                                    .execution = leaver.token,
                                    .activity = leaver.activity,
                                    .due = TIME_NONE,
                                    .exclusive = true,
                                    .lane_id = leaver.lane}};
    json_t *payload = json_object();
    bool done =
        defined_create(store, &spec, payload, store->bodies.now, error) && CRASH_POINT("body_full");
    json_decref(payload);
    return done;
}

/* The bodies whose turns have all ended with these counts. */
struct full {
    struct set set; /* first */
    int64_t ids[BODIES_KEPT];
    size_t count;
};

static bool full_read(struct set *set, struct store *store, struct row *row, struct error *error) {
    struct full *full = (struct full *)set;
    enum answer step = NO;
    while ((step = db_step(&store->db, row, error)) == YES)
        if (row_int(row, 1))
            full->ids[full->count++] = row_int(row, 0);
    return step == NO;
}

static bool counts_set(struct store *store, struct full *full, struct error *error) {
    int64_t ids[BODIES_KEPT], ended[BODIES_KEPT];
    full->set = (struct set){.kind = SET_BODIES,
                             .columns = {ids, ended},
                             .count = store->bodies.count,
                             .read = full_read};
    for (size_t i = 0; i < store->bodies.count; i++) {
        ids[i] = store->bodies.list[i].id;
        ended[i] = store->bodies.list[i].ended;
    }
    return store->engine->set(store, &full->set, error);
}

static bool counts_each(struct store *store, struct full *full, struct error *error) {
    bool done = true;
    for (size_t i = 0; done && i < store->bodies.count; i++) {
        const struct body_count *count = &store->bodies.list[i];
        done = full_read(&full->set, store,
                         db_query(&store->db, error,
                                  "UPDATE body SET ended=ended+?2 WHERE id=?1 AND closed=0"
                                  " RETURNING id, CASE WHEN ended>=turns THEN 1 ELSE 0 END",
                                  "ii", count->id, count->ended),
                         error);
    }
    return done;
}

static int count_order(const void *left, const void *right) {
    const struct body_count *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static bool bodies_flush(struct store *store, struct error *error) {
    struct full full = {0};
    struct bodies *bodies = &store->bodies;
    if (!bodies->count)
        return true;
    qsort(bodies->list, bodies->count, sizeof *bodies->list, count_order);
    bool done =
        store->engine->sets ? counts_set(store, &full, error) : counts_each(store, &full, error);
    bodies->count = 0;
    for (size_t i = 0; done && i < full.count; i++)
        done = leave_order(store, full.ids[i], error);
    return done;
}

static void bodies_forget(struct store *store) {
    store->bodies.count = 0;
    store->bodies.closed = false;
}

const struct txn_hook bodies_hook = {
    .flush = bodies_flush, .committed = bodies_forget, .drop = bodies_forget, .parts = true};

/* ---- the end of a body ---- */

/* Orders the job that walks and clears a page of the body. */
static bool clear_order(struct store *store, int64_t body, time_ms now, struct error *error) {
    char key[JOB_NAME_MAX + 1] = "";
    enum answer step = db_read(&store->db, error,
                               "SELECT v.key FROM body b JOIN process_version v ON v.id=b.version"
                               " WHERE b.id=?1",
                               "t<i", key, sizeof key, body);
    if (step != YES)
        return step == NO;
    struct store_order order = {
        .key = key, .cause = json_pack("{ss sI}", "kind", "clear", "body", (json_int_t)body)};
    bool done =
        order.cause ? order_create(store, &order, now, error) : db_no_memory(&store->db, error);
    json_decref((json_t *)(uintptr_t)order.cause);
    return done;
}

/* With no turn left its row goes, else its turns go behind. */
static bool body_clear_on(struct store *store, int64_t body, time_ms now, struct error *error) {
    int64_t one = 0;
    enum answer more = db_value(&store->db, error, &one,
                                "SELECT 1 FROM body_turn WHERE body=?1 LIMIT 1", "i", body);
    if (more == NO)
        return db_run(&store->db, error, "DELETE FROM body WHERE id=?1", "i", body);
    return more == YES && clear_order(store, body, now, error);
}

static bool body_close(struct store *store, int64_t body, time_ms now, struct error *error) {
    unit_ahead_forget_kind(store, ASKED_TURN);
    signals_ahead_forget_heard(store);
    store->bodies.closed = true;
    return db_run(&store->db, error, "UPDATE body SET closed=1 WHERE id=?1", "i", body) &&
           CRASH_POINT("body_closed") && body_clear_on(store, body, now, error);
}

/* What waits for the tokens of a turn. */
static bool waits_clear(struct store *store, int64_t instance, struct token_range tokens,
                        time_ms now, struct error *error) {
    return waiting_remove_range(store, instance, tokens, now, error) &&
           subscriptions_remove_range(store, instance, tokens, error) &&
           user_tasks_remove_range(store, instance, tokens, error);
}

/* How many of the turns follow each other. */
static size_t run_length(const int64_t *turns, size_t count) {
    size_t length = 1;
    while (length < count && turns[length] == turns[length - 1] + 1)
        length++;
    return length;
}

/* Those that follow each other have one range of tokens: what waits for them goes at once. */
static bool run_clear(struct store *store, int64_t instance, const int64_t *turns, size_t count,
                      time_ms now, struct error *error) {
    const struct token_range all = {turn_tokens(turns[count - 1]).first,
                                    turn_tokens(turns[0]).last};
    bool done = waits_clear(store, instance, all, now, error) &&
                large_values_remove_range(store, instance, all, error);
    for (size_t i = 0; done && i < count; i++)
        done = frame_drop(store, turns[i]) &&
               unit_row(store, error, ROWS_TURN_ENDS, TURN_ENDS, "i", turns[i]);
    return done;
}

static bool body_clear(struct store *store, const struct unit_body *one, time_ms now,
                       struct error *error) {
    int64_t all[TURNS_AT_ONCE], *turns = all + TURNS_AT_ONCE, instance = 0;
    size_t count = 0;
    struct row *rows = db_query(&store->db, error,
                                "SELECT t.id, b.instance FROM body_turn t JOIN body b"
                                " ON b.id=t.body WHERE t.body=?1 AND b.closed<>0 ORDER BY t.id"
                                " DESC LIMIT ?2",
                                "in", one->id, (int)TURNS_AT_ONCE);
    enum answer step = NO;
    while ((step = db_step(&store->db, rows, error)) == YES) {
        *--turns = row_int(rows, 0);
        count++;
        instance = row_int(rows, 1);
    }
    bool done = step == NO;
    for (size_t i = 0, length; done && i < count; i += length) {
        length = run_length(turns + i, count - i);
        done = run_clear(store, instance, turns + i, length, now, error);
    }
    return done && CRASH_POINT("body_cleared") && body_clear_on(store, one->id, now, error);
}

static bool body_insert(struct store *store, const struct unit_body *one, struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO body(id, instance, token, version, activity, turns, ended)"
                  " VALUES(?1, ?2, ?3, ?4, ?5, ?6, 0)",
                  "iiiiti", one->id, one->instance, one->token, one->version, one->activity,
                  one->turns);
}

static bool body_migrate(struct store *store, const struct unit_body *one, struct error *error) {
    return db_run(&store->db, error,
                  "UPDATE body SET token=?2, version=?3, activity=?4 WHERE id=?1", "iiit", one->id,
                  one->token, one->version, one->activity);
}

bool body_write(struct store *store, const struct unit_body *one, time_ms now,
                struct error *error) {
    store->bodies.now = now;
    if (one->migrates && !body_migrate(store, one, error))
        return false;
    if (one->clear)
        return body_clear(store, one, now, error);
    if (one->turns && !body_insert(store, one, error))
        return false;
    return one->closed ? body_close(store, one->id, now, error) : count_add(store, one, error);
}
