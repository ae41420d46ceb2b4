#include "base/job.h"
#include "base/json.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

#define TEXT(name) offsetof(struct job, name)
static const size_t text_fields[] = {
    TEXT(handler),    TEXT(lane),     TEXT(instance),        TEXT(root),
    TEXT(activity),   TEXT(category), TEXT(tenant),          TEXT(repeat),
    TEXT(unique_key), TEXT(message),  TEXT(failed_activity), TEXT(lock_owner),
    TEXT(config),     TEXT(zone),     TEXT(schedule),        TEXT(term),
};
#define TEXTS (sizeof text_fields / sizeof *text_fields)

static const char **text_field(struct job *job, size_t i) {
    return (const char **)(void *)((char *)job + text_fields[i]);
}

struct job *job_copy(const struct job *job) {
    struct job source = *job;
    size_t sizes[TEXTS], total = sizeof *job;
    for (size_t i = 0; i < TEXTS; i++) {
        const char *text = *text_field(&source, i);
        sizes[i] = text ? strlen(text) + 1 : 0;
        total += sizes[i];
    }
    struct job *copy = malloc(total + (job->payload ? job->payload_size + 1 : 0));
    if (!copy)
        return NULL;
    *copy = source;
    copy->next = NULL;
    char *room = (char *)(copy + 1);
    for (size_t i = 0; i < TEXTS; i++) {
        if (sizes[i] == 0)
            continue;
        *text_field(copy, i) = memcpy(room, *text_field(&source, i), sizes[i]);
        room += sizes[i];
    }
    if (job->payload) {
        copy->payload = memcpy(room, job->payload, job->payload_size);
        room[job->payload_size] = 0;
    }
    return copy;
}

void job_free(struct job *job) {
    free(job);
}

void job_free_list(struct job *job) {
    while (job) {
        struct job *next = job->next;
        free(job);
        job = next;
    }
}

/* FNV-1a. */
int64_t job_lane_id(const char *lane) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (; *lane; lane++)
        hash = (hash ^ (unsigned char)*lane) * UINT64_C(0x100000001B3);
    int64_t id = (int64_t)((hash ^ hash >> 63) & INT64_MAX);
    return id ? id : 1;
}

const char *job_reserved(const char *handler) {
    static const char *const prefixes[] = {"moonshift/", "process/"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(handler, prefixes[i], strlen(prefixes[i])) == 0)
            return prefixes[i];
    return NULL;
}

const char *job_state_name(enum job_state state) {
    static const char *const names[] = {
        [JOB_READY] = "ready",     [JOB_SCHEDULED] = "scheduled", [JOB_LOCKED] = "locked",
        [JOB_WAITING] = "waiting", [JOB_SUSPENDED] = "suspended", [JOB_DEAD] = "dead",
    };
    return names[state];
}

const char *job_type_name(enum job_type type) {
    return type == JOB_TIMER ? "timer" : "message";
}

const char *creation_name(enum creation creation) {
    static const char *const names[] = {
        [CREATION_CREATED] = "created",
        [CREATION_KEPT] = "kept",
        [CREATION_REPLACED] = "replaced",
    };
    return names[creation];
}

bool on_conflict_parse(const char *text, enum on_conflict *on_conflict, struct error *error) {
    static const char *const names[] = {
        [ON_CONFLICT_KEEP] = "keep",
        [ON_CONFLICT_REPLACE] = "replace",
        [ON_CONFLICT_REFUSE] = "refuse",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            *on_conflict = (enum on_conflict)i;
            return true;
        }
    return error_set(error, ERROR_INVALID, "on_conflict \"%s\": expected keep, replace or refuse",
                     text);
}

/* An id, or NULL for the 0 that stands for none. */
static json_t *number_or_none(int64_t number) {
    return number ? json_integer(number) : NULL;
}

static json_t *payload_to_json(const struct job *job) {
    if (!job->payload)
        return json_object();
    json_t *value = json_read(job->payload, job->payload_size, "payload", NULL);
    if (value)
        return value;
    /* Damaged by somebody else's hand: show what is there. */
    char *clean = utf8_clean(job->payload, job->payload_size, job->payload_size * 3);
    value = clean ? json_string(clean) : NULL;
    free(clean);
    return value;
}

/* The number of the present or the next run; of a dead job, which has no next, of its last. */
static int32_t attempt_shown(const struct job *job) {
    return job->state == JOB_DEAD ? job->attempt - 1 : job->attempt;
}

static bool put_work(json_t *object, const struct job *job) {
    return json_put(object, "id", json_integer(job->id)) &&
           json_put_text(object, "type", job_type_name(job->type)) &&
           json_put_text(object, "handler", job->handler) &&
           json_put(object, "payload", payload_to_json(job)) &&
           json_put(object, "priority", json_integer(job->priority)) &&
           json_put_time(object, "due", job->due) && json_put_text(object, "repeat", job->repeat) &&
           json_put(object, "retries", json_integer(job->retries)) &&
           json_put(object, "attempt", json_integer(attempt_shown(job))) &&
           json_put(object, "crashes", json_integer(job->crashes)) &&
           json_put(object, "conflicts", json_integer(job->conflicts));
}

static bool put_lock(json_t *object, const struct job *job) {
    return json_put_text(object, "lock_owner", job->lock_owner) &&
           json_put_time(object, "lock_expiration", job->lock_expiration) &&
           json_put(object, "token", number_or_none(job->token)) &&
           json_put(object, "exclusive", json_boolean(job->exclusive)) &&
           json_put_text(object, "lane", job->lane);
}

static bool put_origin(json_t *object, const struct job *job) {
    return json_put_text(object, "instance", job->instance) &&
           json_put_text(object, "root", job->root) &&
           json_put_text(object, "activity", job->activity) &&
           json_put(object, "definition", number_or_none(job->definition)) &&
           json_put(object, "deployment", number_or_none(job->deployment)) &&
           json_put_text(object, "category", job->category) &&
           json_put_text(object, "tenant", job->tenant) &&
           json_put_text(object, "unique", job->unique_key) &&
           json_put(object, "batch", number_or_none(job->batch));
}

static bool put_state(json_t *object, const struct job *job) {
    return json_put(object, "suspended", json_boolean(job->suspended)) &&
           json_put(object, "suspended_by", suspension_to_json(job->suspended)) &&
           json_put_text(object, "state", job_state_name(job->state)) &&
           json_put_time(object, "created", job->created) &&
           json_put_text(object, "message", job->message) &&
           json_put_text(object, "failed_activity", job->failed_activity) &&
           json_put(object, "rev", json_integer(job->rev));
}

json_t *job_to_json(const struct job *job) {
    json_t *object = json_object();
    if (object && put_work(object, job) && put_lock(object, job) && put_origin(object, job) &&
        put_state(object, job))
        return object;
    json_decref(object);
    return NULL;
}
