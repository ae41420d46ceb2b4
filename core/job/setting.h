/* setting.h - one setting: its kind, its place in struct settings, how it is read and shown
 * (rules §19). */
#pragma once

#include "job/settings.h"
#include <stddef.h>

enum setting_kind {
    SETTING_BOOL,
    SETTING_INT,          /* int; low and high are bounds */
    SETTING_AUTO,         /* the same; "auto" is 0 */
    SETTING_INT64,        /* int64_t */
    SETTING_FACTOR,       /* double */
    SETTING_SPAN,         /* time_ms; bounds in ms */
    SETTING_SPAN_OFF,     /* time_ms; false or "off" is 0 */
    SETTING_SPAN_AS,      /* the same; null is -1: as another setting is */
    SETTING_SIZE,         /* int64_t, bytes; "64MiB" */
    SETTING_TEXT,         /* char *, at most `high` bytes; NULL only if low is 0 */
    SETTING_STORE,        /* char *; a path without a scheme becomes "sqlite:PATH" */
    SETTING_LIST,         /* json_t *, array of texts or NULL for all */
    SETTING_NOTIFY,       /* json_t *, names of handlers by name, or NULL; see notify.h */
    SETTING_STOCK,        /* the same, names of stock handlers */
    SETTING_REACH,        /* the same, hosts and networks (reach.h); low 1: networks alone;
                             2: these and "unix" */
    SETTING_ORIGINS,      /* the same, origins of web pages (origin.h) */
    SETTING_USERS,        /* json_t *, an object or NULL; see user_scopes.h */
    SETTING_COUNTS,       /* json_t *, whole numbers from low to high by name, or NULL */
    SETTING_SPANS,        /* json_t *, ms by name, 0: off; or NULL */
    SETTING_RANGE,        /* two int64_t from `offset` on, open ends allowed */
    SETTING_WORKERS,      /* two int from `offset` on */
    SETTING_SCOPE,        /* bool: "instance" or "root" */
    SETTING_ACQUISITIONS, /* json_t *, an object of objects or NULL; see acquisitions.h */
    SETTING_FAIR,         /* enum fair_by */
    SETTING_MISSING,      /* enum missing_handlers */
    SETTING_CRON,         /* enum model_cron */
    SETTING_HISTORY       /* enum history_level */
};
#define SETTING_KINDS (SETTING_HISTORY + 1)

struct setting {
    const char *name;
    enum setting_kind kind;
    size_t offset; /* of the field in struct settings */
    int64_t low, high;
    const char *initial; /* the default as text; NULL: none, or found by settings_init */
};

/* Stores a value; `label` is what an error calls the setting. False: nothing was changed. */
bool setting_set(const struct setting *setting, struct settings *settings, const json_t *value,
                 const char *label, struct error *error);

/* The value that a flag's or variable's text stands for, yet unchecked. A new reference; NULL: no
 * memory or not UTF-8. */
json_t *setting_from_text(const struct setting *setting, const char *text);

/* The present value as setting_set takes it, null for none; a store's without its password. A new
 * reference; NULL: no memory. */
json_t *setting_value(const struct setting *setting, const struct settings *settings);

/* The present value for people, as a flag takes it: "PT5M", "64MiB", "0:100"; "-" for none.
 * Malloc'ed; NULL: no memory. */
char *setting_text(const struct setting *setting, const struct settings *settings);
