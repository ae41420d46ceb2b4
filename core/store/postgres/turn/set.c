/* set.c - what concerns many lanes or locks at once: a statement each, whatever their number.
 *
 * Rows are found one after the other by their index. A join would leave it to the planner which of
 * both sides it goes through, and it does not know how many there are. */
#include "store/postgres/db/array.h"
#include "store/postgres/turn/lock_page.h"
#include "store/rules/ground/row.h"
#include "store/rules/place/unique.h"
#include "store/rules/process/frame_page.h"
#include "store/rules/record/history.h"
#include <string.h>

/* The first parked job of each (stream, rank) of a lane is found behind the one before. */
#define PARKED "SELECT ctid AS spot, lane, stream, rank FROM parked WHERE "
#define FIRST " ORDER BY stream, rank, place, id LIMIT 1"
#define HEADS                                                                                      \
    "SELECT h.* FROM free CROSS JOIN LATERAL"                                                      \
    " (" PARKED "lane=free.id" FIRST ") AS h"                                                      \
    " UNION ALL SELECT h.* FROM head AS b CROSS JOIN LATERAL"                                      \
    " (" PARKED "lane=b.lane AND (stream, rank)>(b.stream, b.rank)" FIRST ") AS h"

#define SHOWN(free)                                                                                \
    "WITH RECURSIVE free AS (" free "), head AS (" HEADS ")"                                       \
    ", gone AS (DELETE FROM parked WHERE ctid=ANY(ARRAY(SELECT spot FROM head))"                   \
    " RETURNING stream, rank, place, id, lane)"                                                    \
    " INSERT INTO ready(stream, rank, place, id, lane) SELECT * FROM gone"                         \
    " ON CONFLICT DO NOTHING RETURNING stream, rank, place, id, lane"

#define ROWS(table)                                                                                \
    "SELECT " ROW_PLACE " FROM unnest(?) AS k(id) CROSS JOIN LATERAL"                              \
    " (SELECT * FROM " table " WHERE id=k.id OFFSET 0) AS j LEFT JOIN " LOCK_OF("j.id") " AS l"    \
                                                                                        " ON true"

/* What units ask (rules/ground/unit_ahead.h), each kind by its number in enum asked. */
#define ASK(what, question)                                                                        \
    " SELECT k.what, k.thing, k.part, a.* FROM k CROSS JOIN LATERAL"                               \
    " (" question " OFFSET 0) AS a WHERE k.what=" what
#define ASK_REV ASK("0", "SELECT rev AS value, CAST(0 AS BIGINT) FROM instance WHERE id=k.thing")
#define ASK_ALL_JOBS                                                                               \
    ASK("1 AND k.part=0", "SELECT j.id, CASE WHEN j.execution<0 THEN 0 ELSE " GOES(                \
                              "j") " END"                                                          \
                                   " FROM job AS j WHERE j.instance_id=k.thing LIMIT 100")
#define ASK_JOBS_OF                                                                                \
    ASK("1 AND k.part<>0",                                                                         \
        "SELECT j.id, " GOES("j") " FROM job AS j WHERE j.instance_id=k.thing"                     \
                                  " AND j.execution=k.part LIMIT 100") /* ASKED_JOBS */
#define ASK_TASK ASK("2", "SELECT id, 0 FROM user_task WHERE instance=k.thing AND token=k.part")
#define ASK_LOCK                                                                                   \
    ASK("3", "SELECT owner, 0 FROM locked WHERE id=k.thing AND token=k.part AND edited=0")
#define ASK_LANE                                                                                   \
    ASK("4", "SELECT 1, 0 FROM lane WHERE id=k.thing AND until=k.part"                             \
             " UNION ALL SELECT 1, 0 FROM lane WHERE id=(~k.thing)")
#define ASK_TURN                                                                                   \
    ASK("5", "SELECT t.rev, 0 FROM body_turn t WHERE t.id=k.thing"                                 \
             " AND (SELECT b.closed FROM body b WHERE b.id=t.body OFFSET 0)=0")
