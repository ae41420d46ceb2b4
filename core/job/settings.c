#include "job/settings.h"
#include "base/clamp.h"
#include "base/json.h"
#include "base/text.h"
#include "job/alias.h"
#include "job/cleanup.h"
#include "job/job.h"
#include "job/reach.h"
#include "job/setting.h"
#include "job/store_url.h"
#include "time/span.h"
#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIELD(name) offsetof(struct settings, name)
#define MIB (INT64_C(1) << 20)

/* `priority_range` and `workers` write the field after theirs, too (setting.h). */
static const struct setting table[] = {
    {"store", SETTING_STORE, FIELD(store), 1, 4096, "sqlite:moonshift.db"},
    {"listen_url", SETTING_STORE, FIELD(listen_url), 1, 4096, NULL},
    {"read_url", SETTING_STORE, FIELD(read_url), 1, 4096, NULL},
    {"state_dir", SETTING_TEXT, FIELD(state_dir), 1, 4000, "."},
    {"name", SETTING_TEXT, FIELD(name), 1, JOB_NAME_MAX, NULL},
    {"deployment", SETTING_TEXT, FIELD(deployment), 1, JOB_NAME_MAX, NULL},
    {"who", SETTING_TEXT, FIELD(who), 1, JOB_NAME_MAX, NULL},
    {"zone", SETTING_TEXT, FIELD(zone), 1, 255, "UTC"},
    {"active", SETTING_BOOL, FIELD(active), 0, 0, "true"},
    {"workers", SETTING_WORKERS, FIELD(workers_min), 1, 1024, NULL},
    {"keep_alive", SETTING_SPAN, FIELD(keep_alive), 0, 0, "PT5S"},
    {"queue", SETTING_AUTO, FIELD(queue), 1, 1000000, "auto"},
    {"acquisitions", SETTING_ACQUISITIONS, FIELD(acquisitions), 0, 0, NULL},
    {"acquisition", SETTING_TEXT, FIELD(acquisition), 1, JOB_NAME_MAX, "default"},
    {"page", SETTING_AUTO, FIELD(page), 1, 10000, "auto"},
    {"lane_run", SETTING_INT, FIELD(lane_run), 1, 10000, "16"},
    {"priority_range", SETTING_RANGE, FIELD(priority_min), 0, 0, ":"},
    {"categories", SETTING_LIST, FIELD(categories), 0, 0, ""},
    {"by_priority", SETTING_BOOL, FIELD(by_priority), 0, 0, "true"},
    {"prefer_timers", SETTING_BOOL, FIELD(prefer_timers), 0, 0, "false"},
    {"by_due_date", SETTING_BOOL, FIELD(by_due_date), 0, 0, "true"},
    {"deployment_aware", SETTING_BOOL, FIELD(deployment_aware), 0, 0, "false"},
    {"lane_scope", SETTING_SCOPE, FIELD(lane_of_root), 0, 0, "instance"},
    {"aging", SETTING_SPAN_OFF, FIELD(aging), 0, 0, "off"},
    {"fair_by", SETTING_FAIR, FIELD(fair_by), 0, 0, "off"},
    {"wait", SETTING_SPAN, FIELD(wait), 1, 0, "PT5S"},
    {"max_wait", SETTING_SPAN, FIELD(max_wait), 1, 0, "PT60S"},
    {"wait_factor", SETTING_FACTOR, FIELD(wait_factor), 1, 100, "2"},
    {"backoff", SETTING_SPAN, FIELD(backoff), 0, 0, "PT0S"},
    {"max_backoff", SETTING_SPAN, FIELD(max_backoff), 0, 0, "PT0S"},
    {"backoff_decrease_threshold", SETTING_INT, FIELD(backoff_decrease_threshold), 1, 1000000,
     "100"},
    {"queue_full_wait", SETTING_SPAN, FIELD(queue_full_wait), 1, 0, "PT0.1S"},
    {"lock_time", SETTING_SPAN, FIELD(lock_time), 1, 0, "PT5M"},
    {"shutdown_wait", SETTING_SPAN, FIELD(shutdown_wait), 0, 0, "PT60S"},
    {"crash_limit", SETTING_INT, FIELD(crash_limit), 1, 1000, "3"},
    {"conflict_limit", SETTING_INT, FIELD(conflict_limit), 1, 1000000, "20"},
    {"recycle_after", SETTING_INT, FIELD(recycle_after), 1, INT32_MAX, "10000"},
    {"ensure_due_date", SETTING_BOOL, FIELD(ensure_due_date), 0, 0, "false"},
    {"produce_priorities", SETTING_BOOL, FIELD(produce_priorities), 0, 0, "true"},
    {"priority", SETTING_INT64, FIELD(priority), INT64_MIN, INT64_MAX, "0"},
    {"retry", SETTING_TEXT, FIELD(retry), 0, 4096, NULL},
    {"retries", SETTING_INT, FIELD(retries), 1, INT32_MAX, "3"},
    {"failed_job_wait", SETTING_SPAN, FIELD(failed_job_wait), 0, 0, "PT10S"},
    {"incidents", SETTING_BOOL, FIELD(incidents), 0, 0, "true"},
    {"missing_handlers", SETTING_MISSING, FIELD(missing_handlers), 0, 0, "refuse"},
    {"cron", SETTING_CRON, FIELD(cron), 0, 0, "auto"},
    {"notify", SETTING_NOTIFY, FIELD(notify), 0, 0, NULL},
    {"notify_every", SETTING_SPAN, FIELD(notify_every), 1, 0, "PT10M"},
    {"history", SETTING_HISTORY, FIELD(history), 0, 0, "full"},
    {"history_ttl", SETTING_SPAN_OFF, FIELD(history_ttl), 1, 0, "off"},
    {"history_ttl_incidents", SETTING_SPAN_AS, FIELD(history_ttl_incidents), 1, 0, NULL},
    {"history_ttl_batches", SETTING_SPAN_AS, FIELD(history_ttl_batches), 1, 0, NULL},
    {"history_ttl_batches_by_type", SETTING_SPANS, FIELD(history_ttl_by_type), 1, 0, ""},
    {"history_ttl_operations", SETTING_SPAN_AS, FIELD(history_ttl_operations), 1, 0, NULL},
    {"history_cleanup_window", SETTING_LIST, FIELD(history_cleanup_window), 0, 0, ""},
    {"history_cleanup_zone", SETTING_TEXT, FIELD(history_cleanup_zone), 1, 255, "UTC"},
    {"history_cleanup_parallelism", SETTING_INT, FIELD(history_cleanup_parallelism), 1,
     CLEANUP_PARTS, "1"},
    {"history_cleanup_priority", SETTING_INT64, FIELD(history_cleanup_priority), INT64_MIN,
     INT64_MAX, "0"},
    {"history_cleanup_batch_size", SETTING_INT, FIELD(history_cleanup_batch_size), 1, CLEANUP_ROWS,
     "500"},
    {"timeout", SETTING_SPAN, FIELD(timeout), 1, 0, "PT5M"},
    {"memory_limit", SETTING_SIZE, FIELD(memory_limit), MIB / 4, MIB << 20, "64MiB"},
    {"batch_jobs_per_seed", SETTING_INT, FIELD(batch_jobs_per_seed), 1, 10000, "100"},
    {"invocations_per_batch_job", SETTING_INT, FIELD(invocations_per_batch_job), 1, 1000, "1"},
    {"invocations_per_batch_job_by_type", SETTING_COUNTS, FIELD(invocations_by_type), 1, 1000, ""},
    {"batch_poll_time", SETTING_SPAN, FIELD(batch_poll_time), 1, 0, "PT30S"},
    {"batch_job_priority", SETTING_INT64, FIELD(batch_job_priority), INT64_MIN, INT64_MAX, "0"},
    {"stock", SETTING_STOCK, FIELD(stock), 0, 0, ""},
    {"http_allow", SETTING_REACH, FIELD(http_allow), REACH_ALL, 0, ""},
    {"http_deny", SETTING_REACH, FIELD(http_deny), REACH_ALL, 0, ""},
    {"http", SETTING_LIST, FIELD(http), 0, 0, ""},
    {"hosts", SETTING_LIST, FIELD(hosts), 0, 0, ""},
    {"metrics_from", SETTING_REACH, FIELD(metrics_from), REACH_NETWORKS, 0, ""},
    {"trust_proxy", SETTING_REACH, FIELD(trust_proxy), REACH_PEERS, 0, ""},
    {"user_scopes", SETTING_USERS, FIELD(user_scopes), 0, 0, NULL},
    {"cors_origins", SETTING_ORIGINS, FIELD(cors_origins), 0, 0, ""},
    {"connections", SETTING_INT, FIELD(connections), 1, 100000, "1024"},
    {"body_max", SETTING_SIZE, FIELD(body_max), 1024, 512 * MIB, "8MiB"},
    {"request_time_to_live", SETTING_SPAN, FIELD(request_ttl), 1, 0, "P1D"},
    {"patience", SETTING_SPAN, FIELD(patience), 0, 0, "PT5S"},
    {"payload_limit", SETTING_SIZE, FIELD(payload_max), 1, 512 * MIB, "1MiB"},
};
#define ROWS (sizeof table / sizeof *table)

