#include "job/job.h"
#include "base/json.h"
#include "base/json_copy.h"
#include "base/text.h"
#include "time/span.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY(member, type, key, ...) {key, offsetof(struct job, member), FIELD_##type},
const struct job_field job_fields[JOB_FIELD_COUNT] = {JOB_FIELDS(ENTRY)};

#define OFFSET(member, type, ...) JOB_TEXTS_##type(offsetof(struct job, member), )
static const size_t text_fields[] = {JOB_FIELDS(OFFSET)};

void *job_copy_of(const void *from, size_t size, const size_t *texts, size_t count) {
    const struct job *job = from;
    size_t total = size + (job->payload ? job->payload_size + 1 : 0);
    for (size_t i = 0; i < count; i++) {
        const char *text = *(const char *const *)(const void *)((const char *)from + texts[i]);
        total += text ? strlen(text) + 1 : 0;
    }
    struct job *copy = malloc(total);
    if (!copy)
        return NULL;
    memcpy(copy, from, size);
    copy->next = NULL;
    char *room = (char *)copy + size;
    for (size_t i = 0; i < count; i++) {
        const char **text = (const char **)(void *)((char *)copy + texts[i]);
        if (!*text)
            continue;
        char *end = stpcpy(room, *text);
        *text = room;
        room = end + 1;
    }
    if (job->payload) {
        copy->payload = memcpy(room, job->payload, job->payload_size);
        room[job->payload_size] = 0;
    }
    return copy;
}

struct job *job_copy(const struct job *job) {
    return job_copy_of(job, sizeof *job, text_fields, sizeof text_fields / sizeof *text_fields);
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

/* FNV-1a, but for one bit. */
int64_t job_lane_id(const char *lane) {
    int64_t id = text_hash(lane) & ~JOB_LANE_OF_INSTANCE;
    return id ? id : 1;
}

#define OF_PRODUCT "moonshift/"
#define OF_PROCESS "process/"
#define OF_TOPIC "topic/"

const char *job_topic(const char *handler) {
    return strncmp(handler, OF_TOPIC, strlen(OF_TOPIC)) == 0 ? handler + strlen(OF_TOPIC) : NULL;
}

const char *job_reserved(const char *handler) {
    static const char *const prefixes[] = {OF_PRODUCT, OF_PROCESS};
    if (!strchr(handler, '/'))
        return NULL;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(handler, prefixes[i], strlen(prefixes[i])) == 0)
            return prefixes[i];
    return NULL;
}

