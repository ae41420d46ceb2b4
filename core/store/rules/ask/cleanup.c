/* cleanup.c - how the cleaning of the history stands (rules §18). */
#include "base/json.h"
#include "store/rules/clean/chain.h"
#include "store/rules/clean/clean.h"
#include "store/rules/ground/kinds.h"
#include "time/span.h"

static bool status_jobs(struct store *store, const char *key, json_t *jobs, time_ms now,
                        struct error *error) {
    struct chain chain;
    bool done = chain_read(store, key, &chain, error);
    for (int i = 0; done && i < chain.parts; i++) {
        json_t *job = chain.jobs[i] ? store_job(store, chain.jobs[i], now, error) : NULL;
        done = job || !chain.jobs[i] || error->code == ERROR_NOT_FOUND;
        if (job)
            json_array_append_new(jobs, json_pack("{sO sO sO sO}", "id", json_object_get(job, "id"),
                                                  "state", json_object_get(job, "state"), "due",
                                                  json_object_get(job, "due"), "priority",
                                                  json_object_get(job, "priority")));
        json_decref(job);
    }
    json_decref(chain.plan);
    return done;
}

static bool status_kinds(json_t *status, const struct cleanup *cleanup,
                         const struct cleaned *cleaned) {
    json_t *ttl = json_object(), *removable = json_object();
    for (int i = 0; i < HISTORY_KINDS; i++) {
        char text[TIME_TEXT_SIZE];
        const char *name = history_kind_name((enum history_kind)i);
        span_format(cleanup->ttl[i], text);
        json_put_text(ttl, name, cleanup->ttl[i] ? text : NULL);
        json_put(removable, name, json_integer(cleaned->count[i]));
    }
    return json_put(status, "ttl", ttl) && json_put(status, "removable", removable);
}

static bool status_fill(struct store *store, json_t *status, time_ms now, struct error *error) {
    const struct settings *settings = store->settings;
    struct cleanup cleanup = {.parts = 1};
    struct cleaned cleaned;
    json_t *jobs = json_array();
    cleanup_ttl(settings, cleanup.ttl);
    return json_put(status, "jobs", jobs) && clean_count(store, &cleanup, &cleaned, now, error) &&
           status_kinds(status, &cleanup, &cleaned) &&
           status_jobs(store, CHAIN_DEMAND, jobs, now, error) &&
           status_jobs(store, CHAIN_WINDOW, jobs, now, error) &&
           json_put(status, "window", json_incref(settings->history_cleanup_window)) &&
           json_put_text(status, "zone", settings->history_cleanup_zone);
}

json_t *store_history(struct store *store, time_ms now, struct error *error) {
    bool own = false;
    if (!look_begin(store, &own, error))
        return NULL;
    store->db.question = "what history may go";
    json_t *status = json_object();
    bool done = status && status_fill(store, status, now, error);
    look_end(store, own);
    return json_kept(status, done);
}
