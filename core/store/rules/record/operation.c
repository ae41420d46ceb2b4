#include "store/rules/record/operation.h"
#include "base/crash_point.h"
#include "base/json.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>

/* The verb goes on in another transaction: what it has touched adds up in its one entry. A
 * definition or instance had its old value before the first one. */
static bool operation_add(struct store *store, int count, const char *before, const char *after,
                          struct error *error) {
    return db_run(
        &store->db, error,
        "UPDATE operation SET count=count+?2, new=coalesce(?4, new),"
        " old=CASE WHEN old IS NOT DISTINCT FROM ?3 OR entity NOT LIKE '% jobs' THEN old END,"
        " entity=CASE WHEN entity LIKE '% jobs' THEN (count+?2) || ' jobs' ELSE entity"
        " END, jobs=NULL WHERE id=?1",
        "intt", store->journal.entry, count, before, after);
}

/* "[1,2,3]"; NULL in *text: there are none. */
static bool ids_write(struct text *text, struct ids ids, struct error *error) {
    for (size_t i = 0; i < ids.count; i++)
        text_add(text, "%c%lld", i ? ',' : '[', (long long)ids.list[i]);
    if (ids.count)
        text_add(text, "]");
    return !text->failed || error_no_memory(error);
}

#define INSERT                                                                                     \
    "INSERT INTO operation(" OPERATION_COLUMNS ")"                                                 \
    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"

static const char *operation_who(const struct store *store) {
    if (store->journal.who[0])
        return store->journal.who;
    return store->who ? store->who : store->rules->who;
}

void store_act_as(struct store *store, const char *who) {
    store->who = who;
}

static bool operation_insert(struct store *store, const char *verb, const char *entity, int count,
                             struct ids ids, const char *before, const char *after, time_ms now,
                             struct error *error) {
    const char *who = operation_who(store);
    const json_t *wanted = store->journal.query;
    char *query = wanted ? json_write(wanted, NULL) : NULL;
    struct text jobs = {0};
    bool done = (query || !wanted || error_no_memory(error)) && ids_write(&jobs, ids, error) &&
                db_value(&store->db, error, &store->journal.written, INSERT " RETURNING id",
                         "itttnttttz", now, who, verb, entity, count, before, after, query,
                         jobs.data, store->journal.instance) == YES;
    free(query);
    text_clear(&jobs);
    return done;
}

static bool operation_end(void) {
    return CRASH_POINT("operation_written");
}

static bool operation_put(struct store *store, const char *verb, const char *entity, int count,
                          struct ids ids, const char *before, const char *after, time_ms now,
                          struct error *error) {
    char held[HELD_TEXT + 64], stay[HELD_TEXT];
    bool holds = store->journal.held.jobs > 0;
    held_text(&store->journal.held, stay);
    snprintf(held, sizeof held, "%.60s, %s", after ? after : "active", stay);
    if (store->journal.silent)
        return true;
    if (store->journal.entry)
        return operation_add(store, count, before, holds ? held : NULL, error);
    if (!operation_insert(store, verb, entity, count, ids, before, holds ? held : after, now,
                          error))
        return false;
    return operation_end();
}

bool operation_write(struct store *store, const char *verb, const char *entity, int count,
                     const char *before, const char *after, time_ms now, struct error *error) {
    return operation_put(store, verb, entity, count, (struct ids){0}, before, after, now, error);
}

bool operation_write_ids(struct store *store, const char *verb, const char *entity, struct ids ids,
                         const char *before, const char *after, time_ms now, struct error *error) {
    return operation_put(store, verb, entity, (int)ids.count, ids, before, after, now, error);
}

/* Nothing is added to it, so that nobody waits for its number. */
bool store_note(struct store *store, const struct store_entry *entry, time_ms now,
                struct error *error) {
    return store->journal.silent ||
           (unit_row(store, error, ROWS_OPERATION, INSERT, "itttittttz", now, operation_who(store),
                     entry->verb, entry->entity, (int64_t)1, entry->before, entry->after, NULL,
                     NULL, entry->instance) &&
            operation_end());
}

bool operation_of_batch(struct store *store, int64_t batch, struct error *error) {
    return store->journal.silent ||
           db_run(&store->db, error,
                  "UPDATE operation SET batch=?2, query=(SELECT query FROM batch WHERE id=?2)"
                  " WHERE id=?1",
                  "ii", store->journal.written, batch);
}

void removal_name(time_ms removal, char name[TIME_TEXT_SIZE]) {
    if (removal == TIME_NEVER || removal == TIME_NONE)
        snprintf(name, TIME_TEXT_SIZE, removal == TIME_NONE ? "computed" : "never");
    else
        time_format(removal, name);
}