bool job_is_told(const char *handler) {
    return strncmp(handler, OF_PRODUCT, strlen(OF_PRODUCT)) != 0;
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

static json_t *text_to_json(const char *text) {
    return text ? json_string(text) : json_null();
}

static json_t *time_to_json(time_ms time) {
    char text[TIME_TEXT_SIZE];
    if (time == TIME_NONE)
        return json_null();
    time_format(time, text);
    return json_string(text);
}

static json_t *field_to_json(const struct job *job, const struct job_field *field) {
    int64_t number = job_field_number(job, field);
    switch (field->type) {
    case FIELD_TEXT:
        return text_to_json(job_field_text(job, field));
    case FIELD_NUMBER:
    case FIELD_COUNT:
        return json_integer(number);
    case FIELD_ID:
        return number ? json_integer(number) : json_null();
    case FIELD_TIME:
        return time_to_json(number);
    case FIELD_FLAG:
    case FIELD_MASK:
        return json_boolean(number);
    case FIELD_KIND:
        return json_string(job_type_name(job->type));
    case FIELD_STATE:
        return json_string(job_state_name(job->state));
    case FIELD_BLOB:
        return payload_to_json(job);
    }
    return NULL;
}

static bool put_field(json_t *object, const struct job *job, const struct job_field *field) {
    if (!field->key)
        return true;
    if (json_object_set_new(object, field->key, field_to_json(job, field)) != 0)
        return false;
    return field != &job_fields[JOB_FIELD_suspended] ||
           json_put(object, "suspended_by", suspension_to_json(job->suspended));
}

enum { LANE_SIZE = 24 };

/* As it is shown: with the lane of its instance. */
static struct job shown_of(const struct job *job, char lane[LANE_SIZE]) {
    struct job shown = *job;
    shown.attempt = attempt_shown(job);
    if (job->lane_id & JOB_LANE_OF_INSTANCE && job->instance_id) {
        snprintf(lane, LANE_SIZE, "%lld", (long long)(job->lane_id & ~JOB_LANE_OF_INSTANCE));
        shown.lane = lane;
    }
    return shown;
}

json_t *job_to_json(const struct job *job) {
    json_t *object = json_object();
    char lane[LANE_SIZE];
    const struct job shown = shown_of(job, lane);
    for (int i = 0; object && i < JOB_FIELD_COUNT; i++)
        if (!put_field(object, &shown, &job_fields[i])) {
            json_decref(object);
            object = NULL;
        }
    return object;
}

/* ---- the same as text ---- */

static void write_word(struct text *out, const char *word) {
    text_push(out, word, strlen(word));
}

static void write_text(struct text *out, const char *text) {
    if (text)
        json_add_text(out, text, strlen(text));
    else
        write_word(out, "null");
}

static void write_id(struct text *out, int64_t id) {
    if (id)
        json_add_integer(out, id);
    else
        write_word(out, "null");
}

static void write_key(struct text *out, const char **comma, const char *key) {
    text_push(out, *comma, strlen(*comma));
    *comma = ",";
    json_add_text(out, key, strlen(key));
    text_push(out, ":", 1);
}

static void write_time(struct text *out, time_ms time) {
    char text[TIME_TEXT_SIZE];
    time_format(time, text);
    write_text(out, text[0] ? text : NULL);
}

static void write_value(struct text *out, json_t *value) {
    if (value)
        json_add_value(out, value);
    else
        out->failed = true;
    json_decref(value);
}

/* In one pass, if it is as it was created. */
static bool copy_payload(struct text *out, const struct job *job) {
    struct json_copier copier = {.scan = {job->payload, job->payload + job->payload_size},
                                 .out = text_make_room(out, JSON_GROWTH * job->payload_size + 1)};
    bool whole = copier.out && json_copy_value(&copier, 1) && json_scan_done(&copier.scan);
    json_copier_clear(&copier);
    if (copier.out && whole)
        out->size = (size_t)(copier.out - out->data);
    if (copier.out)
        out->data[out->size] = '\0';
    return whole;
}

static void write_payload(struct text *out, const struct job *job) {
    if (!job->payload || !copy_payload(out, job))
        write_value(out, payload_to_json(job));
}

static void write_field(struct text *out, const struct job *job, const struct job_field *field) {
    const int64_t number = job_field_number(job, field);
    switch (field->type) {
    case FIELD_TEXT:
        write_text(out, job_field_text(job, field));
        break;
    case FIELD_NUMBER:
    case FIELD_COUNT:
        json_add_integer(out, number);
        break;
    case FIELD_ID:
        write_id(out, number);
        break;
    case FIELD_TIME:
        write_time(out, number);
        break;
    case FIELD_FLAG:
    case FIELD_MASK:
        write_word(out, number ? "true" : "false");
        break;
    case FIELD_KIND:
        write_text(out, job_type_name(job->type));
        break;
    case FIELD_STATE:
        write_text(out, job_state_name(job->state));
        break;
    case FIELD_BLOB:
        write_payload(out, job);
        break;
    }
}

void job_write(const struct job *job, struct text *out) {
    char lane[LANE_SIZE];
    const struct job shown = shown_of(job, lane);
    const char *comma = "";
    for (int i = 0; i < JOB_FIELD_COUNT; i++) {
        if (!job_fields[i].key)
            continue;
        write_key(out, &comma, job_fields[i].key);
        write_field(out, &shown, &job_fields[i]);
        if (i == JOB_FIELD_suspended) {
            write_key(out, &comma, "suspended_by");
            write_value(out, suspension_to_json(job->suspended));
        }
    }
}

void job_trace(const struct job *job, char trace[TRACE_SIZE]) {
    if (job->id)
        trace_child(job->trace, job->id, job->attempt, trace);
    else
        snprintf(trace, TRACE_SIZE, "%s", job->trace);
}