#define ASK_HELD ASK("6", "SELECT 1, 0 FROM lane WHERE id=k.thing AND token=k.part")
#define ASKED                                                                                      \
    "WITH k AS MATERIALIZED (SELECT unnest(?) AS what, unnest(?) AS thing, unnest(?) AS "          \
    "part)" ASK_REV " UNION ALL" ASK_ALL_JOBS " UNION ALL" ASK_JOBS_OF " UNION ALL" ASK_TASK       \
    " UNION ALL" ASK_LOCK " UNION ALL" ASK_LANE " UNION ALL" ASK_TURN " UNION ALL" ASK_HELD

/* Jobs go with all rows that may tell of them. */
#define FROM_PLACE(table, key)                                                                     \
    "(DELETE FROM " table " WHERE ctid=ANY(ARRAY(SELECT p.spot FROM j CROSS JOIN LATERAL"          \
    " (SELECT ctid AS spot FROM " table " WHERE " key " AND id=j.id OFFSET 0) AS p)))"
#define IN_RANK "stream=j.stream AND rank=(~j.priority) AND place=j.place"
#define CANCELLED                                                                                  \
    "WITH k AS MATERIALIZED (SELECT unnest(?) AS id, unnest(?) AS at, unnest(?) AS owner),"        \
    " j AS MATERIALIZED (SELECT j.id, j.stream, j.priority, j.place, j.due, j.lane"                \
    " FROM k CROSS JOIN LATERAL (SELECT * FROM job WHERE id=k.id OFFSET 0) AS j),"                 \
    " r AS " FROM_PLACE("ready", IN_RANK) ", p AS " FROM_PLACE(                                    \
        "parked",                                                                                  \
        "lane=j.lane AND " IN_RANK) ", t AS " FROM_PLACE("timer",                                  \
                                                         "due=j.due") ", g AS (DELETE FROM "       \
                                                                      "progress WHERE "            \
                                                                      "job=ANY(ARRAY(SELECT id "   \
                                                                      "FROM k))),"                 \
                                                                      " e AS (INSERT INTO "        \
                                                                      "ended(job, stream, "        \
                                                                      "outcome, executor, at, "    \
                                                                      "retries, attempt, "         \
                                                                      "created, due,"              \
                                                                      " priority, batch, " BELONGS \
                                                                      ") SELECT j.id, stream, 3, " \
                                                                      "k.owner, k.at,"             \
                                                                      " retries, attempt, "        \
                                                                      "created, due, priority, "   \
                                                                      "batch, " BELONGS_ROW        \
                                                                      " FROM k CROSS JOIN "        \
                                                                      "LATERAL (SELECT * FROM "    \
                                                                      "job WHERE id=k.id OFFSET "  \
                                                                      "0) AS j)"                   \
                                                                      " DELETE FROM job WHERE "    \
                                                                      "id=ANY(ARRAY(SELECT id "    \
                                                                      "FROM k))"

/* Frames one after the other, until those before have enough bytes. */
#define SEEN(frame)                                                                                \
    "SELECT id, version, rev, parent, frame, key, body, token FROM (SELECT f.*, k.most,"           \
    " sum(octet_length(f.frame)) OVER (ROWS UNBOUNDED PRECEDING)-octet_length(f.frame) AS before"  \
    " FROM (SELECT unnest(?) AS id, unnest(?) AS most) AS k CROSS JOIN LATERAL (" frame            \
    "=k.id OFFSET 0) AS f(id, version, rev, parent, frame, key, body, token)) AS s"                \
    " WHERE before<most"

