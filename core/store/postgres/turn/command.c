#include "store/postgres/turn/command.h"
#include "base/json.h"
#include "store/postgres/db/engine.h"
#include "store/postgres/turn/lock_page.h"
#include "store/postgres/turn/timeline.h"
#include "store/postgres/turn/transaction.h"
#include "store/rules/ask/processes.h"
#include "store/rules/ask/turns.h"
#include "store/rules/ground/unit_ahead.h"
#include "store/rules/place/places.h"
#include "store/rules/process/instance.h"
#include "store/rules/process/subscription.h"
#include "store/rules/process/unit_write.h"
#include "store/rules/record/frame.h"
#include <stdlib.h>
#include <string.h>

/* Numbers that are drawn at once, when fewer are left than a command is likely to need. */
enum { DRAWN = 64, DRAWN_LEAST = 16 };

/* clang-format off */

/* What a command builds on: two flags as work_ask has them, and what is read at the beginning of a
 * transaction but for its counters. */
#define FLAG(sql) "CASE WHEN EXISTS(" sql ") THEN '1' ELSE '0' END"
#define WORLD                                                                                      \
    "(" FLAG("SELECT 1 FROM incident WHERE ended IS NULL")                                         \
    " || " FLAG("SELECT 1 FROM kept_message")                                                      \
    " || ' ' || (SELECT version || ' ' || oldest FROM schema_version)"                             \
    " || ' ' || current_schema() || ' ' || " TIMELINE                                              \
    " || ' ' || (SELECT string_agg(key || '=' || value, ' ' ORDER BY key) FROM meta WHERE key IN"  \
    " ('catalog', 'cuts', 'ended', 'executors', 'fair_by', 'sweep_from', 'sweep_to', 'timeline',"  \
    " 'turn')))"
/* What waits for an instance, as unit_ahead_known reads it. */
#define WAITS(id)                                                                                  \
    "(SELECT string_agg(concat_ws(':', what, part, value, goes), ' ' ORDER BY what, part, value)"  \
    " FROM (SELECT 0 AS what, 0 AS part, rev AS value, 0 AS goes FROM instance WHERE id=" id       \
    " UNION ALL (SELECT 1, coalesce(j.execution, 0), j.id, " GOES("j") " FROM job AS j"            \
    " WHERE j.instance_id=" id " LIMIT 100)"                                                       \
    " UNION ALL (SELECT 2, token, id, 0 FROM user_task WHERE instance=" id " LIMIT 100)) AS w)"
/* The schema and the server are those that are known. */
#define KNOWN(version, schema)                                                                     \
    "EXISTS(SELECT 1 FROM schema_version WHERE version=" version ") AND current_schema()=" schema  \
    " AND EXISTS(SELECT 1 FROM meta WHERE key='timeline' AND value=" TIMELINE ")"

/* Answers with the token, NULL if the lane is taken, and the rev of the frame; with nothing where
 * the schema or the server is not the one that is known. */
static const char hold_sql[] =
    "WITH next AS (UPDATE meta SET value=value+1 WHERE key='next_token' AND " KNOWN("?5", "?6")
    " RETURNING value-1 AS token), held AS (" PLACE_HOLD("?1", "?2", "?3", "next", "token")
    ") SELECT (SELECT token FROM held), (SELECT rev FROM instance WHERE id=?4) FROM next";

/* ?1 to ?5 say what it is about. ?6 until, ?7 now. ?8 and ?9 the schema. ?10 and ?11: so many tokens
 * and ids are drawn. ?12: the lane is that of the root. */