_Static_assert(ROWS <= sizeof((struct settings *)0)->origin / sizeof(enum setting_origin),
               "every row has an origin");
_Static_assert(FIELD(workers_max) == FIELD(workers_min) + sizeof(int), "a pair");
_Static_assert(FIELD(priority_max) == FIELD(priority_min) + sizeof(int64_t), "a pair");

static const char *names[ROWS + 1];

/* Before main, so that no two threads meet here. */
static void __attribute__((constructor)) names_fill(void) {
    for (size_t i = 0; i < ROWS; i++)
        names[i] = table[i].name;
}

const char *const *settings_names(void) {
    return names;
}

static bool apply_default(struct settings *settings, const char *name, const char *text,
                          struct error *error) {
    return settings_apply_text(settings, ORIGIN_DEFAULT, name, text, error);
}

/* What the machine says: host, user, processors. */
static bool apply_surroundings(struct settings *settings, struct error *error) {
    char host[JOB_NAME_MAX + 1] = "", workers[24], room[4096];
    struct passwd entry, *user = NULL;
    if (gethostname(host, sizeof host - 1) != 0 || !host[0])
        strcpy(host, "localhost");
    getpwuid_r(geteuid(), &entry, room, sizeof room, &user);
    int processors = (int)clamp(sysconf(_SC_NPROCESSORS_ONLN), 1, 1024);
    snprintf(workers, sizeof workers, "%d", processors);
    return apply_default(settings, "name", host, error) &&
           apply_default(settings, "who", user ? user->pw_name : "unknown", error) &&
           apply_default(settings, "workers", workers, error);
}

