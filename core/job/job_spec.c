#include "job/job_spec.h"
#include "base/json.h"
#include "base/text.h"
#include "job/stock.h"
#include "time/instant.h"
#include "time/repeat.h"
#include "time/span.h"
#include <stdlib.h>
#include <string.h>

/* A bit for a key, the same for a few others. All keys have two letters. */
static inline uint64_t mark(const char *key) {
    return UINT64_C(1) << (((unsigned)key[0] * 3 + (unsigned)key[1] * 5 + (unsigned)key[2]) & 63);
}

static uint64_t marks(json_t *object) {
    uint64_t all = 0;
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        const char *key = json_object_iter_key(at);
        all |= key[0] && key[1] ? mark(key) : 0;
    }
    return all;
}

/* A member that is absent or null: NULL. */
static inline const json_t *member(const struct job_spec *spec, const char *key) {
    if (!(spec->marks & mark(key)))
        return NULL;
    const json_t *value = json_object_get(spec->object, key);
    return json_is_null(value) ? NULL : value;
}

#define NAME_KEY(member, type, key, source, column, said, ...) JOB_SAID_##said(key, )

static bool check_keys(const json_t *object, bool schedule, struct error *error) {
    static const char *const keys[] = {JOB_FIELDS(NAME_KEY) "payload",
                                       "at",
                                       "due",
                                       "after",
                                       "in",
                                       "priority",
                                       "exclusive",
                                       "retries",
                                       "unchecked",
                                       "cycle",
                                       "repeat",
                                       "zone",
                                       "misfire",
                                       "unique",
                                       "on_conflict",
                                       "unique_for",
                                       NULL};
    for (void *at = json_object_iter(json_unchanged(object)); at;
         at = json_object_iter_next(json_unchanged(object), at)) {
        const char *key = json_object_iter_key(at);
        if (!is_one_of(key, keys) && !(schedule && schedule_policy_key(key)))
            return error_unknown(error, ERROR_INVALID, "job: unknown key", key, keys, NULL);
    }
    return true;
}

static bool check_name(const char *key, const char *text, size_t size, struct error *error) {
    if (size == 0)
        return error_set(error, ERROR_INVALID, "%s: expected a text that is not empty", key);
    if (size > JOB_NAME_MAX)
        return error_set(error, ERROR_INVALID, "%s \"%.40s…\": %zu bytes, at most %d are allowed",
                         key, text, size, JOB_NAME_MAX);
    return (strlen(text) == size && !utf8_has_control(text)) ||
           error_set(error, ERROR_INVALID, "%s: control characters are not allowed", key);
}

static bool read_name(const struct job_spec *spec, const char *key, const char **name,
                      struct error *error) {
    const json_t *value = member(spec, key);
    if (!value)
        return true;
    if (!json_is_string(value))
        return json_refuse(key, value, "a text", error);
    *name = json_string_value(value);
    return check_name(key, *name, json_string_length(value), error);
}

/* Jobs of these are made by commands and by the engine itself, never by name. */
static bool check_handler(const char *handler, struct error *error) {
    const char *prefix = job_reserved(handler);
    return !prefix ||
           error_set(error, ERROR_INVALID,
                     "handler \"%.255s\": names under %s are reserved (expected another handler)",
                     handler, prefix);
}

static bool check_trace(const struct job *job, struct error *error) {
    return !job->trace || trace_check("trace", job->trace, error);
}

static const char **name_of(struct job *job, int name) {
    return (const char **)(void *)((char *)job + spec_names[name]->at);
}

static bool read_names(struct job_spec *spec, struct error *error) {
    if (!member(spec, "handler"))
        return error_set(error, ERROR_INVALID, "handler: expected the name of a handler");
    for (int i = 0; i < SPEC_NAMES; i++)
        if (!read_name(spec, spec_names[i]->key, name_of(&spec->job, i), error))
            return false;
    return check_handler(spec->job.handler, error) && check_trace(&spec->job, error);
}