static const struct {
    const char *sql;
    int columns;
    enum array_type type;
    bool counted; /* it must concern all of them */
} kinds[] = {
    [SET_LANES] = {"SELECT k.id, l.owner FROM unnest(?1) AS k(id) CROSS JOIN LATERAL"
                   " (SELECT owner FROM lane WHERE id=k.id OFFSET 0) AS l"
                   " UNION ALL SELECT k.id, NULL FROM unnest(?1) AS k(id) CROSS JOIN LATERAL"
                   " (SELECT 1 FROM parked WHERE lane=k.id LIMIT 1) AS p",
                   1, ARRAY_INT8},
    [SET_HOLD] = {"INSERT INTO lane(id, token, owner) SELECT * FROM unnest(?, ?, ?)", 3,
                  ARRAY_INT8},
    [SET_HOLD_FREE] = {"WITH k AS MATERIALIZED (SELECT unnest(?) AS id, unnest(?) AS token,"
                       " unnest(?) AS instance, unnest(?) AS until, unnest(?) AS now),"
                       " taken AS MATERIALIZED (SELECT pg_catalog.min(k.id) AS id FROM k"
                       " WHERE EXISTS(SELECT 1 FROM lane AS l WHERE l.id=k.id"
                       " AND (l.until IS NULL OR l.until>k.now))"
                       " OR EXISTS(SELECT 1 FROM lane AS b WHERE b.id=(~k.id)"
                       " AND CASE WHEN b.owner=0 THEN b.until>k.now ELSE b.id<0 END)),"
                       " held AS (INSERT INTO lane(id, token, owner, until) SELECT k.id, k.token,"
                       " 0, k.until FROM k, taken WHERE taken.id IS NULL OR k.id<taken.id"
                       " ON CONFLICT(id) DO UPDATE SET token=excluded.token, until=excluded.until)"
                       " SELECT k.id, (SELECT rev FROM instance WHERE id=k.instance)"
                       " FROM k, taken WHERE taken.id IS NULL OR k.id<taken.id ORDER BY 1",
                       5, ARRAY_INT8},
    [SET_EXPOSE] = {SHOWN("SELECT DISTINCT k.id FROM unnest(?) AS k(id)"
                          " WHERE (SELECT 1 FROM lane WHERE id=k.id OFFSET 0) IS NULL"),
                    1, ARRAY_INT8},
    [SET_UNCOUNT] = {"DELETE FROM limited WHERE ctid=ANY(ARRAY(SELECT l.ctid"
                     " FROM unnest(?, ?) AS k(definition, token) CROSS JOIN LATERAL"
                     " (SELECT ctid FROM limited WHERE definition=k.definition AND token=k.token"
                     " OFFSET 0) AS l))",
                     2, ARRAY_INT8},
    [SET_RELEASE] = {SHOWN("DELETE FROM lane WHERE ctid=ANY(ARRAY"
                           "(SELECT l.ctid FROM unnest(?, ?) AS k(id, token) CROSS JOIN LATERAL"
                           " (SELECT ctid FROM lane WHERE id=k.id AND token=k.token OFFSET 0) AS"
                           " l)) RETURNING id"),
                     2, ARRAY_INT8},
    [SET_ROWS] = {ROWS("live"), 1, ARRAY_INT8},
    [SET_ROWS_PLACELESS] = {ROWS("job"), 1, ARRAY_INT8},
    [SET_JOBS] = {"SELECT " ROW_COLUMNS " FROM unnest(?) AS k(id) CROSS JOIN LATERAL"
                  " (SELECT * FROM job WHERE id=k.id OFFSET 0) AS j",
                  1, ARRAY_INT8},
    [SET_PARK] = {"WITH gone AS (DELETE FROM ready WHERE ctid=ANY(?)"
                  " RETURNING lane, stream, rank, place, id)"
                  " INSERT INTO parked(lane, stream, rank, place, id) SELECT * FROM gone",
                  1, ARRAY_TID},
    [SET_PARKED] = {"SELECT " ROW_COLUMNS ", p.place, p.id, k.rank, p.spot"
                    " FROM unnest(?, ?, ?, ?) AS k(lane, stream, rank, quota) CROSS JOIN LATERAL"
                    " (SELECT id, place, ctid AS spot FROM parked WHERE lane=k.lane"
                    " AND stream=k.stream AND rank=k.rank ORDER BY place, id LIMIT k.quota) AS p"
                    " LEFT JOIN LATERAL (SELECT * FROM job WHERE id=p.id OFFSET 0) AS j ON true",
                    4, ARRAY_INT8},
    [SET_UNPARK] = {"DELETE FROM parked WHERE ctid=ANY(?)", 1, ARRAY_TID, true},
    [SET_FRAMES] = {"UPDATE instance SET rev=k.rev, frame=k.frame FROM (SELECT unnest(?) AS id,"
                    " unnest(?) AS rev, unnest(?) AS frame) AS k CROSS JOIN LATERAL"
                    " (SELECT ctid AS spot FROM instance WHERE id=k.id OFFSET 0) AS i"
                    " WHERE instance.ctid=i.spot",
                    2, ARRAY_INT8, true},
    [SET_TURNS] = {"UPDATE body_turn SET rev=k.rev, frame=k.frame FROM (SELECT unnest(?) AS id,"
                   " unnest(?) AS rev, unnest(?) AS frame) AS k CROSS JOIN LATERAL"
                   " (SELECT ctid AS spot FROM body_turn WHERE id=k.id OFFSET 0) AS i"
                   " WHERE body_turn.ctid=i.spot",
                   2, ARRAY_INT8, true},
    [SET_BODIES] = {"UPDATE body SET ended=body.ended+k.ended FROM (SELECT unnest(?) AS id,"
                    " unnest(?) AS ended) AS k CROSS JOIN LATERAL"
                    " (SELECT ctid AS spot FROM body WHERE id=k.id AND closed=0 OFFSET 0) AS i"
                    " WHERE body.ctid=i.spot RETURNING body.id,"
                    " CASE WHEN body.ended>=body.turns THEN 1 ELSE 0 END",
                    2, ARRAY_INT8},
    [SET_OUTBOX] = {"WITH gone AS (DELETE FROM outbox WHERE id=ANY(?) AND incident IS NULL"
                    " RETURNING id, place) SELECT id FROM gone ORDER BY place, id",
                    1, ARRAY_INT8},
    [SET_SEEN_FRAMES] = {SEEN(INSTANCE_FRAME), 2, ARRAY_INT8},
    [SET_SEEN_TURNS] = {SEEN(TURN_FRAME), 2, ARRAY_INT8},
    [SET_AHEAD] = {ASKED, 3, ARRAY_INT8},
    [SET_CANCELLED] = {CANCELLED, 3, ARRAY_INT8},
    [SET_FENCE] = {"DELETE FROM locked WHERE ctid=ANY(ARRAY(SELECT l.ctid"
                   " FROM unnest(?, ?, ?) AS k(id, token, owner) CROSS JOIN LATERAL"
                   " (SELECT ctid FROM locked WHERE id=k.id AND token=k.token AND owner=k.owner"
                   " AND edited=0 OFFSET 0) AS l)) RETURNING token",
                   3, ARRAY_INT8},
    [SET_WORKERS] = {"SELECT e.id, e.seen, k.name, e.topics FROM (SELECT unnest(?) AS name) AS k"
                     " CROSS JOIN LATERAL (SELECT * FROM executor WHERE kind=1 AND state<>0"
                     " AND name=k.name ORDER BY id LIMIT 1) AS e WHERE e.draining=0",
                     0, ARRAY_INT8},
    [SET_OUTSIDE] = {"SELECT l.id, l.token, l.owner, l.until, e.name"
                     " FROM unnest(?, ?) AS k(id, token) CROSS JOIN LATERAL"
                     " (SELECT * FROM locked WHERE id=k.id AND token=k.token OFFSET 0) AS l"
                     " CROSS JOIN LATERAL (SELECT name FROM executor WHERE id=l.owner AND kind=1"
                     " OFFSET 0) AS e",
                     2, ARRAY_INT8},
    [SET_HOLDERS] = {"SELECT k.at, " UNIQUE_HOLDER " FROM"
                     " (SELECT unnest(?) AS definition, unnest(?) AS at, unnest(?) AS key) AS k"
                     " CROSS JOIN LATERAL (SELECT job, until FROM unique_key"
                     " WHERE definition=k.definition AND key=k.key OFFSET 0) AS u"
                     " LEFT JOIN LATERAL (SELECT id FROM job WHERE id=u.job OFFSET 0) AS j ON true"
                     " LEFT JOIN " LOCK_OF(
                         "u.job") " AS l ON true LEFT JOIN LATERAL (SELECT id, released FROM intake"
                                  " WHERE u.job>reached AND u.job<=last LIMIT 1) AS i ON true",
                     2, ARRAY_INT8},
    [SET_CLAIM] = {"INSERT INTO unique_key(definition, job, until, key, tenant)"
                   " SELECT unnest(?), unnest(?), unnest(?), unnest(?), unnest(?)",
                   3, ARRAY_INT8},
};

