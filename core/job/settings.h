/* settings.h - every setting: name, kind, default, value, and where the value came from
 * (rules §19; §3: the range).
 *
 * Precedence: flags > MOONSHIFT_… variables > moonshift.lua > defaults. A new setting is a row of
 * the table in settings.c and a field here. */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "job/write_rules.h"
#include <jansson.h>

enum setting_origin { ORIGIN_DEFAULT, ORIGIN_FILE, ORIGIN_ENVIRONMENT, ORIGIN_FLAG, ORIGIN_OPTION };

/* Whose jobs take turns inside a priority. */
enum fair_by { FAIR_OFF, FAIR_TENANT, FAIR_LANE };

enum missing_handlers { MISSING_REFUSE, MISSING_INCIDENT }; /* of processes */

enum model_cron { CRON_AUTO, CRON_QUARTZ, CRON_UNIX }; /* numbers of weekdays in models */

struct settings {
    /* store and identity */
    char *store;      /* URL, default "sqlite:moonshift.db" */
    char *listen_url; /* of a store on a server: a way without a pool; NULL: as `store` */
    char *read_url;   /* a replica of it, which is asked for lists; NULL: none */
    char *state_dir;  /* of crash slots of a store on a server, default the script folder */
    char *name;       /* executor name, default the host name */
    char *deployment; /* how the script folder is called; NULL: as its path */
    /* executor */
    bool active;
    int workers_min, workers_max; /* equal unless given as {core, max}; default: processors */
    time_ms keep_alive;
    int queue, page; /* at most so many jobs; 0: auto, see settings_queue and settings_page */
    int lane_run;
    json_t *acquisitions; /* name -> settings of acquisition; an object or NULL: none */
    char *acquisition;    /* whose loop thread and acquisition settings the engine shares */
    int64_t priority_min, priority_max;
    json_t *categories; /* array or NULL: all */
    bool by_priority, prefer_timers, by_due_date, deployment_aware;
    time_ms aging; /* 0: off */
    enum fair_by fair_by;
    time_ms wait, max_wait;
    double wait_factor;
    time_ms backoff, max_backoff;
    int backoff_decrease_threshold;
    time_ms queue_full_wait, lock_time, shutdown_wait;
    int conflict_limit, recycle_after;
    /* what is written; `write` is all of it */
    union {
        struct write_rules write;
        struct {
            WRITE_RULES(WRITE_RULE_MEMBER)
        };
    };
    /* jobs */
    char *retry; /* configuration text or file name; NULL: standard */
    /* 0: kept for ever; -1: as ended jobs */
    time_ms history_ttl_incidents, history_ttl_batches, history_ttl_operations;
    json_t *history_ttl_by_type;    /* of ended batches: ms by type, 0: for ever; or NULL */
    json_t *history_cleanup_window; /* array of texts (window.h) or NULL: none */
    char *history_cleanup_zone;
    int history_cleanup_parallelism, history_cleanup_batch_size;
    int64_t history_cleanup_priority;
    time_ms timeout;
    int64_t memory_limit; /* bytes per worker state */
    enum missing_handlers missing_handlers;
    enum model_cron cron;
    json_t *http_allow, *http_deny; /* hosts of requests (reach.h); arrays or NULL */
    json_t *http;                   /* addresses of the network face; an array or NULL: none */
    json_t *hosts;                  /* further names of this server in requests; the same */
    json_t *metrics_from;           /* networks that read /metrics without a token; the same */
    json_t *trust_proxy;            /* whose X-Forwarded-User counts: networks, "unix"; the same */
    json_t *user_scopes;            /* what those users may (user_scopes.h); an object or NULL */
    json_t *cors_origins;           /* pages that may ask (origin.h); an array or NULL: none */
    int connections;                /* of the network face, at most */
    int64_t body_max;               /* bytes of a request to it */
    json_t *stock;    /* stock handlers that the folder asks for (stock.h); array or NULL */
    time_ms patience; /* of a command whose instance runs; 0: none */
    /* batches */
    int batch_jobs_per_seed, invocations_per_batch_job;
    json_t *invocations_by_type; /* a number by type, or NULL: none */
    time_ms batch_poll_time;
    int64_t batch_job_priority;
    enum setting_origin origin[96]; /* by row of the table */
};

/* All defaults. False: no memory. settings_clear releases what it holds. */
/* The greatest page and queue that `auto` allows. How many jobs are taken depends on how long they
 * run. */
enum { PAGE_AUTO = 2000, QUEUE_AUTO = 4096 };
static inline int settings_page(const struct settings *settings) {
    return settings->page ? settings->page : PAGE_AUTO;
}
static inline int settings_queue(const struct settings *settings) {
    return settings->queue ? settings->queue : QUEUE_AUTO;
}

bool settings_init(struct settings *settings, struct error *error);
void settings_clear(struct settings *settings);
/* A copy of its own texts and lists. False: no memory; settings_clear in any case. */
bool settings_copy(struct settings *copy, const struct settings *settings, struct error *error);

/* Applies an object { name = value } from one origin; a value set by a stronger origin stays.
 * Unknown names, wrong kinds and values out of range are refused. The error has the name, the
 * value, what was expected, and the file (`where`, may be NULL). For example:
 *
 *     moonshift.lua: unknown setting "wrokers" (did you mean "workers"?)
 *
 * Spans are ISO text or seconds; priority_range is [min, max] with null for open. */
bool settings_apply(struct settings *settings, enum setting_origin origin, const json_t *values,
                    const char *where, struct error *error);

/* One setting from text, as flags and variables give it: lists by comma, ranges MIN:MAX with either
 * side empty, workers N or MIN:MAX, booleans true/false. */
bool settings_apply_text(struct settings *settings, enum setting_origin origin, const char *name,
                         const char *text, struct error *error);

/* Every MOONSHIFT_<NAME> of the environment that names a setting; an unknown one is refused, except
 * MOONSHIFT_DIR, MOONSHIFT_YES and MOONSHIFT_LOG_*. */
bool settings_apply_environment(struct settings *settings, struct error *error);

/* After the last apply: checks that span more than one setting (min > max and the like). */
bool settings_check(const struct settings *settings, struct error *error);

/* The setting as the place it was given calls it: "--retry", "MOONSHIFT_RETRY", "retry". `name`
 * must be one of the table. */
void settings_label(const struct settings *settings, const char *name, char *label, size_t size);

/* True if the setting was given: it is not just its default. */
bool settings_given(const struct settings *settings, const char *name);

/* [{ name, value, origin, text, known_as }] in table order, for `moonshift settings`; known_as: the
 * names that Camunda, Flowable and Activiti have for it. A new reference. */
json_t *settings_to_json(const struct settings *settings);

/* Where a setting's value came from. */
enum setting_origin settings_origin(const struct settings *settings, const char *name);

/* The names, NULL-terminated, for flags and suggestions. */
const char *const *settings_names(void);
