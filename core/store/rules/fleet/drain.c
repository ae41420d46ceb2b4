/* drain.c - executors as operators see them: listed, told to take nothing more (rules §11). */
#include "base/crash_point.h"
#include "base/json.h"
#include "base/text.h"
#include "store/rules/fleet/commands.h"
#include "store/rules/fleet/executor_list.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/record/operation.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the list ---- */

static const struct ask_column executor_columns[] = {
    {"id", ASK_INTEGER, NULL, ASK_SHOW},
    {"name", ASK_TEXT, NULL, ASK_SHOW, "EXECUTOR"},
    {"state", ASK_TEXT, NULL, ASK_SHOW},
    {"pid", ASK_INTEGER, NULL, ASK_SHOW},
    {"version", ASK_TEXT, NULL, ASK_SHOW},
    {"started", ASK_TIME, NULL, ASK_SHOW},
    {"uptime", ASK_INTEGER, NULL, ASK_SHOW},
    {"failing", ASK_TIME, NULL, ASK_SHOW, "FAILING SINCE"},
    {"failure", ASK_TEXT, NULL, ASK_SHOW},
    {"seen", ASK_TIME, NULL, ASK_SHOW},
    {"lease", ASK_TIME, NULL, ASK_SHOW},
    {"priority_min", ASK_INTEGER, NULL, ASK_SHOW, "FROM"},
    {"priority_max", ASK_INTEGER, NULL, ASK_SHOW, "TO"},
    {"categories", ASK_LIST, NULL, ASK_SHOW},
    {"topics", ASK_LIST, NULL, ASK_SHOW},
    {"deployment_aware", ASK_FLAG, NULL, ASK_SHOW, "DEPLOYMENTS"},
    {"workers", ASK_INTEGER, NULL, ASK_SHOW},
    {"handlers", ASK_INTEGER, NULL, ASK_SHOW},
    {"running", ASK_INTEGER, NULL, ASK_SHOW},
    {"waiting", ASK_INTEGER, NULL, ASK_SHOW},
    {"locked", ASK_INTEGER, NULL, ASK_SHOW},
    {0},
};

const struct ask_table executor_table = {
    "executors", executor_columns,
    .shown =
        "id,name,state!,pid?,version=?,uptime?,failing?,workers?,running,waiting,locked?,seen,"
        "priority_min?,priority_max?,categories?,topics?,deployment_aware=?,handlers?,failure?"};

static bool executor_put_range(json_t *object, const struct acquire *acquire) {
    int64_t min = acquire->priority_min, max = acquire->priority_max;
    return json_put(object, "priority_min", min == INT64_MIN ? NULL : json_integer(min)) &&
           json_put(object, "priority_max", max == INT64_MAX ? NULL : json_integer(max)) &&
           json_put(object, "categories", json_incref(json_unchanged(acquire->categories))) &&
           json_put(object, "deployment_aware", json_boolean(acquire->deployment_aware));
}

/* What it holds is running, or waits in its memory for a free worker. */
static json_t *executor_uptime(const struct executor_info *info, time_ms now) {
    bool runs = info->standing != STANDING_GONE && now > info->started;
    return runs ? json_integer((now - info->started) / 1000) : NULL;
}

/* Only its machine knows which of the jobs that it holds have begun. */
static bool executor_put_held(json_t *object, const struct store *store,
                              const struct executor_info *info) {
    const bool known = !info->running.vanished || !info->locked;
    const int64_t running =
        store->kind != STORE_MEMORY && !info->remote ? (int64_t)info->running.count : info->locked;
    const int64_t waiting = info->locked > running ? info->locked - running : 0;
    return json_put(object, "running", known ? json_integer(running) : NULL) &&
           json_put(object, "waiting", known ? json_integer(waiting) : NULL) &&
           json_put(object, "locked", json_integer(info->locked));
}

/* Since when all of its turns have failed. */
static time_ms executor_failing(const struct executor_info *info) {
    const json_t *since = json_object_get(info->settings, "failing");
    return json_is_integer(since) ? json_integer_value(since) : TIME_NONE;
}