#define REACH(about)                                                                               \
    "WITH about AS (" about "), here AS (SELECT a.execution, a.place, i.*,"                        \
    " (coalesce(CASE WHEN ?12<>0 THEN i.root END, i.id) | 4611686018427387904) AS lane"            \
    " FROM about a JOIN instance i ON i.id=a.instance),"                                           \
    " next AS (UPDATE meta SET value=value+?10 WHERE key='next_token' AND EXISTS(SELECT 1 FROM"    \
    " here) AND " KNOWN("?8", "?9") " RETURNING value-?10 AS token),"                              \
    " ids AS (UPDATE meta SET value=value+?11 WHERE key='next_id' AND ?11>0 AND EXISTS(SELECT 1"   \
    " FROM next) RETURNING value-?11 AS id),"                                                      \
    " held AS (" PLACE_HOLD("here.lane", "?6", "?7", "next CROSS JOIN here", "token") ")"          \
    " SELECT (SELECT token FROM held), next.token, (SELECT id FROM ids), i.id, i.lane,"            \
    " i.execution, i.place, " WORLD ", " WAITS("i.id") ", " FRAME_COLUMNS ", " TURN_COLUMNS        \
    " FROM here i JOIN process_version v ON v.id=i.version CROSS JOIN next LEFT JOIN body_turn t"  \
    " ON t.id=(-CAST(i.execution AS BIGINT))>>20"

static const char instance_sql[] =
    REACH("SELECT ?1 AS instance, ?2 AS execution, CAST(NULL AS TEXT) AS place");
static const char task_sql[] =
    REACH("SELECT instance, token AS execution, activity AS place FROM user_task WHERE id=?1");
static const char receiver_sql[] =
    REACH("SELECT max(r.instance) AS instance, max(r.token) AS execution, max(r.activity) AS place"
          " FROM (SELECT s.instance, s.token, s.activity" RECEIVING("") " LIMIT 2) AS r"
          " HAVING count(*)=1");
/* Of a command that begins an instance: ?1 to ?5 say which, ?6 to ?9 are ?8 to ?11 from above. */
#define START(activity, twin, from)                                                                \
    "WITH about AS (SELECT v.id, v.key, v.suspended<>0 OR p.suspended<>0 AS held, " activity       \
    " AS activity, " twin " AS twin" from "),"                                                     \
    " next AS (UPDATE meta SET value=value+?8 WHERE key='next_token' AND ?8>0 AND EXISTS(SELECT 1" \
    " FROM about) AND " KNOWN("?6", "?7") " RETURNING value-?8 AS token),"                         \
    " ids AS (UPDATE meta SET value=value+?9 WHERE key='next_id' AND ?9>0 AND EXISTS(SELECT 1"     \
    " FROM about) AND " KNOWN("?6", "?7") " RETURNING value-?9 AS id)"                             \
    " SELECT (SELECT token FROM next), (SELECT id FROM ids), a.id, a.held, " WORLD ", a.key,"      \
    " a.activity, a.twin FROM about a"

static const char start_sql[] =
    START("CAST(NULL AS TEXT)", "(" INSTANCE_TWIN("p.key", "?4", "?5") ")",
          " FROM process p JOIN process_version v ON v.id=CASE"
          " WHEN ?2<>0 THEN (SELECT id FROM process_version WHERE key=p.key AND number=?2)"
          " WHEN CAST(?3 AS TEXT) IS NOT NULL THEN (SELECT id FROM process_version"
          " WHERE key=p.key AND tag=?3 ORDER BY number DESC LIMIT 1) ELSE p.current END"
          " WHERE p.key=?1");
/* The only start event for a message; ?10: whatever waits for it. */
static const char starting_sql[] =
    START("r.activity", "CAST(NULL AS BIGINT)",
          " FROM (SELECT max(s.version) AS version, max(s.activity) AS activity"
          " FROM (SELECT s.version, s.activity" STARTING " LIMIT 2) AS s HAVING count(*)=1) AS r"
          " JOIN process_version v ON v.id=r.version JOIN process p ON p.key=v.key"
          " WHERE ?10<>0 OR NOT EXISTS(SELECT 1" RECEIVING("") ")");

/* Refuses the transaction if anything is another one by now: ?1 the world, ?2 the instance, ?3 what
 * waits. The text is no constant, or it would be read as the statement is planned. */
static const char check_sql[] =
    "SELECT CASE WHEN " WORLD "=?1 AND coalesce(" WAITS("?2") ", '')=?3 THEN 1 ELSE"
    " CAST('another change came first' || substr(CAST(clock_timestamp() AS TEXT), 1, 0) AS BIGINT)"
    " END";
