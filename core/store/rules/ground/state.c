#include "store/rules/ground/state.h"
#include <string.h>

bool store_look(struct store *store, bool *own, struct error *error) {
    *own = !store->writing && !store->looking;
    if (!*own)
        return true;
    if (!store->engine->snapshot(store, error))
        return false;
    store->looking = true;
    store->unsure = store->engine->lasts != NULL;
    db_question_begin(&store->db);
    return true;
}

bool store_seen(struct store *store, struct error *error) {
    if (store->unsure && !store->engine->lasts(store, error))
        return false;
    store->unsure = false;
    return true;
}

bool store_seen_of(struct store *store, int64_t instance, struct error *error) {
    return !store->unsure || store->engine->instance_lasts(store, instance, error);
}

bool look_begin(struct store *store, bool *own, struct error *error) {
    if (!store_look(store, own, error))
        return false;
    if (!*own || store_seen(store, error))
        return true;
    look_end(store, *own);
    return false;
}

void look_end(struct store *store, bool own) {
    if (!own)
        return;
    db_question_end(&store->db);
    store->engine->snapshot_end(store);
    store->looking = false;
}

void store_look_on(struct store *store) {
    if (store->looking && !store->db.patient)
        db_question_begin(&store->db);
}

struct store_acquire_stats store_acquire_stats(const struct store *store) {
    return store->met;
}

void store_look_end(struct store *store, bool own) {
    look_end(store, own);
}

bool look_whole(struct store *store, bool whole, struct error *error) {
    const char *sql = store->engine->sql->whole;
    return !sql || db_run(&store->db, error, sql, "t", whole ? "on" : "off");
}

/* Without the counters of the places, which are as many as there are streams. */
struct row *meta_ask(struct store *store, struct error *error) {
    return db_query(&store->db, error, "SELECT key, value FROM meta WHERE key<'waiting/'", "");
}

bool meta_read(struct store *store, struct error *error) {
    return meta_answer(store, meta_ask(store, error), error);
}

/* Rows that were changed by hand: numbers below these would be no ids and no places in sets. */
static bool meta_check(struct store *store, struct error *error) {
    const struct meta *meta = &store->meta;
    const struct {
        const char *key;
        int64_t value, least;
    } fields[] = {{"next_id", meta->next_id, 1},
                  {"next_token", meta->next_token, 1},
                  {"sweep_from", meta->purge_from, 0},
                  {"sweep_to", meta->purge_to, 0},
                  {"cuts", meta->cuts, 0},
                  {"ended", meta->ended, 0}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].value < fields[i].least)
            return error_set(error, ERROR_DAMAGED,
                             "store \"%s\": damaged: %s of meta is %lld (expected %lld or more)",
                             store->db.name, fields[i].key, (long long)fields[i].value,
                             (long long)fields[i].least);
    return true;
}

bool meta_answer(struct store *store, struct row *rows, struct error *error) {
    struct meta *meta = &store->meta;
    const struct {
        const char *key;
        int64_t *value;
    } fields[] = {{"next_id", &meta->next_id},
                  {"next_token", &meta->next_token},
                  {"catalog", &meta->catalog},
                  {"executors", &meta->executors},
                  {"fair_by", &meta->fair},
                  {"turn", &meta->turn},
                  {"sweep_from", &meta->purge_from},
                  {"sweep_to", &meta->purge_to},
                  {"cuts", &meta->cuts},
                  {"ended", &meta->ended},
                  {"timeline", &meta->timeline}};
    meta->fair = meta->turn = meta->purge_from = meta->purge_to = meta->cuts = meta->ended = 0;
    meta->timeline = 0;
    enum answer step = NO;
    while ((step = db_step(&store->db, rows, error)) == YES) {
        const char *key = row_text(rows, 0);
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
            if (strcmp(key, fields[i].key) == 0)
                *fields[i].value = row_int(rows, 1);
    }
    store->stored = *meta;
    return step == NO && meta_check(store, error) && meta_begun(store, error);
}

bool meta_begun(struct store *store, struct error *error) {
    store->incidents = store->lines = store->kept = -1;
    store->timer = TIME_NONE;
    store->parked.looked = false;
    return catalog_refresh(store, error) && peers_refresh(store, error);
}

static bool meta_put(struct store *store, const char *key, int64_t value, int64_t stored,
                     struct error *error) {
    return value == stored ||
           db_run(&store->db, error, "UPDATE meta SET value=?2 WHERE key=?1", "ti", key, value);
}

/* The same of a key that may not be there yet. */
static bool meta_add(struct store *store, const char *key, int64_t value, int64_t stored,
                     struct error *error) {
    return value == stored || db_run(&store->db, error,
                                     "INSERT INTO meta(key, value) VALUES(?1, ?2)"
                                     " ON CONFLICT(key) DO UPDATE SET value=excluded.value",
                                     "ti", key, value);
}

bool meta_write(struct store *store, struct error *error) {
    const struct meta *meta = &store->meta, *stored = &store->stored;
    bool done = meta_put(store, "next_id", meta->next_id, stored->next_id, error) &&
                meta_put(store, "next_token", meta->next_token, stored->next_token, error) &&
                meta_put(store, "catalog", meta->catalog, stored->catalog, error);
    done = done && meta_put(store, "executors", meta->executors, stored->executors, error) &&
           meta_add(store, "cuts", meta->cuts, stored->cuts, error);
    return done && meta_add(store, "ended", meta->ended, stored->ended, error) &&
           meta_add(store, "timeline", meta->timeline, stored->timeline, error);
}

int64_t store_cuts(struct store *store, bool ask) {
    int64_t cuts = store->meta.cuts;
    struct error ignored = {0};
    if (ask && !store->writing)
        db_value(&store->db, &ignored, &cuts, "SELECT value FROM meta WHERE key='cuts'", "");
    return cuts;
}

void store_close(struct store *store) {
    if (store)
        store->ops->close(store);
}

const char *store_name(const struct store *store) {
    return store->name;
}

enum store_kind store_kind(const struct store *store) {
    return store->kind;
}