bool settings_init(struct settings *settings, struct error *error) {
    *settings = (struct settings){
        .history_ttl_incidents = -1, .history_ttl_batches = -1, .history_ttl_operations = -1};
    for (size_t i = 0; i < ROWS; i++)
        if (table[i].initial && !apply_default(settings, table[i].name, table[i].initial, error))
            return false;
    return apply_surroundings(settings, error);
}

/* How a field is kept: most are values. */
static bool is_text(const struct setting *setting) {
    return setting->kind == SETTING_TEXT || setting->kind == SETTING_STORE;
}

static bool is_json(const struct setting *setting) {
    static const bool kinds[SETTING_KINDS] = {
        [SETTING_LIST] = true,    [SETTING_STOCK] = true, [SETTING_REACH] = true,
        [SETTING_ORIGINS] = true, [SETTING_USERS] = true, [SETTING_NOTIFY] = true,
        [SETTING_COUNTS] = true,  [SETTING_SPANS] = true, [SETTING_ACQUISITIONS] = true,
    };
    return kinds[setting->kind];
}

void settings_clear(struct settings *settings) {
    for (size_t i = 0; i < ROWS; i++) {
        void *field = (char *)settings + table[i].offset;
        if (is_text(&table[i]))
            free(*(char **)field);
        else if (is_json(&table[i]))
            json_decref(*(json_t **)field);
    }
    *settings = (struct settings){0};
}

