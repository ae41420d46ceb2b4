#include "store/rules/ask/job_counts.h"
#include "base/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW_MAX 10000 /* dead and suspended jobs, and incidents, are counted no further */
#define DUE_MAX 50000 /* … and what has no counter of its own as long as there are fewer */

/* The states are those of a list of jobs (JOBS_STATE in job/question.h). A job whose date has come
 * is ready, also before an executor has promoted it. A job behind a running lane waits, also before
 * it is parked. Both must be looked for, and are so among DUE_MAX jobs: of a longer queue those
 * that nobody has met yet count where they stand. */

#define TEXT_OF(number) #number
#define AT_MOST(number) " LIMIT " TEXT_OF(number)
#define UNLOCKED " AND id NOT IN (SELECT id FROM locks)"
#define BEHIND_LANE "lane IN (SELECT id FROM lane)"

/* A row for each job that is looked for: its stream, and 1 if its lane runs. */
static const struct {
    const char *sql;
    int64_t most;                   /* rows that are looked at; 0: all */
    const char *from, *to, *behind; /* it counts no more in `from`, but in one of the others */
} looks[] = {
    {"SELECT stream, CASE WHEN " BEHIND_LANE
     " THEN 1 ELSE 0 END FROM timer WHERE due<=?1" AT_MOST(DUE_MAX),
     DUE_MAX, "scheduled", "ready", "waiting"},
    {"SELECT stream, 1 FROM ready WHERE " BEHIND_LANE " AND CAST(?1 AS BIGINT) IS NOT NULL", 0,
     "ready", NULL, "waiting"},
    {"SELECT stream, 0 FROM locks WHERE CAST(?1 AS BIGINT) IS NOT NULL", 0, NULL, "locked", NULL},
    {"SELECT stream, 0 FROM job WHERE suspended<>0 AND retries>0 AND CAST(?1 AS BIGINT) IS NOT"
     " NULL" UNLOCKED AT_MOST(FEW_MAX),
     FEW_MAX, NULL, "suspended", NULL},
    {"SELECT stream, 0 FROM job WHERE retries=0 AND CAST(?1 AS BIGINT) IS NOT NULL" UNLOCKED
         AT_MOST(FEW_MAX),
     FEW_MAX, NULL, "dead", NULL}};
enum { LOOK_TIMER, LOOK_READY, LOOKS = sizeof looks / sizeof *looks };

static const char *const states[] = {"ready",   "scheduled", "locked",
                                     "waiting", "suspended", "dead"};
#define STATES 6

json_t *job_counts_zero(void) {
    json_t *counts = json_object();
    for (int i = 0; counts && i < STATES; i++)
        json_put(counts, states[i], json_integer(0));
    return counts;
}

static void counts_add(json_t *counts, const char *state, int64_t count) {
    int64_t sum = json_integer_value(json_object_get(counts, state)) + count;
    if (count)
        json_put(counts, state, json_integer(sum));
}

/* { definition id as text = counts }, and the sum of all. */
struct places {
    json_t *by_definition, *total;
    time_ms now;
    bool rough; /* some of it was not looked at: see above */
};

/* A stream that nobody knows counts in the sum only. */
static void places_add(struct places *places, const struct catalog_stream *stream,
                       const char *state, int64_t count) {
    char key[32];
    if (!state)
        return;
    counts_add(places->total, state, count);
    if (!stream)
        return;
    snprintf(key, sizeof key, "%lld", (long long)stream->definition->id);
    if (!json_object_get(places->by_definition, key))
        json_put(places->by_definition, key, job_counts_zero());
    counts_add(json_object_get(places->by_definition, key), state, count);
}

/* What is counted as it moves. */
static bool places_read(struct places *places, struct store *store, struct error *error) {
    struct row *rows = db_query(&store->db, error,
                                "SELECT stream, CAST(sum(ready) AS BIGINT),"
                                " CAST(sum(timer) AS BIGINT), CAST(sum(parked) AS BIGINT)"
                                " FROM occupancy GROUP BY stream",
                                "");
    enum answer step = rows ? YES : FAILED;
    while (step == YES && (step = db_step(&store->db, rows, error)) == YES) {
        const struct catalog_stream *stream = catalog_stream(&store->catalog, row_int(rows, 0));
        places_add(places, stream, "ready", row_int(rows, 1));
        places_add(places, stream, "scheduled", row_int(rows, 2));
        places_add(places, stream, "waiting", row_int(rows, 3));
    }
    return step == NO;
}

/* Of a stream, or of all that nobody knows: what a look has found, and so many behind lanes. */
struct looked {
    int64_t all, behind;
};

static void places_move(struct places *places, const struct catalog_stream *stream, int look,
                        const struct looked *found) {
    places_add(places, stream, looks[look].from, -found->all);
    places_add(places, stream, looks[look].to, found->all - found->behind);
    places_add(places, stream, looks[look].behind, found->behind);
}

