/* logtail.c - what is new in the job log (rules §16).
 *
 * What has ended is numbered in the order in which it was written. Failures, snoozes and creations
 * are not: a failure is written some time after its instant, and a job may be written after others
 * that have higher numbers. So of these a while is looked at again each time, and what was there
 * before is known. */
#include "base/json.h"
#include "store/rules/ask/joblog.h"
#include "store/rules/ground/kinds.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LATE_MS = 10000 }; /* a failure is written this long after its instant, at most */
enum { LATE_IDS = 4096 }; /* a creation is written after so many higher ids, at most */

struct store_tail {
    struct store *store;
    const json_t *filters;
    struct joblog_tail from;
    int64_t version; /* of the data, when it was looked at last */
    bool more;       /* not all of it was read */
    json_t *seen;    /* entries that may come again: for how long they are kept, by their names */
};

/* ---- what was seen ---- */

static const char *logtail_text_of(const json_t *entry, const char *key) {
    const char *text = json_string_value(json_object_get(entry, key));
    return text ? text : "";
}

static void name_of(const json_t *entry, char *name, size_t size) {
    snprintf(name, size, "%s %lld %lld %s", logtail_text_of(entry, "outcome"),
             (long long)json_integer_value(json_object_get(entry, "job")),
             (long long)json_integer_value(json_object_get(entry, "attempt")),
             logtail_text_of(entry, "at"));
}

static int64_t key_of(const json_t *entry, size_t part) {
    return json_integer_value(json_array_get(json_object_get(entry, JOBLOG_KEY), part));
}

/* Of what was told at the beginning: for ever. */
static int64_t at_of(const json_t *entry) {
    return json_object_get(entry, JOBLOG_KEY) ? key_of(entry, 3) : INT64_MAX;
}

static int64_t job_of(const json_t *entry) {
    return json_integer_value(json_object_get(entry, "job"));
}

static bool is(const json_t *entry, const char *outcome) {
    return strcmp(logtail_text_of(entry, "outcome"), outcome) == 0;
}

/* False: it was there before. */
static bool see(struct store_tail *tail, const json_t *entry) {
    char name[128];
    name_of(entry, name, sizeof name);
    if (json_object_get(tail->seen, name))
        return false;
    json_object_set_new(tail->seen, name,
                        json_pack("[s, I, I]", logtail_text_of(entry, "outcome"),
                                  (json_int_t)job_of(entry), (json_int_t)at_of(entry)));
    return true;
}

/* An end is read once; only those that were told at the beginning may come again. */
static bool is_fresh(struct store_tail *tail, const json_t *entry) {
    char name[128];
    if (is(entry, "created") || is(entry, "failed") || is(entry, "snoozed"))
        return see(tail, entry);
    name_of(entry, name, sizeof name);
    return !json_object_get(tail->seen, name);
}

/* It cannot come again. */
static bool is_past(const struct store_tail *tail, const json_t *seen) {
    const char *outcome = json_string_value(json_array_get(seen, 0));
    if (strcmp(outcome, "created") == 0)
        return json_integer_value(json_array_get(seen, 1)) <= tail->from.id;
    if (strcmp(outcome, "failed") == 0 || strcmp(outcome, "snoozed") == 0)
        return json_integer_value(json_array_get(seen, 2)) < tail->from.failed;
    return false;
}

static void forget(struct store_tail *tail) {
    const char *name;
    json_t *seen;
    void *next;
    json_object_foreach_safe(tail->seen, next, name, seen) if (is_past(tail, seen))
        json_object_del(tail->seen, name);
}

/* ---- what is new ---- */

static bool find_ends(struct store_tail *tail, struct error *error) {
    tail->from.upto = tail->from.seq;
    return db_value(&tail->store->db, error, &tail->from.upto,
                    "SELECT coalesce(max(seq), ?1) FROM"
                    " (SELECT seq FROM ended WHERE seq>?1 ORDER BY seq LIMIT ?2) AS s",
                    "in", tail->from.seq, JOBLOG_TAIL) != FAILED;
}

/* Entries that an arm has given, and how far they go. */
struct given {
    int64_t counts[ARMS], last[ARMS];
};

static struct given given(const json_t *rows) {
    struct given given = {{0}, {0}};
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        int64_t arm = key_of(row, 0);
        int64_t place = key_of(row, arm == ARM_FAILED || arm == ARM_SNOOZED ? 3 : 5);
        given.counts[arm]++;
        given.last[arm] = place > given.last[arm] ? place : given.last[arm];
    }
    return given;
}

/* Never back, or what is forgotten would be told again; but for a clock that was set back. An arm
 * of which not all was read goes on behind what was. */