static json_t *executor_to_json(const struct store *store, const struct executor_info *info,
                                time_ms now) {
    json_t *object = json_object();
    if (json_put(object, "id", json_integer(info->id)) &&
        json_put_text(object, "name", info->name) &&
        json_put_text(object, "state", standing_name(info->standing)) &&
        json_put(object, "pid", info->pid ? json_integer(info->pid) : NULL) &&
        json_put_text(object, "version", info->version) &&
        json_put_time(object, "started", info->started) &&
        json_put(object, "uptime", executor_uptime(info, now)) &&
        json_put_time(object, "failing", executor_failing(info)) &&
        json_put(object, "failure", json_incref(json_object_get(info->settings, "failure"))) &&
        json_put_time(object, "seen", info->seen) &&
        json_put_time(object, "lease", info->remote ? TIME_NONE : info->lease) &&
        json_put(object, "topics", json_incref(json_unchanged(info->topics))) &&
        executor_put_range(object, &info->acquire) &&
        json_put(object, "workers", info->workers ? json_integer(info->workers) : NULL) &&
        json_put(object, "handlers",
                 info->knows_handlers ? json_integer((json_int_t)info->named.count) : NULL) &&
        executor_put_held(object, store, info))
        return object;
    json_decref(object);
    return NULL;
}

json_t *executor_list_to_json(const struct executor_list *executors, const struct store *store,
                              time_ms now) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < executors->count; i++)
        if (json_array_append_new(list, executor_to_json(store, &executors->list[i], now)) != 0)
            return json_kept(list, false);
    return list;
}

json_t *ask_executors(struct store *store, const struct question *question, struct error *error) {
    bool all = json_is_true(json_object_get(question->object, "all"));
    bool own = false;
    struct executor_list executors;
    json_t *list = NULL;
    if (!look_begin(store, &own, error))
        return NULL;
    if (executor_list_take(&executors, store, all, question->now, error) &&
        !(list = executor_list_to_json(&executors, store, question->now)))
        db_no_memory(&store->db, error);
    executor_list_clear(&executors);
    look_end(store, own);
    return list;
}

/* ---- draining ---- */

static bool drain_is(const struct executor_info *info, const char *who) {
    char *end = NULL;
    long long id = strtoll(who, &end, 10);
    return info->standing != STANDING_GONE &&
           (strcmp(info->name, who) == 0 || (*who && !*end && info->id == id));
}

static bool drain_unknown(const struct executor_list *executors, const char *who,
                          struct error *error) {
    struct text known = {0};
    for (size_t i = 0; i < executors->count; i++)
        if (executors->list[i].standing != STANDING_GONE)
            text_add(&known, "%s%s/%lld", known.size ? ", " : "", executors->list[i].name,
                     (long long)executors->list[i].id);
    if (known.size)
        error_set(error, ERROR_NOT_FOUND, "no executor \"%.255s\" runs (known: %s)", who,
                  known.data);
    else
        error_set(error, ERROR_NOT_FOUND, "no executor \"%.255s\" runs (there is none)", who);
    text_clear(&known);
    return false;
}

static bool drain_one(struct store *store, const struct executor_info *info, bool draining,
                      time_ms now, struct error *error) {
    char entity[64];
    snprintf(entity, sizeof entity, "executor %lld", (long long)info->id);
    return db_run(&store->db, error, "UPDATE executor SET draining=?2 WHERE id=?1", "in", info->id,
                  (int)draining) &&
           CRASH_POINT("drain_marked") &&
           operation_write(store, draining ? "drain" : "resume", entity, 1, NULL, info->name, now,
                           error);
}

static bool drain_all(struct store *store, const struct executor_list *executors, const char *who,
                      bool draining, size_t *touched, time_ms now, struct error *error) {
    for (size_t i = 0; i < executors->count; i++)
        if (drain_is(&executors->list[i], who)) {
            if (!drain_one(store, &executors->list[i], draining, now, error))
                return false;
            ++*touched;
        }
    if (!*touched)
        return drain_unknown(executors, who, error);
    store->meta.executors++;
    store->ring.everybody = true;
    return peers_refresh(store, error);
}

bool drain_command(struct store *store, const struct command *command, size_t *touched, time_ms now,
                   struct error *error) {
    struct executor_list executors = {0};
    bool drains = command->verb == COMMAND_DRAIN;
    bool done = executor_list_take(&executors, store, false, now, error) &&
                drain_all(store, &executors, command->executor, drains, touched, now, error);
    executor_list_clear(&executors);
    return done;
}

bool store_draining(const struct store *store) {
    return store->self.draining;
}