/* `found`: one for each stream, zero, and one behind them. */
static bool look_read(struct places *places, struct store *store, int look, struct looked *found,
                      struct error *error) {
    const struct catalog *catalog = &store->catalog;
    struct row *rows = db_query(&store->db, error, looks[look].sql, "i", places->now);
    enum answer step = rows ? YES : FAILED;
    while (step == YES && (step = db_step(&store->db, rows, error)) == YES) {
        const struct catalog_stream *stream = catalog_stream(catalog, row_int(rows, 0));
        struct looked *one =
            &found[stream ? (size_t)(stream - catalog->streams) : catalog->stream_count];
        one->all++;
        one->behind += row_int(rows, 1);
    }
    int64_t rows_seen = 0;
    for (size_t i = 0; i <= catalog->stream_count; i++)
        rows_seen += found[i].all;
    places->rough = places->rough || (looks[look].most && rows_seen == looks[look].most);
    for (size_t i = 0; step == NO && i <= catalog->stream_count; i++)
        if (found[i].all)
            places_move(places, i < catalog->stream_count ? &catalog->streams[i] : NULL, look,
                        &found[i]);
    return step == NO;
}

/* A long queue is not read to see whose lane runs. */
static bool look_fits(struct places *places, int look) {
    return look != LOOK_READY ||
           json_integer_value(json_object_get(places->total, "ready")) <= DUE_MAX;
}

/* No lane runs: nothing would be found. */
static bool look_left_out(struct places *places, struct store *store, struct error *error) {
    int64_t runs = 0;
    enum answer found = db_value(&store->db, error, &runs, "SELECT 1 FROM lane LIMIT 1", "");
    places->rough = places->rough || found == YES;
    return found != FAILED;
}

/* Queues are looked at before what stands in them is moved. */
static bool places_looks(struct places *places, struct store *store, struct error *error) {
    bool done = true;
    for (int look = LOOKS - 1; done && look >= 0; look--) {
        struct looked *found = calloc(store->catalog.stream_count + 1, sizeof *found);
        if (found)
            done = look_fits(places, look) ? look_read(places, store, look, found, error)
                                           : look_left_out(places, store, error);
        else
            done = db_no_memory(&store->db, error);
        free(found);
    }
    return done;
}

json_t *job_counts(struct store *store, json_t *total, time_ms now, bool *rough,
                   struct error *error) {
    struct places places = {.by_definition = json_object(), .total = total, .now = now};
    bool done = places.by_definition && places_read(&places, store, error) &&
                places_looks(&places, store, error);
    if (rough)
        *rough = places.rough;
    return json_kept(places.by_definition, done);
}

/* ---- for a question ---- */

/* True if a text, or each of a list of texts, is what counters tell apart. */
static bool is_texts(const json_t *value) {
    size_t i;
    const json_t *one;
    json_array_foreach(value, i, one)
        if (!json_is_string(one))
            return false;
    return json_is_string(value) || json_array_size(value) > 0;
}

static bool has_text(const json_t *value, const char *text) {
    size_t i;
    const json_t *one;
    json_array_foreach(value, i, one)
        if (strcmp(json_string_value(one), text) == 0)
            return true;
    return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

static bool are_states(const json_t *value) {
    size_t known = 0;
    for (size_t i = 0; i < STATES; i++)
        known += has_text(value, states[i]);
    return known == (json_is_string(value) ? 1 : json_array_size(value));
}

static bool counters_tell(const json_t *filters) {
    const json_t *state = json_object_get(filters, "state");
    const json_t *handler = json_object_get(filters, "handler");
    return json_object_size(filters) == (size_t)(state != NULL) + (handler != NULL) &&
           (!state || (is_texts(state) && are_states(state))) && (!handler || is_texts(handler));
}

static int64_t sum_of(const json_t *counts, const json_t *state) {
    int64_t sum = 0;
    for (size_t i = 0; i < STATES; i++)
        if (!state || has_text(state, states[i]))
            sum += json_int(counts, states[i]);
    return sum;
}

static int64_t sum_of_handlers(const struct store *store, const json_t *places,
                               const json_t *handler, const json_t *state) {
    int64_t sum = 0;
    for (size_t i = 0; i < store->catalog.definition_count; i++) {
        const struct catalog_definition *definition = &store->catalog.definitions[i];
        char key[32];
        snprintf(key, sizeof key, "%lld", (long long)definition->id);
        if (has_text(handler, definition->name))
            sum += sum_of(json_object_get(places, key), state);
    }
    return sum;
}

enum answer job_counts_of(struct store *store, const json_t *filters, time_ms now, int64_t *count,
                          struct error *error) {
    bool own = false, rough = false;
    const json_t *state = json_object_get(filters, "state");
    const json_t *handler = json_object_get(filters, "handler");
    if (!counters_tell(filters))
        return NO;
    if (!look_begin(store, &own, error))
        return FAILED;
    json_t *total = job_counts_zero();
    json_t *places = total ? job_counts(store, total, now, &rough, error) : NULL;
    if (places)
        *count = handler ? sum_of_handlers(store, places, handler, state) : sum_of(total, state);
    look_end(store, own);
    const bool done = places != NULL;
    json_decref(places);
    json_decref(total);
    if (!done)
        return FAILED;
    return rough ? NO : YES;
}