_Static_assert(ENDED_CANCELLED == 3, "CANCELLED has its number");

static void fill(struct array *array, enum array_type type, const int64_t *list, size_t count) {
    array_begin(array, type);
    for (size_t i = 0; i < count; i++)
        if (list[i] == TIME_NONE)
            array_add_null(array);
        else
            array_add_int(array, list[i]);
    array_end(array);
}

static void fill_texts(struct array *array, const char *const *list, size_t count) {
    array_begin(array, ARRAY_TEXT);
    for (size_t i = 0; i < count; i++)
        if (list[i])
            array_add_bytes(array, list[i], strlen(list[i]));
        else
            array_add_null(array);
    array_end(array);
}

/* Binds the columns, and then the texts that there are. False: no memory. */
static bool bind(struct row *row, const struct set *set) {
    struct array array = {0};
    bool bound = true;
    int at = 0;
    for (; bound && at < kinds[set->kind].columns; at++) {
        fill(&array, kinds[set->kind].type, set->columns[at], set->count);
        bound = statement_bind_array(row, at, &array);
    }
    for (int i = 0; bound && i < 2 && set->texts[i]; i++) {
        fill_texts(&array, set->texts[i], set->count);
        bound = statement_bind_array(row, at + i, &array);
    }
    array_clear(&array);
    return bound;
}

