/* cleanup.c - the jobs that clean the history (rules §18): as many as share the work, each run of
 * which makes the next. Those of the window and those asked for by hand are two chains; the table
 * meta knows the plan of each and the job that each part of it waits in or runs as. */
#include "base/crash_point.h"
#include "base/json.h"
#include "store/rules/clean/chain.h"
#include "store/rules/clean/clean.h"
#include "store/rules/ground/defined.h"
#include "store/rules/record/operation.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the store knows of it ---- */

bool chain_read(struct store *store, const char *key, struct chain *chain, struct error *error) {
    json_t *state = NULL;
    *chain = (struct chain){.key = key};
    if (db_read(&store->db, error, store->engine->sql->get_note, "j<t", &state, key) == FAILED)
        return false;
    const json_t *jobs = json_object_get(state, "jobs");
    chain->plan = json_incref(json_object_get(state, "plan"));
    chain->parts = (int)json_array_size(jobs) % (CLEANUP_PARTS + 1);
    for (int i = 0; i < chain->parts; i++)
        chain->jobs[i] = json_integer_value(json_array_get(jobs, (size_t)i));
    json_decref(state);
    return true;
}

static bool chain_write(struct store *store, const struct chain *chain, struct error *error) {
    bool some = false;
    json_t *jobs = json_array();
    for (int i = 0; i < chain->parts; i++) {
        some = some || chain->jobs[i];
        json_array_append_new(jobs, json_integer(chain->jobs[i]));
    }
    json_t *state = json_pack("{sO so}", "plan", chain->plan, "jobs", jobs);
    char *text = state ? json_write(state, NULL) : NULL;
    bool done = false;
    if (!some)
        done = db_run(&store->db, error, store->engine->sql->drop_note, "t", chain->key);
    else if (text)
        done = db_run(&store->db, error, store->engine->sql->put_note, "tt", chain->key, text);
    else
        error_no_memory(error);
    free(text);
    json_decref(state);
    return done;
}

/* ---- its jobs ---- */

/* TIME_NEVER: none; 0 then. */
static bool chain_create(struct store *store, struct chain *chain, const struct cleanup *cleanup,
                         time_ms due, time_ms now, struct error *error) {
    chain->jobs[cleanup->part] = 0;
    if (due == TIME_NEVER)
        return true;
    json_t *part = cleanup_part(chain->plan, cleanup);
    bool later = due > now;
    struct job_spec spec = {.job = {.handler = CLEANUP_HANDLER,
                                    .type = later ? JOB_TIMER : JOB_MESSAGE,
                                    .due = later ? due : TIME_NONE,
                                    .priority = cleanup->priority}};
    bool done = defined_create(store, &spec, part, now, error);
    chain->jobs[cleanup->part] = done ? spec.reply.id : 0;
    json_decref(part);
    return done;
}

/* Those that run end, and make no next. */
static bool chain_stop(struct store *store, struct chain *chain, time_ms now, struct error *error) {
    bool done = true;
    for (int i = 0; done && i < chain->parts; i++) {
        struct job_row row;
        enum answer found = chain->jobs[i] ? row_load(store, chain->jobs[i], &row, error) : NO;
        done = found != FAILED &&
               (found == NO || row.token ||
                commands_delete(store, (struct ids){&chain->jobs[i], 1}, now, error));
        chain->jobs[i] = 0;
    }
    return done;
}

/* *there: the job waits or runs. One that was given up starts anew if `asked`. */
static bool chain_keep(struct store *store, const struct chain *chain, int part, bool asked,
                       bool *there, time_ms now, struct error *error) {
    struct job_row row;
    enum answer found = chain->jobs[part] ? row_load(store, chain->jobs[part], &row, error) : NO;
    *there = found == YES;
    bool revive = asked && found == YES && row.retries == 0;
    return found != FAILED &&
           (!revive || commands_retry(store, (struct ids){&chain->jobs[part], 1}, 0, now, error));
}

/* A job for each part that has none; the part's first pass begins. */
static bool chain_fill(struct store *store, struct chain *chain, time_ms now, struct error *error) {
    struct cleanup cleanup;
    bool done = cleanup_read(&cleanup, chain->plan, error), made = false;
    time_ms due = TIME_NEVER;
    if (done)
        due = cleanup_may(&cleanup, now) ? now : window_opens(&cleanup.window, now);
    made = chain->parts != cleanup.parts;
    chain->parts = cleanup.parts;
    for (int i = 0; done && i < chain->parts; i++) {
        bool there = false;
        cleanup.part = i;
        bool asked = strcmp(chain->key, CHAIN_DEMAND) == 0;
        if (!chain_keep(store, chain, i, asked, &there, now, error))
            return false;
        made = made || !there;
        done = there || chain_create(store, chain, &cleanup, due, now, error);
    }
    return done && (!made || chain_write(store, chain, error));
}

/* The chain as the settings want it; what another plan has made goes. */
static bool chain_adjust(struct store *store, struct chain *chain, bool on_demand, time_ms now,
                         struct error *error) {
    json_t *plan = cleanup_plan(store->settings, on_demand);
    if (!plan)
        return error_no_memory(error);
    bool same = chain->plan && json_equal(plan, chain->plan);
    if (!same && chain->plan && !chain_stop(store, chain, now, error)) {
        json_decref(plan);
        return false;
    }
    if (!same)
        chain->parts = 0;
    json_decref(chain->plan);
    chain->plan = plan;
    return chain_fill(store, chain, now, error);
}