/* The same if an instance that must be the only one is not. */
static const char alone_sql[] =
    "SELECT CASE WHEN NOT EXISTS("
    INSTANCE_TWIN("(SELECT key FROM process_version WHERE id=?3)", "?1", "?2") ") THEN 1 ELSE"
    " CAST('it is not alone' || substr(CAST(clock_timestamp() AS TEXT), 1, 0) AS BIGINT) END";

/* clang-format on */

/* ---- the lane of a command ---- */

/* Nothing is known of a schema before the first transaction. */
static bool may_ask(const struct store *store) {
    return store->schema.version && !postgres_of(store)->session.lost && !store->writing &&
           !store->looking;
}

/* One flight of one or two questions. NO: why it failed is for the transaction to say that comes
 * after it. */
static enum answer fly(struct store *store, struct row *const rows[2], bool gated,
                       struct error *error) {
    struct error reason = {0};
    if (postgres_flight(store, rows, gated, &reason))
        return YES;
    bool late = reason.code == ERROR_INTERRUPTED;
    return !late || postgres_late(store, postgres_of(store)->session.begun, error) ? NO : FAILED;
}

enum answer postgres_hold(struct store *store, struct lane_want *want, bool *known,
                          struct error *error) {
    *known = false;
    if (!may_ask(store))
        return NO;
    struct row *row =
        db_query(&store->db, error, hold_sql, "iiiiit", want->hold.lane, want->until, want->now,
                 want->instance, store->schema.version, postgres_of(store)->address.schema);
    enum answer step = row ? fly(store, (struct row *const[2]){row, NULL}, true, error) : FAILED;
    step = step == YES ? db_step(&store->db, row, error) : step;
    if (step != YES)
        return step;
    want->hold.token = row_int(row, 0);
    want->rev = want->hold.token ? row_int(row, 1) : 0;
    *known = true;
    row_done(row);
    return want->hold.token ? YES : NO;
}

/* ---- numbers that are drawn ahead ---- */

static struct command_ground *ground_of(const struct store *store) {
    return &postgres_of(store)->ground;
}

/* What was reached is built on once. */
static void leave_reached(struct command_ground *ground) {
    free(ground->reached);
    ground->reached = NULL;
    for (size_t i = 0; i < ground->waiting; i++)
        free(ground->waits[i].text);
    ground->waiting = 0;
}

static void forget(struct command_ground *ground) {
    leave_reached(ground);
    free(ground->world);
    *ground = (struct command_ground){0};
}

void command_clear(struct store *store) {
    forget(ground_of(store));
}

/* What was known on a connection that was lost says nothing of this one. */
static struct command_ground *ground_now(struct store *store) {
    struct command_ground *ground = ground_of(store);
    const unsigned generation = postgres_of(store)->session.generation;
    if (ground->generation != generation)
        forget(ground);
    ground->generation = generation;
    return ground;
}

static int64_t tokens_wanted(const struct command_ground *ground) {
    return ground->token_end - ground->token < DRAWN_LEAST ? DRAWN : 0;
}

static int64_t ids_wanted(const struct command_ground *ground) {
    return ground->id_end - ground->id < DRAWN_LEAST ? DRAWN : 0;
}

static void take_numbers(struct command_ground *ground, int64_t token, int64_t tokens, int64_t id,
                         int64_t ids) {
    if (token && tokens) {
        ground->token = token;
        ground->token_end = token + tokens;
    }
    if (id && ids) {
        ground->id = id;
        ground->id_end = id + ids;
    }
}

static bool take_text(char **into, const char *text) {
    free(*into);
    *into = text ? strdup(text) : NULL;
    return *into || !text;
}

/* One more instance is known beside those before if the server was the same. */
static bool take_beside(struct command_ground *ground, int64_t instance, const char *world,
                        const char *waits) {
    if (!ground->reached || strcmp(ground->reached, world) != 0 ||
        ground->waiting == LANES_AT_ONCE) {
        leave_reached(ground);
        return true;
    }
    struct instance_waits *one = &ground->waits[ground->waiting++];
    *one = (struct instance_waits){.instance = instance};
    return take_text(&one->text, waits);
}