static bool take_payload(struct job_spec *spec, const char *payload, size_t size,
                         const struct spec_rules *rules, struct error *error) {
    spec->job.payload = payload;
    spec->job.payload_size = size;
    return size <= rules->payload_max ||
           error_set(error, ERROR_INVALID, "payload: %zu bytes, at most %zu are allowed", size,
                     rules->payload_max);
}

static bool read_payload(struct job_spec *spec, const struct spec_rules *rules,
                         struct error *error) {
    const json_t *payload = json_object_get(spec->object, "payload");
    if (!payload)
        return true;
    size_t size;
    spec->payload = json_write(payload, &size);
    if (!spec->payload)
        return error_no_memory(error);
    return take_payload(spec, spec->payload, size, rules, error);
}

static bool read_numbers(struct job_spec *spec, struct error *error) {
    const json_t *priority = member(spec, "priority"), *retries = member(spec, "retries");
    int64_t count = 0;
    spec->priority_given = priority != NULL;
    if (priority && !json_whole(priority, INT64_MIN, INT64_MAX, &spec->job.priority))
        return json_refuse("priority", priority, "a whole number of 64 bits", error);
    spec->retries_given = retries != NULL;
    if (retries && !json_whole(retries, 1, INT32_MAX, &count))
        return json_refuse("retries", retries, "a whole number from 1 to 2147483647", error);
    spec->job.retries = (int32_t)count;
    return true;
}

static bool read_flag(const struct job_spec *spec, const char *key, bool *flag,
                      struct error *error) {
    const json_t *value = member(spec, key);
    if (value && !json_is_boolean(value))
        return json_refuse(key, value, "true or false", error);
    if (value)
        *flag = json_is_true(value);
    return true;
}

static bool read_flags(struct job_spec *spec, struct error *error) {
    struct job *job = &spec->job;
    job->exclusive = job->lane || job->instance;
    return read_flag(spec, "exclusive", &job->exclusive, error) &&
           read_flag(spec, "unchecked", &spec->unchecked, error);
}

static bool read_at(const char *key, const json_t *value, const struct spec_rules *rules,
                    time_ms now, time_ms *due, struct error *error) {
    if (!json_is_string(value))
        return json_refuse(key, value, "a time such as \"2026-12-24T18:00:00Z\"", error);
    const struct zone *zone = zone_find(rules->zone, error);
    struct wall wall = wall_of_zone(zone);
    struct error cause = {0};
    return zone && (instant_parse(json_string_value(value), &wall, now, due, NULL, &cause) ||
                    error_set(error, cause.code, "%s: %s", key, cause.text));
}

static bool read_after(const char *key, const json_t *value, time_ms now, time_ms *due,
                       struct error *error) {
    struct span span;
    if (!span_from_json(value, key, &span, error))
        return false;
    *due = span_add(now, &span);
    return true;
}

/* What the due date can be counted from again: an ISO 8601 text as it was given, else what it came
 * to. */
static void keep_term(struct job_spec *spec, const json_t *value, bool relative, time_ms now) {
    const char *text = json_string_value(value);
    time_ms time;
    bool zoned = false;
    bool iso = text && (*text == 'P' || (time_parse_local(text, &time, &zoned, NULL) && zoned));
    if (!iso && relative)
        span_format(spec->job.due - now, spec->term);
    else if (!iso)
        time_format(spec->job.due, spec->term);
    spec->job.term = iso ? text : spec->term;
}

static bool read_due(struct job_spec *spec, const struct spec_rules *rules, time_ms now,
                     struct error *error) {
    static const char *const keys[] = {"at", "due", "after", "in"};
    const char *given = NULL;
    spec->job.due = rules->ensure_due_date ? now : TIME_NONE;
    for (size_t i = 0; i < 4; i++) {
        if (!member(spec, keys[i]))
            continue;
        if (given)
            return error_set(error, ERROR_INVALID,
                             "%s and %s: expected only one of at, due, after, in", given, keys[i]);
        given = keys[i];
    }
    if (!given)
        return true;
    spec->job.type = JOB_TIMER;
    const json_t *value = member(spec, given);
    bool relative = given[0] != 'd' && given[1] != 't';
    if (!(relative ? read_after(given, value, now, &spec->job.due, error)
                   : read_at(given, value, rules, now, &spec->job.due, error)))
        return false;
    keep_term(spec, value, relative, now);
    return true;
}