static bool copy_value(const struct setting *setting, struct settings *copy) {
    void *field = (char *)copy + setting->offset;
    char **text = field;
    json_t **list = field;
    if (is_text(setting) && *text)
        return (*text = strdup(*text)) != NULL;
    if (is_json(setting) && *list)
        return (*list = json_deep_copy(*list)) != NULL;
    return true;
}

bool settings_copy(struct settings *copy, const struct settings *settings, struct error *error) {
    bool copied = true;
    *copy = *settings;
    for (size_t i = 0; i < ROWS; i++) /* all of them: none may stay shared */
        copied = copy_value(&table[i], copy) && copied;
    return copied || error_no_memory(error);
}

static const struct setting *find(const char *name) {
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

enum setting_origin settings_origin(const struct settings *settings, const char *name) {
    return settings->origin[find(name) - table];
}

/* Bad values from a file or the environment are configuration, from a flag usage. */
static enum error_code code_of(enum setting_origin origin) {
    static const enum error_code codes[] = {
        [ORIGIN_DEFAULT] = ERROR_CONFIG,     [ORIGIN_FILE] = ERROR_CONFIG,
        [ORIGIN_ENVIRONMENT] = ERROR_CONFIG, [ORIGIN_FLAG] = ERROR_USAGE,
        [ORIGIN_OPTION] = ERROR_INVALID,
    };
    return codes[origin];
}

/* The name as its origin spells it: "--lock-time", "MOONSHIFT_LOCK_TIME", "moonshift.lua: …". */
static void write_label(char *label, size_t size, enum setting_origin origin, const char *name,
                        const char *where) {
    const char *before = origin == ORIGIN_FLAG ? "--" : "";
    if (origin == ORIGIN_ENVIRONMENT)
        before = "MOONSHIFT_";
    int start = snprintf(label, size, "%s%s", where ? where : "", where ? ": " : "");
    if (start < 0 || (size_t)start >= size)
        return;
    snprintf(label + start, size - (size_t)start, "%s%s", before, name);
    for (char *at = label + start; *at; at++) {
        if (origin == ORIGIN_FLAG && *at == '_')
            *at = '-';
        if (origin == ORIGIN_ENVIRONMENT)
            *at = (char)toupper((unsigned char)*at);
    }
}

/* Where others count milliseconds. */
static const char *unit_of(const char *name) {
    const struct setting *setting = find(name);
    bool span = setting && (setting->kind == SETTING_SPAN || setting->kind == SETTING_SPAN_OFF ||
                            setting->kind == SETTING_SPAN_AS);
    return span ? ", in seconds or as \"PT5M\"" : "";
}

static bool refuse_name(enum setting_origin origin, const char *name, const char *where,
                        struct error *error) {
    const char *before = where ? where : "", *colon = where ? ": " : "";
    const char *here = alias_setting(name), *hint = alias_hint(name);
    char what[1024];
    if (hint)
        return error_set(error, code_of(origin), "%s%sunknown setting \"%.100s\" (here: %s)",
                         before, colon, name, hint);
    if (here && *here)
        return error_set(error, code_of(origin),
                         "%s%sunknown setting \"%.100s\" (here it is \"%s\"%s)", before, colon,
                         name, here, unit_of(here));
    if (here)
        return error_set(error, code_of(origin),
                         "%s%sunknown setting \"%.100s\" (nothing here needs it)", before, colon,
                         name);
    snprintf(what, sizeof what, "%s%sunknown setting", before, colon);
    return error_unknown(error, code_of(origin), what, name, settings_names(), NULL);
}

static bool apply(struct settings *settings, enum setting_origin origin,
                  const struct setting *setting, const json_t *value, const char *where,
                  struct error *error) {
    char label[256];
    struct error cause = {0};
    enum setting_origin *present = &settings->origin[setting - table];
    if (*present > origin)
        return true;
    write_label(label, sizeof label, origin, setting->name, where);
    if (!setting_set(setting, settings, value, label, &cause))
        return error_set(error, cause.code == ERROR_INVALID ? code_of(origin) : cause.code, "%s",
                         cause.text);
    *present = origin;
    return true;
}

bool settings_apply(struct settings *settings, enum setting_origin origin, const json_t *values,
                    const char *where, struct error *error) {
    if (!json_is_object(values))
        return error_set(error, code_of(origin), "%s: expected a table of settings",
                         where ? where : "settings");
    for (void *at = json_object_iter(json_unchanged(values)); at;
         at = json_object_iter_next(json_unchanged(values), at)) {
        const struct setting *setting = find(json_object_iter_key(at));
        if (!setting)
            return refuse_name(origin, json_object_iter_key(at), where, error);
        if (!apply(settings, origin, setting, json_object_iter_value(at), where, error))
            return false;
    }
    return true;
}

bool settings_apply_text(struct settings *settings, enum setting_origin origin, const char *name,
                         const char *text, struct error *error) {
    const struct setting *setting = find(name);
    if (!setting)
        return refuse_name(origin, name, NULL, error);
    if (!utf8_valid(text, strlen(text), NULL))
        return error_set(error, code_of(origin), "%s: not valid UTF-8", name);
    json_t *value = setting_from_text(setting, text);
    bool ok = value ? apply(settings, origin, setting, value, NULL, error) : error_no_memory(error);
    json_decref(value);
    return ok;
}

static bool apply_variable(struct settings *settings, const char *variable, struct error *error) {
    char name[64];
    const char *given = variable + strlen("MOONSHIFT_"), *equals = strchr(given, '=');
    size_t size = (size_t)(equals - given);
    bool fits = size < sizeof name;
    for (size_t i = 0; fits && i < size; i++)
        name[i] = (char)tolower((unsigned char)given[i]);
    name[fits ? size : 0] = 0;
    const struct setting *setting = find(name);
    if (setting)
        return settings_apply_text(settings, ORIGIN_ENVIRONMENT, name, equals + 1, error);
    const char *meant = suggest(name, settings_names());
    if (!meant)
        return error_set(error, ERROR_CONFIG, "unknown variable \"MOONSHIFT_%.*s\"", (int)size,
                         given);
    char label[256];
    write_label(label, sizeof label, ORIGIN_ENVIRONMENT, meant, NULL);
    return error_set(error, ERROR_CONFIG,
                     "unknown variable \"MOONSHIFT_%.*s\" (did you mean \"%s\"?)", (int)size, given,
                     label);
}

/* Variables of the program that are no settings. */
static bool is_foreign(const char *variable) {
    return strncmp(variable, "MOONSHIFT_DIR=", 14) == 0 ||
           strncmp(variable, "MOONSHIFT_YES=", 14) == 0 ||
           strncmp(variable, "MOONSHIFT_LOG_", 14) == 0 ||
           strncmp(variable, "MOONSHIFT_", 10) != 0 || !strchr(variable, '=');
}

bool settings_apply_environment(struct settings *settings, struct error *error) {
    for (char **variable = environ; variable && *variable; variable++)
        if (!is_foreign(*variable) && !apply_variable(settings, *variable, error))
            return false;
    return true;
}

/* A rule between settings is broken; `name` is the one to blame. */
static bool refuse_rule(const struct settings *settings, const char *name, const char *problem,
                        struct error *error) {
    char label[256];
    enum setting_origin origin = settings->origin[find(name) - table];
    write_label(label, sizeof label, origin, name, origin == ORIGIN_FILE ? "moonshift.lua" : NULL);
    return error_set(error, code_of(origin), "%s: %s", label, problem);
}

static bool check_window(const struct settings *settings, struct error *error) {
    struct window window;
    struct error cause = {0};
    bool zone = zone_find(settings->history_cleanup_zone, &cause) != NULL;
    if (zone && window_read(&window, settings->history_cleanup_window,
                            settings->history_cleanup_zone, &cause))
        return true;
    return refuse_rule(settings, zone ? "history_cleanup_window" : "history_cleanup_zone",
                       cause.text, error);
}

static bool check_zone(const struct settings *settings, struct error *error) {
    struct error cause = {0};
    return zone_find(settings->zone, &cause) != NULL ||
           refuse_rule(settings, "zone", cause.text, error);
}

static bool check_server(const struct settings *settings, const char *name, const char *url,
                         struct error *error) {
    char shown[STORE_SHOWN], problem[STORE_SHOWN + 80];
    if (!url || store_url_server(url))
        return true;
    snprintf(problem, sizeof problem, "\"%s\" is no server (expected postgres://…)",
             store_url_show(url, shown));
    return refuse_rule(settings, name, problem, error);
}

static bool check_servers(const struct settings *settings, struct error *error) {
    return check_server(settings, "listen_url", settings->listen_url, error) &&
           check_server(settings, "read_url", settings->read_url, error);
}

bool settings_check(const struct settings *settings, struct error *error) {
    char problem[128], backoff[TIME_TEXT_SIZE], limit[TIME_TEXT_SIZE];
    if (settings->priority_min > settings->priority_max) {
        snprintf(problem, sizeof problem, "min %lld is above max %lld",
                 (long long)settings->priority_min, (long long)settings->priority_max);
        return refuse_rule(settings, "priority_range", problem, error);
    }
    if (settings->aging > 0 && settings->fair_by != FAIR_OFF)
        return refuse_rule(settings, "aging", "does not go with fair_by (expected one of the two)",
                           error);
    if (settings->backoff > settings->max_backoff) {
        span_format(settings->backoff, backoff);
        span_format(settings->max_backoff, limit);
        snprintf(problem, sizeof problem, "%s is longer than max_backoff, %s", backoff, limit);
        return refuse_rule(settings, "backoff", problem, error);
    }
    return check_servers(settings, error) && check_zone(settings, error) &&
           check_window(settings, error);
}

bool settings_given(const struct settings *settings, const char *name) {
    return settings->origin[find(name) - table] != ORIGIN_DEFAULT;
}

void settings_label(const struct settings *settings, const char *name, char *label, size_t size) {
    enum setting_origin origin = settings->origin[find(name) - table];
    write_label(label, size, origin, name, NULL);
}

static json_t *row_to_json(const struct settings *settings, size_t row) {
    static const char *const origins[] = {
        [ORIGIN_DEFAULT] = "default",         [ORIGIN_FILE] = "moonshift.lua",
        [ORIGIN_ENVIRONMENT] = "environment", [ORIGIN_FLAG] = "flag",
        [ORIGIN_OPTION] = "option",
    };
    json_t *object = json_object(), *value = setting_value(&table[row], settings);
    char *text = setting_text(&table[row], settings);
    bool fine = object && value && text && json_put_text(object, "name", table[row].name) &&
                json_put(object, "value", json_incref(value)) &&
                json_put_text(object, "origin", origins[settings->origin[row]]) &&
                json_put_text(object, "text", text) &&
                json_put(object, "known_as", alias_names(table[row].name));
    free(text);
    json_decref(value);
    return json_kept(object, fine);
}

json_t *settings_to_json(const struct settings *settings) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < ROWS; i++) {
        if (json_array_append_new(list, row_to_json(settings, i)) != 0)
            return json_kept(list, false);
    }
    return list;
}