/* `instance` 0: the command begins one. */
static bool take_ground(struct store *store, bool beside, int64_t instance, const char *world,
                        const char *waits, struct error *error) {
    struct command_ground *ground = ground_of(store);
    if (!beside)
        leave_reached(ground);
    bool done = (beside || take_text(&ground->reached, world)) &&
                (!instance || take_beside(ground, instance, world, waits));
    return done || db_no_memory(&store->db, error);
}

/* ---- the first request ---- */

/* The columns of REACH. */
enum { HELD, TOKEN, ID, INSTANCE, LANE, EXECUTION, PLACE, REACHED_WORLD, REACHED_WAITS, FRAME };
enum { TURN_REV = FRAME + 10, TURN_BODY = TURN_REV + 2 }; /* outside of the frame; or NULL */

/* Of one that begins an instance. */
static struct row *start_ask(struct store *store, const struct store_reach *reach, int64_t tokens,
                             int64_t ids, struct error *error) {
    const char *schema = postgres_of(store)->address.schema;
    const int64_t version = store->schema.version;
    if (reach->process)
        return db_query(&store->db, error, start_sql, "titttitii", reach->process, reach->number,
                        reach->tag, reach->unique, reach->tenant, version, schema, tokens, ids);
    return db_query(&store->db, error, starting_sql, "ttiititiii", reach->message,
                    reach->key ? reach->key : "", reach->receiver, reach->token,
                    reach->business_key, version, schema, tokens, ids, (int64_t)reach->starts);
}

static struct row *reach_ask(struct store *store, const struct store_reach *reach, int64_t tokens,
                             int64_t ids, struct error *error) {
    const char *schema = postgres_of(store)->address.schema;
    const int64_t version = store->schema.version, root = reach->by_root;
    if (reach->message)
        return db_query(&store->db, error, receiver_sql, "ttiitiiitiii", reach->message,
                        reach->key ? reach->key : "", reach->receiver, reach->token,
                        reach->business_key, reach->until, reach->now, version, schema, tokens + 1,
                        ids, root);
    return db_query(&store->db, error, reach->task ? task_sql : instance_sql, "iiiiiiiitiii",
                    reach->task ? reach->task : reach->instance, (int64_t)0, (int64_t)0, (int64_t)0,
                    (int64_t)0, reach->until, reach->now, version, schema, tokens + 1, ids, root);
}

/* Where the instance stands, with its turns that stand outside of the frame. */
static bool show_places(struct store *store, json_t *found, const json_t *frame,
                        struct error *error) {
    bool own = false;
    const char *text = json_text(frame, "frame");
    if (!frame_show(found, text, error))
        return false;
    if (!turns_may(text))
        return true;
    if (!look_begin(store, &own, error))
        return false;
    bool done = turns_show(store, json_object_get(found, "at"), json_int(found, "instance"), error);
    look_end(store, own);
    return done;
}

/* Without a place it is about the instance as a whole. */
static json_t *found_of(struct store *store, struct row *row, const json_t *frame,
                        struct error *error) {
    json_t *found =
        json_pack("{sI sI ss*}", "instance", (json_int_t)row_int(row, INSTANCE), "token",
                  (json_int_t)row_int(row, EXECUTION), "activity", row_text(row, PLACE));
    return json_kept(found, row_text(row, PLACE) || show_places(store, found, frame, error));
}

/* That of the instance, or of its turn outside of it; null: that has ended. */
static json_t *frame_of(struct row *row) {
    const int64_t turn = turn_of_token(row_int(row, EXECUTION));
    json_t *frame = frame_read(row, FRAME, row_int(row, INSTANCE));
    if (!turn || !frame)
        return frame;
    if (!row_null(row, TURN_BODY))
        return json_kept(frame, turn_frame_put(frame, turn, row, TURN_REV));
    json_decref(frame);
    return json_null();
}

static bool read_instance(struct store *store, struct row *row, struct store_reach *reach,
                          struct error *error) {
    reach->hold = (struct lane_hold){row_int(row, LANE), row_int(row, HELD)};
    reach->frame = frame_of(row);
    reach->found = reach->frame ? found_of(store, row, reach->frame, error) : NULL;
    return take_ground(store, reach->beside, row_int(row, INSTANCE), row_text(row, REACHED_WORLD),
                       row_text(row, REACHED_WAITS), error) &&
           reach->found;
}