/* ---- repeating jobs ---- */

static bool read_misfire(struct job_spec *spec, struct error *error) {
    const char *text = NULL;
    return read_name(spec, "misfire", &text, error) &&
           (!text || misfire_parse(text, &spec->misfire, error));
}

bool job_spec_repeat(struct job_spec *spec, time_ms now, struct error *error) {
    struct job *job = &spec->job;
    struct cycle cycle;
    spec->starts = job->type == JOB_TIMER;
    spec->origin = spec->starts ? job->due : now;
    struct repeat repeat = {job->repeat, spec->zone, spec->origin, spec->starts};
    if (!repeat_open(&repeat, &cycle, error))
        return false;
    job->type = JOB_TIMER;
    job->term = NULL;
    job->due = repeat_first(&repeat, &cycle, now);
    return job->due != TIME_NEVER ||
           error_set(error, ERROR_CONFLICT, "cycle \"%s\": has no date left", job->repeat);
}

/* A schedule's dates are spread: its first, too. Its name is known to those who give it one. */
static bool read_policy(struct job_spec *spec, const struct spec_rules *rules,
                        struct error *error) {
    return !rules->schedule || schedule_policy_read(spec->object, &spec->policy, error);
}

static bool read_repeat(struct job_spec *spec, time_ms now, struct error *error) {
    return read_misfire(spec, error) && job_spec_repeat(spec, now, error);
}

static bool read_cycle(struct job_spec *spec, const struct spec_rules *rules, time_ms now,
                       struct error *error) {
    struct job *job = &spec->job;
    bool cycle = member(spec, "cycle"), alias = member(spec, "repeat");
    const char *stray = member(spec, "misfire") ? "misfire" : NULL;
    if (member(spec, "zone"))
        stray = "zone";
    if (cycle && alias)
        return error_set(error, ERROR_INVALID, "cycle and repeat: expected only one");
    if (!cycle && !alias)
        return !stray || error_set(error, ERROR_INVALID, "%s: expected a cycle beside it", stray);
    spec->zone = rules->zone;
    return read_name(spec, alias ? "repeat" : "cycle", &job->repeat, error) &&
           read_name(spec, "zone", &spec->zone, error) && read_repeat(spec, now, error);
}

/* ---- unique jobs ---- */

static bool read_unique_for(struct job_spec *spec, time_ms now, struct error *error) {
    const json_t *value = member(spec, "unique_for");
    struct span span;
    if (!value)
        return true;
    if (!span_from_json(value, "unique_for", &span, error))
        return false;
    spec->unique_until = span_add(now, &span);
    return spec->unique_until > now ||
           json_refuse("unique_for", value, "a duration longer than 0, such as \"5m\"", error);
}

static bool read_unique(struct job_spec *spec, time_ms now, struct error *error) {
    const char *text = NULL;
    if (!read_name(spec, "unique", &spec->job.unique_key, error) ||
        !read_name(spec, "on_conflict", &text, error) ||
        (text && !on_conflict_parse(text, &spec->on_conflict, error)))
        return false;
    spec->on_conflict_given = text != NULL;
    return read_unique_for(spec, now, error);
}

bool job_spec_keyed(const struct job_spec *spec, struct error *error) {
    const struct job *job = &spec->job;
    const char *stray = member(spec, "unique_for") ? "unique_for" : NULL;
    if (spec->on_conflict_given)
        stray = "on_conflict";
    return !stray || job->unique_key || spec->needs_unique ||
           error_set(error, ERROR_INVALID, "%s: expected unique beside it", stray);
}

void job_spec_begin(struct job_spec *spec, time_ms now) {
    spec->marks = marks(spec->object);
    spec->job.created = now;
    spec->job.attempt = 1;
    spec->job.lock_expiration = TIME_NONE;
    spec->unique_until = TIME_NONE;
}