static time_ms next_failure(const struct store_tail *tail, const struct given *given, time_ms now) {
    time_ms old = tail->from.failed, next = now - LATE_MS;
    for (int arm = ARM_FAILED; arm <= ARM_SNOOZED; arm++)
        if (given->counts[arm] == JOBLOG_TAIL && given->last[arm] < next)
            next = given->last[arm];
    return next > old || old > now ? next : old;
}

static bool logtail_move_on(struct store_tail *tail, const json_t *rows, time_ms now,
                            struct error *error) {
    struct given now_given = given(rows);
    const int64_t *counts = now_given.counts;
    int64_t next_id = 0;
    if (db_value(&tail->store->db, error, &next_id, "SELECT value FROM meta WHERE key='next_id'",
                 "") == FAILED)
        return false;
    if (rows) /* ids are drawn long before a file of jobs is released */
        next_id = now_given.last[ARM_CREATED];
    next_id -= LATE_IDS;
    if (counts[ARM_CREATED] == JOBLOG_TAIL && now_given.last[ARM_CREATED] < next_id)
        next_id = now_given.last[ARM_CREATED];
    bool ends = tail->from.upto - tail->from.seq >= JOBLOG_TAIL; /* others were created, too */
    tail->from.id = !ends && next_id > tail->from.id ? next_id : tail->from.id;
    tail->from.failed = next_failure(tail, &now_given, now);
    tail->more = counts[ARM_CREATED] == JOBLOG_TAIL || counts[ARM_FAILED] == JOBLOG_TAIL ||
                 counts[ARM_SNOOZED] == JOBLOG_TAIL || ends;
    tail->from.seq = tail->from.upto;
    return true;
}

static json_t *look(struct store_tail *tail, time_ms now, struct error *error) {
    json_t *rows = NULL;
    bool own = false;
    if (!look_begin(tail->store, &own, error))
        return NULL;
    if (find_ends(tail, error))
        rows = joblog_since(tail->store, tail->filters, &tail->from, error);
    if (rows && !logtail_move_on(tail, rows, now, error)) {
        json_decref(rows);
        rows = NULL;
    }
    look_end(tail->store, own);
    return rows;
}

/* Has anybody written since? */
static bool changed(struct store_tail *tail, bool *is, struct error *error) {
    int64_t version = 0;
    if (db_value(&tail->store->db, error, &version, tail->store->engine->sql->commits, "") ==
        FAILED)
        return false;
    *is = tail->more || version != tail->version;
    tail->version = version;
    return true;
}

json_t *store_tail_next(struct store_tail *tail, time_ms now, struct error *error) {
    bool is = false;
    if (!changed(tail, &is, error))
        return NULL;
    json_t *rows = is ? look(tail, now, error) : json_array(), *fresh = json_array(), *row;
    size_t i;
    json_array_foreach(rows, i, row)
        if (is_fresh(tail, row)) {
            json_object_del(row, JOBLOG_KEY);
            json_array_append(fresh, row);
        }
    forget(tail);
    if (!rows)
        return json_kept(fresh, false);
    json_decref(rows);
    return fresh;
}

/* ---- the beginning ---- */

/* The newest come first, and are told the other way round. */
static json_t *tell_last(struct store_tail *tail, int count, struct error *error) {
    struct store_page page = {.limit = count};
    json_t *newest = store_log(tail->store, tail->filters, &page, error);
    json_t *last = newest ? json_array() : NULL;
    for (size_t i = json_array_size(newest); i-- > 0;) {
        see(tail, json_array_get(newest, i));
        json_array_append(last, json_array_get(newest, i));
    }
    json_decref(newest);
    return last;
}

static bool logtail_begin(struct store_tail *tail, int count, json_t **last, time_ms now,
                          struct error *error) {
    bool is;
    if (db_value(&tail->store->db, error, &tail->from.seq,
                 "SELECT coalesce(max(seq), 0) FROM ended", "") == FAILED ||
        !changed(tail, &is, error) || !logtail_move_on(tail, NULL, now, error))
        return false;
    tail->from.upto = tail->from.seq;
    tail->more = true;
    do { /* what may come again was there before */
        json_t *before = store_tail_next(tail, now, error);
        if (!before)
            return false;
        json_decref(before);
    } while (tail->more);
    return (*last = tell_last(tail, count, error)) != NULL;
}

struct store_tail *store_tail_new(struct store *store, const json_t *filters, int count,
                                  json_t **last, time_ms now, struct error *error) {
    struct store_tail *tail = calloc(1, sizeof *tail);
    json_t *seen = json_object();
    *last = NULL;
    if (tail && seen) {
        *tail = (struct store_tail){.store = store, .filters = filters, .seen = seen, .more = true};
        if (logtail_begin(tail, count, last, now, error))
            return tail;
    } else {
        db_no_memory(&store->db, error);
    }
    json_decref(seen);
    free(tail);
    return NULL;
}

void store_tail_free(struct store_tail *tail) {
    if (!tail)
        return;
    json_decref(tail->seen);
    free(tail);
}