/* ---- as executors start ---- */

/* YES: an executor that lives keeps the window open. */
static enum answer chain_wanted(struct store *store, struct error *error) {
    int64_t one = 0;
    return db_value(&store->db, error, &one, store->engine->sql->cleaner, "i", store->self.id);
}

static bool chain_drop(struct store *store, struct chain *chain, time_ms now, struct error *error) {
    enum answer wanted = chain->plan ? chain_wanted(store, error) : YES;
    return wanted == YES || (wanted == NO && chain_stop(store, chain, now, error) &&
                             chain_write(store, chain, error));
}

bool store_prepare_cleanup(struct store *store, time_ms now, struct error *error) {
    bool own = false, windowed = json_array_size(store->settings->history_cleanup_window) > 0;
    int64_t ignored = 0;
    struct chain chain;
    enum answer known =
        db_value(&store->db, error, &ignored, store->engine->sql->get_note, "t", CHAIN_WINDOW);
    if (known == FAILED || (!known && !windowed))
        return known != FAILED;
    if (!unit_begin(store, STORE_COMMAND, &own, error))
        return false;
    bool done = chain_read(store, CHAIN_WINDOW, &chain, error) &&
                (windowed ? chain_adjust(store, &chain, false, now, error)
                          : chain_drop(store, &chain, now, error));
    json_decref(chain.plan);
    return unit_end(store, own, done, error);
}

/* ---- on demand ---- */

/* Who asks for it wants the window's jobs to go on, too. */
static bool chain_revive(struct store *store, time_ms now, struct error *error) {
    struct chain chain;
    bool done = chain_read(store, CHAIN_WINDOW, &chain, error), there = false;
    for (int i = 0; done && i < chain.parts; i++)
        done = chain_keep(store, &chain, i, true, &there, now, error);
    json_decref(chain.plan);
    return done;
}

bool cleanup_begin(struct store *store, int64_t ids[COMMAND_MADE], int *count, time_ms now,
                   struct error *error) {
    bool own = false;
    char text[32];
    struct chain chain;
    *count = 0;
    if (!unit_begin(store, STORE_COMMAND, &own, error))
        return false;
    bool done = chain_revive(store, now, error) && chain_read(store, CHAIN_DEMAND, &chain, error) &&
                chain_adjust(store, &chain, true, now, error);
    for (int i = 0; done && i < chain.parts; i++)
        ids[(*count)++] = chain.jobs[i];
    snprintf(text, sizeof text, *count == 1 ? "by job %lld" : "by %lld jobs",
             *count == 1 ? (long long)ids[0] : (long long)*count);
    done = done && operation_write(store, "clean_history", "history", 0, NULL, text, now, error);
    json_decref(chain.plan);
    return unit_end(store, own, done, error);
}

/* ---- one run ---- */

static enum metric metric_of(enum history_kind kind) {
    return kind == HISTORY_INSTANCES ? METRIC_REMOVED_INSTANCES
                                     : (enum metric)(METRIC_REMOVED_JOBS + (int)kind);
}

/* The job's line in the log: what it has removed. */
static bool cleanup_tell(struct store *store, const struct cleaned *cleaned, time_ms now,
                         struct error *error) {
    static const char *const single[] = {"job", "incident", "batch", "operation", "instance"};
    char text[128] = "removed";
    size_t size = strlen(text), none = size;
    for (int i = 0; i < HISTORY_KINDS; i++) {
        if (!cleaned->count[i])
            continue;
        size += (size_t)snprintf(text + size, sizeof text - size, "%s %lld %s",
                                 size == none ? "" : ",", (long long)cleaned->count[i],
                                 cleaned->count[i] == 1 ? single[i]
                                                        : history_kind_name((enum history_kind)i));
        if (!store_metric_add(store, 0, metric_of((enum history_kind)i), cleaned->count[i], error))
            return false;
    }
    return size == none || !store->journal.job || store->rules->history != HISTORY_FULL ||
           store_line(store, store->journal.job, store->journal.attempt, text, now, error);
}

/* The next run, if this one was its chain's. */
static bool cleanup_follow(struct store *store, struct cleanup *cleanup, bool more, time_ms now,
                           struct error *error) {
    struct chain chain;
    const char *key = cleanup->on_demand ? CHAIN_DEMAND : CHAIN_WINDOW;
    if (!chain_read(store, key, &chain, error))
        return false;
    int part = cleanup->part;
    bool ours = store->journal.job && part < chain.parts && chain.jobs[part] == store->journal.job;
    bool done = true;
    if (ours) {
        time_ms due = cleanup_next(cleanup, more, now);
        done = chain_create(store, &chain, cleanup, due, now, error) &&
               CRASH_POINT("cleanup_chained") && chain_write(store, &chain, error);
    }
    json_decref(chain.plan);
    return done;
}

bool cleanup_command(struct store *store, const struct command *command, struct step *step,
                     time_ms now, struct error *error) {
    struct cleanup cleanup;
    struct cleaned cleaned = {0};
    if (!cleanup_read(&cleanup, command->plan, error) ||
        (cleanup_may(&cleanup, now) && !clean_run(store, &cleanup, &cleaned, now, error)))
        return false;
    for (int i = 0; i < HISTORY_KINDS; i++)
        step->ids.count += (size_t)cleaned.count[i];
    return cleanup_tell(store, &cleaned, now, error) &&
           cleanup_follow(store, &cleanup, cleaned.more, now, error);
}