/* Reads what stands beside the names and the payload. */
static bool read_rest(struct job_spec *spec, const struct spec_rules *rules, time_ms now,
                      struct error *error) {
    if (!read_numbers(spec, error) || !read_flags(spec, error))
        return false;
    if (!read_due(spec, rules, now, error) || !read_cycle(spec, rules, now, error))
        return false;
    return read_policy(spec, rules, error) && read_unique(spec, now, error);
}

bool job_spec_read(struct job_spec *spec, json_t *object, const struct spec_rules *rules,
                   time_ms now, struct error *error) {
    *spec = (struct job_spec){.object = json_incref(object)};
    job_spec_begin(spec, now);
    if (!json_is_object(object))
        return error_set(error, ERROR_INVALID, "job: expected an object with a handler");
    if (!check_keys(object, rules->schedule, error) || !read_names(spec, error))
        return false;
    return read_payload(spec, rules, error) && read_rest(spec, rules, now, error);
}

static bool take_names(struct job_spec *spec, const struct spec_fast *fast, struct error *error) {
    for (int i = 0; i < SPEC_NAMES; i++) {
        const char *name = *name_of(&spec->job, i) = fast->names[i];
        if (name && !check_name(spec_names[i]->key, name, fast->sizes[i], error))
            return false;
    }
    return check_handler(spec->job.handler, error) && check_trace(&spec->job, error);
}

bool job_spec_fast(struct job_spec *spec, const struct spec_fast *fast,
                   const struct spec_rules *rules, time_ms now, struct error *error) {
    *spec = (struct job_spec){.object = json_incref(fast->rest), .unchecked = fast->unchecked};
    job_spec_begin(spec, now);
    if (fast->rest && !check_keys(fast->rest, false, error))
        return false;
    if (!take_names(spec, fast, error) ||
        !take_payload(spec, fast->payload, fast->payload_size, rules, error) ||
        !read_rest(spec, rules, now, error))
        return false;
    spec->job.priority = fast->priority;
    spec->priority_given = fast->priority_given;
    return true;
}

/* With lane_scope = "root" the whole hierarchy is one lane (rules §4): what inherits the root is in
 * it too, unless it says that it is not exclusive. */
static void define_lane(struct job_spec *spec, const struct spec_rules *rules) {
    struct job *job = &spec->job;
    if (rules->lane_of_root && job->root && !member(spec, "exclusive"))
        job->exclusive = true;
    if (!job->lane && rules->lane_of_root)
        job->lane = job->root;
    if (!job->lane)
        job->lane = job->instance;
    job->lane_id = job->lane && job->exclusive ? job_lane_id(job->lane) : 0;
}

/* Who decides (rules §7); an override in the store goes before the definition's own. */
static void define_priority(struct job_spec *spec, const struct definition *definition,
                            const struct spec_rules *rules) {
    struct job *job = &spec->job;
    if (!rules->produce_priorities) {
        job->priority = 0;
        spec->priority_given = true; /* an override does not raise it either */
    } else if (!spec->priority_given) {
        job->priority =
            definition && definition->has_priority ? definition->priority : rules->priority;
        spec->needs_priority = definition && definition->priority_function;
    }
}

static void define_unique(struct job_spec *spec, const struct definition *definition) {
    struct job *job = &spec->job;
    if (!definition)
        return;
    spec->needs_unique = definition->unique_function && !job->unique_key;
    if (!spec->on_conflict_given)
        spec->on_conflict = definition->on_conflict;
    if (spec->unique_until == TIME_NONE && definition->unique_for)
        spec->unique_until = job->created + definition->unique_for;
}

void job_spec_define(struct job_spec *spec, const struct definition *definition,
                     const struct spec_rules *rules) {
    struct job *job = &spec->job;
    if (!spec->retries_given)
        job->retries = definition && definition->retries ? definition->retries : rules->retries;
    spec->needs_retries = definition && definition->retries_asked && !spec->retries_given;
    if (!job->category && definition)
        job->category = definition->category;
    define_lane(spec, rules);
    define_priority(spec, definition, rules);
    define_unique(spec, definition);
}

void job_spec_define_modelled(struct job_spec *spec, const struct definition *definition,
                              const struct spec_rules *rules) {
    job_spec_define(spec, definition, rules);
    if (rules->produce_priorities)
        spec->priority_given = false;
}