static bool set_run(struct store *store, struct set *set, struct error *error) {
    struct row *row = db_query(&store->db, error, kinds[set->kind].sql, "");
    bool done = row && (bind(row, set) || db_no_memory(&store->db, error));
    if (!done || set->read)
        return done && set->read(set, store, row, error);
    if (set->later)
        return statement_send_ahead(*set->later = row, error);
    return kinds[set->kind].counted ? db_run_counted(&store->db, row, (int)set->count, error)
                                    : db_run_row(&store->db, row, error);
}

/* What was in no page, with whoever is to be told. */
struct fence {
    struct set rest; /* first */
    struct set *asked;
};

static bool fence_read(struct set *set, struct store *store, struct row *row, struct error *error) {
    struct set *asked = ((struct fence *)set)->asked;
    enum answer step = NO;
    while ((step = db_step(&store->db, row, error)) == YES)
        asked->found(asked, row_int(row, 0));
    return step == NO;
}

static bool set_fence(struct store *store, struct set *set, struct error *error) {
    struct fence fence = {.asked = set};
    bool done = lock_page_fence(store, set, &fence.rest, error);
    fence.rest.read = fence_read;
    done = done && (!fence.rest.count || set_run(store, &fence.rest, error));
    lock_page_rest_clear(&fence.rest);
    return done;
}

bool postgres_set(struct store *store, struct set *set, struct error *error) {
    return set->kind == SET_FENCE ? set_fence(store, set, error) : set_run(store, set, error);
}