static bool read_version(struct store *store, struct row *row, struct store_reach *reach,
                         struct error *error) {
    const json_int_t id = row_int(row, 2);
    reach->found =
        json_pack("{sI sI ss sb ss* so*}", "id", id, "version", id, "key", row_text(row, 5),
                  "suspended", (int)row_int(row, 3), "activity", row_text(row, 6), "twin",
                  row_null(row, 7) ? NULL : json_integer((json_int_t)row_int(row, 7)));
    return take_ground(store, reach->beside, 0, row_text(row, 4), NULL, error) && reach->found;
}

/* The first token is that of the lane. */
static bool reach_read(struct store *store, struct row *row, struct store_reach *reach, bool begins,
                       int64_t tokens, int64_t ids, struct error *error) {
    struct command_ground *ground = ground_of(store);
    if (begins) {
        take_numbers(ground, row_int(row, 0), tokens, row_int(row, 1), ids);
        return read_version(store, row, reach, error);
    }
    take_numbers(ground, row_int(row, TOKEN) + 1, tokens, row_int(row, ID), ids);
    return read_instance(store, row, reach, error);
}

/* The answer of one question; NO: it has none. */
static enum answer reach_answer(struct store *store, struct row *row, struct store_reach *reach,
                                bool begins, int64_t tokens, int64_t ids, struct error *error) {
    enum answer step = row ? db_step(&store->db, row, error) : NO;
    if (step != YES)
        return step;
    bool done = reach_read(store, row, reach, begins, tokens, ids, error);
    row_done(row);
    return done || db_no_memory(&store->db, error) ? YES : FAILED;
}

/* A message for which nothing waits may begin an instance: both are asked at once. */
enum answer postgres_reach(struct store *store, struct store_reach *reach, struct error *error) {
    if (!may_ask(store))
        return NO;
    const bool begins = reach->process || reach->starts, either = !begins && reach->may_start;
    struct command_ground *ground = ground_now(store);
    const int64_t tokens = tokens_wanted(ground), ids = ids_wanted(ground);
    struct row *of = begins ? NULL : reach_ask(store, reach, tokens, ids, error);
    struct row *start = begins || either ? start_ask(store, reach, tokens, ids, error) : NULL;
    if ((!begins && !of) || ((begins || either) && !start))
        return FAILED;
    struct row *const rows[] = {of ? of : start, of ? start : NULL};
    enum answer found = fly(store, rows, !begins || tokens || ids, error);
    if (found != YES)
        return found;
    found = reach_answer(store, of, reach, false, tokens, ids, error);
    if (found == NO)
        return reach_answer(store, start, reach, true, tokens, ids, error);
    if (start)
        row_done(start);
    return found;
}

/* ---- the second request ---- */

struct row *command_ask(struct store *store, struct error *error) {
    struct row *row = db_query(&store->db, error, "SELECT " WORLD, "");
    return row && statement_send_ahead(row, error) ? row : NULL;
}

bool command_answer(struct store *store, struct row *row, struct error *error) {
    struct command_ground *ground = ground_now(store);
    enum answer step = db_step(&store->db, row, error);
    if (ground->meta.timeline != store->meta.timeline) /* numbers of the server before */
        ground->token = ground->token_end = ground->id = ground->id_end = 0;
    ground->meta = store->meta;
    bool done = step == YES &&
                (take_text(&ground->world, row_text(row, 0)) || db_no_memory(&store->db, error));
    if (step == YES)
        row_done(row);
    return done || step == NO;
}

/* But for the counters, of which numbers were drawn. */
static bool same_meta(const struct meta *left, const struct meta *right) {
    struct meta a = *left, b = *right;
    a.next_id = b.next_id = a.next_token = b.next_token = 0;
    return memcmp(&a, &b, sizeof a) == 0;
}