void job_spec_inherit(struct job_spec *spec, const struct job *creator) {
    struct job *job = &spec->job;
    if (!job->root)
        job->root = creator->root ? creator->root : creator->instance;
    if (!job->tenant)
        job->tenant = creator->tenant;
    job_spec_trace(spec, creator);
}

void job_spec_trace(struct job_spec *spec, const struct job *creator) {
    if (!creator->trace || spec->job.trace)
        return;
    job_trace(creator, spec->trace);
    spec->job.trace = spec->trace;
}

void job_spec_clear(struct job_spec *spec) {
    json_decref(spec->object);
    free(spec->payload);
    free(spec->unique);
    *spec = (struct job_spec){0};
}

#define JOB_TEXT_AT(member, type, ...) JOB_TEXTS_##type(offsetof(struct job_spec, job.member), )
#define SAID_TEXT_AT(member, type) JOB_TEXTS_##type(offsetof(struct job_spec, member), )

struct job_spec *job_spec_copy(const struct job_spec *spec) {
    static const size_t texts[] = {JOB_FIELDS(JOB_TEXT_AT) JOB_SAID_FIELDS(SAID_TEXT_AT)};
    struct job_spec *copy = job_copy_of(spec, sizeof *spec, texts, sizeof texts / sizeof *texts);
    if (!copy)
        return NULL;
    copy->next = NULL;
    copy->object = NULL;
    copy->payload = copy->unique = NULL;
    return copy;
}

void job_spec_free_list(struct job_spec *spec) {
    while (spec) {
        struct job_spec *next = spec->next;
        free(spec);
        spec = next;
    }
}

const char *creation_name(enum creation creation) {
    static const char *const names[] = {
        [CREATION_CREATED] = "created",
        [CREATION_KEPT] = "kept",
        [CREATION_REPLACED] = "replaced",
        [CREATION_REFUSED] = "refused",
    };
    return names[creation];
}

struct spec_rules spec_rules(const struct write_rules *rules) {
    return (struct spec_rules){.payload_max = (size_t)rules->payload_max,
                               .retries = rules->retries,
                               .ensure_due_date = rules->ensure_due_date,
                               .produce_priorities = rules->produce_priorities,
                               .lane_of_root = rules->lane_of_root,
                               .priority = rules->priority,
                               .zone = strcmp(rules->zone, "UTC") ? rules->zone : NULL};
}

/* ---- unknown handlers ---- */

#define KNOWN_MAX 10 /* names shown in a refusal */

static const char *close_name(const json_t *names, const char *handler) {
    size_t count = json_array_size(names);
    const char **list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        list[i] = json_string_value(json_array_get(names, i));
    const char *found = list ? suggest(handler, list) : NULL;
    free(list);
    return found;
}

/* Those that somebody has written: what is in the box would hide them. */
static struct text own_names(const json_t *names) {
    struct text known = {0};
    size_t i, count = 0;
    const json_t *one;
    json_array_foreach(names, i, one) {
        const char *name = json_string_value(one);
        if (job_reserved(name) || strncmp(name, "batch/", 6) == 0 || stock_is(name))
            continue;
        if (count++ == KNOWN_MAX) {
            text_add(&known, ", …");
            break;
        }
        text_add(&known, "%s%s", count > 1 ? ", " : "", name);
    }
    return known;
}

bool job_spec_unknown(const char *handler, const json_t *names, struct error *error) {
    const char *meant = close_name(names, handler);
    struct text known = own_names(names);
    if (!stock_has(NULL, handler))
        error_set(error, ERROR_NOT_FOUND,
                  "unknown handler \"%s\" (a stock handler for which the folder must ask: stock = "
                  "{ \"%s\" } in moonshift.lua)",
                  handler, handler);
    else if (meant)
        error_set(error, ERROR_NOT_FOUND, "unknown handler \"%s\" (did you mean \"%s\"?)", handler,
                  meant);
    else
        error_set(error, ERROR_NOT_FOUND, "unknown handler \"%s\" (known: %s)", handler,
                  known.data ? known.data : "none");
    text_clear(&known);
    return false;
}