/* What is in memory is what the server has said as the command was read. */
static bool is_known(struct store *store, const struct command_ground *ground) {
    const struct postgres *postgres = postgres_of(store);
    const struct timeline *timeline = &postgres->timeline;
    return ground->reached && ground->world && strcmp(ground->reached, ground->world) == 0 &&
           !postgres->session.lost && same_meta(&ground->meta, &store->meta) &&
           store->catalog.version == store->meta.catalog &&
           store->peers.version == store->meta.executors && timeline->known == timeline->server &&
           timeline->generation == ground->generation && !timeline->lost && !timeline->late &&
           ground->token < ground->token_end && ground->id < ground->id_end;
}

static void take_meta(struct store *store, struct command_ground *ground) {
    store->meta.next_token = ground->token;
    store->meta.next_id = ground->id;
    store->stored = store->meta;
    store->incidents = ground->world[0] == '1';
    store->kept = ground->world[1] == '1';
    store->lines = -1;
    store->timer = TIME_NONE;
    store->parked.looked = postgres_of(store)->shares = false;
    ground->open = true;
    ground->short_of = false;
}

/* It may write locks of jobs, which are not in pages then. */
static bool minds_locks(const struct store *store, const struct outcome *outcome) {
    bool minds = outcome->effects || !unit_is_plain(store, outcome->unit, 0);
    for (const struct job_spec *spec = outcome->created; !minds && spec; spec = spec->next)
        minds = spec->on_conflict == ON_CONFLICT_REPLACE;
    return minds;
}

/* Without waiting for an answer: one that is not alone is found by the transaction that comes after
 * this one, which says so. */
static bool check_alone(struct store *store, struct unit *unit, struct error *error) {
    bool done = true;
    for (size_t i = 0; done && i < unit->instance_count; i++) {
        const struct unit_instance *one = &unit->instances[i];
        done = !one->unique ||
               db_run(&store->db, error, alone_sql, "tti", one->key, one->tenant, one->version);
    }
    unit->alone = done;
    return done;
}

/* The first check is of the server alone where the command begins an instance. */
static bool check_ground(struct store *store, struct error *error) {
    const struct command_ground *ground = ground_of(store);
    const size_t count = ground->waiting ? ground->waiting : 1;
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        const struct instance_waits none = {0};
        const struct instance_waits *one = ground->waiting ? &ground->waits[i] : &none;
        done = db_run(&store->db, error, check_sql, "tit", ground->world, one->instance,
                      one->text ? one->text : "");
    }
    return done;
}

enum answer postgres_resume(struct store *store, const struct outcome *outcome,
                            struct error *error) {
    struct command_ground *ground = ground_now(store);
    bool known =
        is_known(store, ground) && unit_ahead_known(store, outcome, ground->waits, ground->waiting);
    if (!known || !transaction_may_begin(store, error)) {
        leave_reached(ground);
        return NO;
    }
    postgres_of(store)->session.state[0] = 0;
    bool begun = postgres_begin_unasked(store, error);
    if (begun)
        take_meta(store, ground);
    begun = begun && check_ground(store, error) && check_alone(store, outcome->unit, error) &&
            (!minds_locks(store, outcome) || lock_page_none(store, error));
    leave_reached(ground);
    if (!begun)
        store_rollback(store);
    return begun ? YES : NO;
}

/* It was refused, or waited too long for the gate. */
bool postgres_vain(const struct store *store) {
    const char *state = postgres_of(store)->session.state;
    return ground_of(store)->short_of || strcmp(state, "22P02") == 0 || strcmp(state, "57014") == 0;
}

bool command_counts(struct store *store, struct error *error) {
    struct command_ground *ground = ground_of(store);
    if (!ground->open)
        return true;
    ground->short_of =
        store->meta.next_token > ground->token_end || store->meta.next_id > ground->id_end;
    store->stored.next_token = store->meta.next_token;
    store->stored.next_id = store->meta.next_id;
    return !ground->short_of ||
           error_set(error, ERROR_FAILED, "store \"%s\": more numbers were given than drawn",
                     store->db.name);
}

void command_over(struct store *store, bool committed) {
    struct command_ground *ground = ground_of(store);
    if (ground->open && committed) {
        ground->token = store->meta.next_token;
        ground->id = store->meta.next_id;
    }
    ground->open = false;
}
